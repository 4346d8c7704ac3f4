#include "exact/keys.h"

#include "exact/slices.h"

namespace deadheat {

namespace {

constexpr int SPARSE = 4;  // rows with at most one number in so many are looked at by their masks first
constexpr int FEW = 16;    // a product with at most one common number in so many is added up number by number

template <int L>
bool negative(const Whole<L> &a) {
    return a.limbs[L - 1] >> 63 != 0;
}

template <int L>
bool is_zero(const Whole<L> &a) {
    Limb any = 0;
    for (Limb limb : a.limbs) any |= limb;
    return any == 0;
}

template <int L>
bool same(const Whole<L> &a, const Whole<L> &b) {
    Limb any = 0;
    for (int k = 0; k < L; ++k) any |= a.limbs[k] ^ b.limbs[k];
    return any == 0;
}

template <int L>
Whole<L> minus(const Whole<L> &a, const Whole<L> &b) {
    Whole<L> out;
    Limb borrow = 0;
    for (int k = 0; k < L; ++k) {
        const TwoLimbs rest = TwoLimbs{a.limbs[k]} - b.limbs[k] - borrow;
        out.limbs[k] = static_cast<Limb>(rest);
        borrow = static_cast<Limb>(rest >> 64) & 1;
    }
    return out;
}

template <int L>
Whole<L> size_of(const Whole<L> &a) {
    return negative(a) ? minus(Whole<L>{}, a) : a;
}

/// Σ places[k]·2^(bits·k + shift), which has room.
template <int L>
Whole<L> combined(const std::int64_t *places, int n_place, int bits, int shift) {
    Whole<L> sum{};
    for (int k = 0; k < n_place; ++k) {
        const int limb = (bits * k + shift) >> 6;
        const auto part = static_cast<SignedTwoLimbs>(places[k]) * (SignedTwoLimbs{1} << ((bits * k + shift) & 63));
        const Limb words[2] = {static_cast<Limb>(part), static_cast<Limb>(part >> 64)};
        const Limb beyond = part < 0 ? ~Limb{0} : 0;
        Limb carry = 0;
        for (int to = limb; to < L; ++to) {
            const TwoLimbs total = TwoLimbs{sum.limbs[to]} + (to < limb + 2 ? words[to - limb] : beyond) + carry;
            sum.limbs[to] = static_cast<Limb>(total);
            carry = static_cast<Limb>(total >> 64);
        }
    }
    return sum;
}

template <>
Whole<2> combined<2>(const std::int64_t *places, int n_place, int bits, int shift) {
    TwoLimbs sum = 0;
    for (int k = 0; k < n_place && bits * k + shift < 128; ++k)
        sum += static_cast<TwoLimbs>(static_cast<SignedTwoLimbs>(places[k])) << (bits * k + shift);
    return {{static_cast<Limb>(sum), static_cast<Limb>(sum >> 64)}};
}

/// About the number, which is not negative, with a relative error below 2^-52; all of float64's range has room for it.
template <int L>
double rounded(const Whole<L> &a) {
    for (int k = L - 1; k > 0; --k) {
        if (a.limbs[k] == 0) continue;
        const int shift = std::countl_zero(a.limbs[k]);
        const Limb window = shift == 0 ? a.limbs[k] : a.limbs[k] << shift | a.limbs[k - 1] >> (64 - shift);
        return static_cast<double>(window) * std::bit_cast<double>(static_cast<Limb>(1023 + 64 * k - shift) << 52);
    }
    return static_cast<double>(a.limbs[0]);
}

/// How many limbs a natural number needs.
template <int L>
int used(const Whole<L> &a) {
    int n = L;
    while (n > 0 && a.limbs[n - 1] == 0) --n;
    return n;
}

template <int A, int B>
Whole<A + B> times(const Whole<A> &a, const Whole<B> &b) {
    Whole<A + B> out{};
    const int of_a = used(a), of_b = used(b);  // the room is for the longest, and most are half as long
    for (int i = 0; i < of_a; ++i) {
        Limb carry = 0;
        for (int k = 0; k < of_b; ++k) {
            const TwoLimbs sum = TwoLimbs{a.limbs[i]} * b.limbs[k] + out.limbs[i + k] + carry;
            out.limbs[i + k] = static_cast<Limb>(sum);
            carry = static_cast<Limb>(sum >> 64);
        }
        out.limbs[i + of_b] = carry;
    }
    return out;
}

/// −1, 0 or 1 for natural numbers.
template <int L>
int compare_sizes(const Whole<L> &a, const Whole<L> &b) {
    for (int k = L - 1; k >= 0; --k)
        if (a.limbs[k] != b.limbs[k]) return a.limbs[k] < b.limbs[k] ? -1 : 1;
    return 0;
}

template <int L>
int compare_wholes(const Whole<L> &a, const Whole<L> &b) {
    const bool left = negative(a), right = negative(b);
    return left != right ? static_cast<int>(right) - static_cast<int>(left) : compare_sizes(a, b);
}

/// a.number/√a.square against the same of b: by their estimates, or else by their squares times both squares.
template <int L>
int compare_ratios(const Key<L> &a, const Key<L> &b) {
    const double apart = a.estimate - b.estimate, slack = 0x1p-48 * std::fabs(a.estimate);
    if (apart > slack || apart < -slack) return apart > 0 ? 1 : -1;
    if (a.estimate == 0 && b.estimate == 0) return 0;
    if (same(a.number, b.number) && same(a.square, b.square)) return 0;
    const Whole<L> left = size_of(a.number), right = size_of(b.number);
    const int order = compare_sizes(times(times(left, left), b.square), times(times(right, right), a.square));
    return a.estimate > 0 ? order : -order;  // both have one sign, or are 0
}

/// A natural number in units of 2^unit.
template <int L>
Whole<L> in_units(Natural number, int unit) {
    Whole<L> out;
    for (int k = 0; k < L; ++k) out.limbs[k] = number.length == 0 ? 0 : number.window(unit + 64 * k);
    return out;
}

template <class T>
std::shared_ptr<ExactRows> ready(KeyKind kind, Matrix<const T> rows, BitRange bits, bool squares) {
    if (kind == KeyKind::difference) return std::make_shared<ExactRows>(rows, bits);
    auto made = std::make_shared<ExactRows>(rows, squares);
    made->forget_raw();
    return made;
}

template <class T>
bool are_sparse(Matrix<const T> rows) {
    Index n = 0;
    for (Index i = 0; i < rows.rows; ++i)
        for (T value : rows[i]) n += value != 0;
    return SPARSE * n <= rows.rows * rows.columns;
}

}  // namespace

// Rows ---------------------------------------------------------------------------------------------------------------

template <class T>
KeyRows::KeyRows(KeyKind kind, int limbs, Matrix<const T> left, Matrix<const T> right, BitRange bits)
    : kind_(kind),
      limbs_(limbs),
      unit_(kind == KeyKind::cosine || kind == KeyKind::difference ? 0 : 2 * bits.low),
      right_(ready(kind, right, bits, kind == KeyKind::cosine || kind == KeyKind::distance)),
      left_(same_memory(left, right) ? right_ : ready(kind, left, bits, false)) {
    sparse_ = kind != KeyKind::difference && are_sparse(left) && are_sparse(right);
    if (sparse_) {
        right_few_ = std::make_shared<const SparseRows>(right, *right_, limbs);
        left_few_ = left_ == right_ ? right_few_ : std::make_shared<const SparseRows>(left, *left_, limbs);
    }
    for (Index i = 0; i < right_->squares().size(); ++i) {
        const int unit = kind == KeyKind::cosine ? 2 * right_->exponent(i) : unit_;
        const auto square = in_units<MOST_KEY_LIMBS>(right_->squares()[i], unit);
        squares_.insert(squares_.end(), square.limbs, square.limbs + limbs);
        shortened_.push_back(is_zero(square) ? 0.0 : 1 / std::sqrt(rounded(square)));
    }
}

template KeyRows::KeyRows(KeyKind, int, Matrix<const double>, Matrix<const double>, BitRange);
template KeyRows::KeyRows(KeyKind, int, Matrix<const float>, Matrix<const float>, BitRange);

template <class T>
KeyRows::SparseRows::SparseRows(Matrix<const T> rows, const ExactRows &exact, int limbs)
    : words((rows.columns + 63) / 64), masks(static_cast<std::size_t>(rows.rows * words), 0) {
    for (Index i = 0; i < rows.rows; ++i)
        for (Index k = 0; k < rows.columns; ++k)
            masks[static_cast<std::size_t>(i * words + (k >> 6))] |= static_cast<Limb>(rows(i, k) != 0) << (k & 63);
    if (limbs == 2) integers = exact.integers();
}

/// The sum of the products of integers where both rows have some.
TwoLimbs KeyRows::sum_of_common(Index row, Index other) const {
    const Index words = left_few_->words, dim = left_->dim();
    const Limb *left = left_few_->masks.data() + row * words, *right = right_few_->masks.data() + other * words;
    const std::int64_t *a = left_few_->integers.data() + row * dim, *b = right_few_->integers.data() + other * dim;
    TwoLimbs sum = 0;
    for (Index word = 0; word < words; ++word, a += 64, b += 64)
        for (Limb common = left[word] & right[word]; common != 0; common &= common - 1) {
            const int k = std::countr_zero(common);
            sum += static_cast<TwoLimbs>(SignedTwoLimbs{a[k]} * b[k]);
        }
    return sum;
}

int KeyRows::places_of_common(Index row, Index other, std::int64_t *places) const {
    const Index words = left_few_->words;
    const Limb *left = left_few_->masks.data() + row * words, *right = right_few_->masks.data() + other * words;
    Index n_common = 0;
    for (Index word = 0; word < words; ++word) n_common += std::popcount(left[word] & right[word]);
    if (n_common == 0) return 0;
    if (FEW * n_common > 64 * words) return left_->places_of_dot(row, *right_, other, places);
    const int n_place = left_->start_dot(row, *right_, other, places);
    for (Index word = 0; word < words; ++word)
        for (Limb common = left[word] & right[word]; common != 0; common &= common - 1)
            left_->add_product(row, *right_, other, 64 * word + std::countr_zero(common), places);
    return n_place;
}

int KeyRows::places_of(Index row, Index other, std::int64_t *places) const {
    if (kind_ == KeyKind::difference) return left_->places_of_difference(row, *right_, other, places);
    return sparse_ ? places_of_common(row, other, places) : left_->places_of_dot(row, *right_, other, places);
}

/// The sum of products or of differences, in the unit of all keys of the row.
template <int L>
Whole<L> KeyRows::number(Index row, Index other) const {
    const bool one_unit = kind_ == KeyKind::product || kind_ == KeyKind::distance;
    const auto shift = [&] { return one_unit ? left_->exponent(row) + right_->exponent(other) - unit_ : 0; };
    if constexpr (L == 2) {
        if (sparse_) {
            const TwoLimbs sum = sum_of_common(row, other);
            const TwoLimbs in_unit = sum == 0 ? 0 : sum << shift();
            return {{static_cast<Limb>(in_unit), static_cast<Limb>(in_unit >> 64)}};
        }
    }
    std::int64_t places[MOST_PLACES];
    const int n_place = places_of(row, other, places);
    return n_place == 0 ? Whole<L>{} : combined<L>(places, n_place, left_->bits(), shift());
}

template <int L>
void KeyRows::key(Index row, Index other, Key<L> &out) const {
    out.number = number<L>(row, other);
    if (kind_ == KeyKind::cosine && is_zero(out.number)) {
        out = {};
        return;
    }
    out.estimate = 0.0;
    if (kind_ == KeyKind::product) return;
    if (kind_ == KeyKind::difference) {
        out.number = minus(Whole<L>{}, out.number);
        return;
    }
    std::copy_n(squares_.data() + other * L, L, out.square.limbs);
    if (kind_ == KeyKind::distance) {
        const Whole<L> once = out.number;
        out.number = minus(once, minus(out.square, once));
        return;
    }
    const bool below = negative(out.number);
    const double size = rounded(size_of(out.number)) * shortened_[static_cast<std::size_t>(other)];
    out.estimate = below ? -size : size;
}

// Thresholds ---------------------------------------------------------------------------------------------------------

template <int L>
void KeyThresholds::add_keys(std::vector<Key<L>> &keys, const KeyRows &pairs, Span<const std::int64_t> left,
                             Span<const std::int64_t> right) const {
    for (std::size_t p = 0; p < left.size(); ++p) pairs.key(left[p], right[p], keys.emplace_back());
}

void KeyThresholds::add(const KeyRows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
                        Span<const std::int64_t> rows, Span<const std::int64_t> groups) {
    places_.add(rows, groups, short_.size() + long_.size() + longest_.size());
    switch (limbs_) {
        case 2:
            return add_keys(short_, pairs, left, right);
        case 4:
            return add_keys(long_, pairs, left, right);
        default:
            return add_keys(longest_, pairs, left, right);
    }
}

template <int L>
Index KeyThresholds::slot(const std::vector<Key<L>> &keys, const Key<L> &key, Index row, Index low, Index high) const {
    while (low < high) {
        const Index middle = (low + high) / 2;
        const Key<L> &threshold = keys[places_(row, middle)];
        const int order =
            kind_ == KeyKind::cosine ? compare_ratios(key, threshold) : compare_wholes(key.number, threshold.number);
        if (order == 0) return 2 * middle + 1;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 2 * low;
}

void KeyThresholds::count(const KeyRows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
                          Span<const std::int64_t> rows, Span<const std::int64_t> low, Span<const std::int64_t> high,
                          Span<const std::int32_t> weights, Matrix<std::int32_t> counts) const {
    const auto count_by = [&]<int L>(const std::vector<Key<L>> &keys) {
        Key<L> key;
        for (std::size_t p = 0; p < rows.size(); ++p) {
            pairs.key(left[p], right[p], key);
            counts(rows[p], slot(keys, key, rows[p], low[p], high[p])) += weights[p];
        }
    };
    switch (limbs_) {
        case 2:
            return count_by(short_);
        case 4:
            return count_by(long_);
        default:
            return count_by(longest_);
    }
}

}  // namespace deadheat
