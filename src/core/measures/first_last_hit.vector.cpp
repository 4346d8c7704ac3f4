// Expectations of the first or last hit of a tie group: each slot's probability comes from the one before it, by a division
// that takes long, so that a vector holds one group in each lane. A lane whose group is done takes the next one.
#include <bit>

#include "measures/measures.h"
#include "support/gather.h"
#include "support/lanes.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

using Count = std::int64_t;
using Counts = Vector<Count>;
using Doubles = Vector<double>;
using Pairs = DoubleDoubleOf<Doubles>;
using Lanes = Vector<Count>;  // −1 in the lanes that are meant

constexpr int N = LANES<double>;
constexpr double NEGLIGIBLE = 0x1p-60;  // a tail of a sum smaller than this part of it cannot change its last bit

Doubles real(Counts counts) { return __builtin_convertvector(counts, Doubles); }

Bits bits_of(Lanes lanes) { return signs<N>(__builtin_convertvector(lanes, Some<std::int32_t, N>)); }

/// Groups, one a lane, each at a slot of its own.
class Lockstep {
public:
    Lockstep(const SlottedGroups &groups, SlotFunction function, Span<const double> shift, Span<double> out)
        : groups_(groups), function_(function), all_shifts_(shift), out_(out) {}

    void run() {
        for (take_next(EVERY); busy_ != 0;) {
            while (const Bits over = bits_of(slot_ > last_) & busy_) finish(over, with_rest());
            if (busy_ == 0) break;
            const Lanes done = step();
            if (const Bits bits = bits_of(done) & busy_) finish(bits, total_.value());
        }
    }

private:
    static constexpr Bits EVERY = (Bits(1) << N) - 1;

    SlottedGroups groups_;
    SlotFunction function_;
    Span<const double> all_shifts_;
    Span<double> out_;
    std::size_t n_taken_ = 0, group_[N] = {};
    Count k_[N] = {}, size_[N] = {}, m_[N] = {}, slots_[N] = {};  // of the groups in the lanes
    double shift_[N] = {};
    Bits busy_ = 0;  // lanes that have a group
    Counts slot_{}, final_{}, last_{};
    Doubles end_{};  // f beyond the last slot
    Pairs p_, total_;

    /// The rank that distances of the first, or last, relevant item are taken from, if they are.
    Counts base() const { return function_.kind > 0 ? load(k_) + 1 : load(k_) + load(size_); }
    bool from_base() const { return function_.centred && function_.kind != 0; }

    Doubles shifted(Doubles at) const {
        const Doubles distance = absolute<double>(at - load(shift_));
        return function_.squared ? distance * distance : distance;
    }

    Doubles value(Counts slot) const {
        if (function_.kind == 0) return repeat(1.0);
        const Counts rank = function_.kind > 0 ? load(k_) + slot : load(k_) + load(size_) + 1 - slot;
        if (!from_base()) return 1.0 / real(rank);
        const Counts above = rank - base();
        return real(above < 0 ? -above : above) / (real(rank) * real(base()));
    }

    /// Put the next groups into some lanes.
    void take_next(Bits lanes) {
        busy_ &= ~lanes;
        for (Bits left = lanes; left != 0 && n_taken_ < out_.size(); left &= left - 1, ++n_taken_) {
            const int lane = std::countr_zero(left);
            group_[lane] = n_taken_;
            k_[lane] = groups_.closer[n_taken_], size_[lane] = groups_.tied[n_taken_];
            m_[lane] = groups_.tied_relevant[n_taken_], slots_[lane] = groups_.slots[n_taken_];
            shift_[lane] = all_shifts_[n_taken_];
            busy_ |= Bits(1) << lane;
        }
        begin(lanes);
    }

    /// Set some lanes to the first slots of their groups, and leave the others as they are.
    void begin(Bits lanes) {
        const Lanes fresh = __builtin_convertvector(lanes_of<N>(lanes), Lanes);
        const Counts size = load(size_), m = load(m_), slots = load(slots_), final = size - m + 1;
        final_ = final;  // the last slot that the first relevant item can have
        last_ = slots < final ? slots : final;
        slot_ = fresh ? repeat(Count(1)) : slot_;
        const Pairs first = Pairs{real(m)} / Pairs{real(size)};
        p_ = {fresh ? first.high : p_.high, fresh ? first.low : p_.low};
        total_ = {fresh ? Doubles{} : total_.high, fresh ? Doubles{} : total_.low};
        const Doubles beyond = from_base() ? 1.0 / real(base()) : Doubles{};
        end_ = shifted(slots < final ? beyond : value(final));
    }

    /// Add what its slot gives to each sum, and go on to the next slot; returns the lanes whose sums are whole.
    Lanes step() {
        const Doubles some = shifted(value(slot_)), ahead = real(final_ - slot_);
        total_.accumulate(p_.high * some, p_.low * some);
        Lanes done = slot_ == final_;
        // The values go up or down all the way, and all slots that follow are less likely than this one.
        if (!function_.squared) done |= p_.high * (some < end_ ? end_ : some) * ahead <= NEGLIGIBLE * total_.high;
        p_ = p_ * Pairs{ahead} / Pairs{real(load(size_) - slot_)};
        slot_ += 1;
        return done;
    }

    /// The sums, with what the slots beyond the last one add to them.
    Doubles with_rest() const {
        return total_.high + p_.high * real(load(size_) - load(slots_)) / real(load(m_)) * end_ + total_.low;
    }

    /// Write down what some lanes have found, and give them other groups.
    void finish(Bits lanes, Doubles result) {
        double values[N];
        store(result, values);
        for (Bits left = lanes; left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            out_[group_[lane]] = values[lane];
        }
        take_next(lanes);
    }
};

void slot_expectations(const SlottedGroups &groups, SlotFunction function, Span<const double> shift, Span<double> out) {
    Lockstep(groups, function, shift, out).run();
}

}  // namespace

extern const FirstLastHitLoops first_last_hit_loops = {slot_expectations};

}  // namespace deadheat::DEADHEAT_TARGET
