// The exact closeness of pairs of rows, wherever these are: rows made ready for exact arithmetic, a square of pairs at a
// time.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "exact/dot2.h"
#include "exact/roots.h"
#include "pass/integer_rows.h"
#include "pass/source.h"

namespace deadheat {

/// Thrown where a pass has been given up; nobody outside ever sees it.
struct Stopped {};

/// The pairs of some work: their rows among those that are ready, and their numbers among all that were asked for.
template <class Rows>
struct ReadyPairs {
    const Rows &rows;
    Span<const std::int64_t> left, right, which;
};

template <class Rows>
using WorkOnPairs = std::function<void(const ReadyPairs<Rows> &)>;

class ExactPairs {
public:
    /// `same` says that both sides are the same rows.
    ExactPairs(KeyKind kind, Source query, Source item, bool same) : kind_(kind), query_(query), item_(item), same_(same) {}

    KeyKind kind() const { return kind_; }
    /// Return whether to try closeness in double-double before integers: not of differences, which have none, nor where
    /// rows hold few numbers, whose integers take as little time.
    bool tries_dot2() const;
    /// All rows as short integers, if they are such, and few enough to be kept; else null.
    const IntegerRows *integers() const;
    /// Do some work on all pairs, with rows made ready for integers (RootRows) or double-double (Dot2Rows): so many at a
    /// time that rows take little memory, and that `stop` is heeded soon.
    template <class Rows>
    void each(Span<const std::int64_t> queries, Span<const std::int64_t> items, const std::atomic<bool> &stop,
              const WorkOnPairs<Rows> &work) const;
    /// The exact closeness, pair by pair.
    Roots closeness(Span<const std::int64_t> queries, Span<const std::int64_t> items, const std::atomic<bool> &stop) const;

private:
    template <class Rows>
    struct Kept {
        std::once_flag once;
        std::optional<Rows> rows;  // all of them, if they are few
    };

    template <class Rows, class T>
    Rows make(Matrix<const T> left, Matrix<const T> right) const;
    template <class Rows, class T>
    void square(Span<const std::int64_t> queries, Span<const std::int64_t> items, Span<const std::int64_t> which,
                const std::atomic<bool> &stop, const WorkOnPairs<Rows> &work) const;
    template <class Rows>
    const Rows *kept() const;
    void look_at_numbers() const;

    KeyKind kind_;
    Source query_, item_;
    bool same_;
    mutable std::once_flag asked_;
    mutable std::unique_ptr<IntegerRows> integers_;
    mutable std::once_flag looked_;
    mutable int exponent_ = 0;     // of the largest number
    mutable bool sparse_ = false;  // few numbers of a sample of rows are not 0
    mutable std::tuple<Kept<RootRows>, Kept<Dot2Rows>> kept_;
};

}  // namespace deadheat
