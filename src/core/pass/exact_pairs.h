// The exact closeness of pairs of rows, wherever these are: rows made ready for exact arithmetic, a square of pairs at a
// time.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "exact/roots.h"
#include "pass/integer_rows.h"
#include "pass/source.h"

namespace deadheat {

/// Thrown where a pass has been given up; nobody outside ever sees it.
struct Stopped {};

/// Which pairs some work is for: their rows among those that are ready, and their numbers among all that were asked for.
struct ReadyPairs {
    const RootRows &rows;
    Span<const std::int64_t> left, right, which;
};

using WorkOnPairs = std::function<void(const ReadyPairs &)>;

class ExactPairs {
public:
    /// `same` says that both sides are the same rows.
    ExactPairs(KeyKind kind, Source query, Source item, bool same) : kind_(kind), query_(query), item_(item), same_(same) {}

    KeyKind kind() const { return kind_; }
    /// All rows as short integers, if they are such, and few enough to be kept; else null.
    const IntegerRows *integers() const;
    /// Do some work on all pairs, with rows made ready: so many at a time that rows take little memory, and that `stop` is
    /// heeded soon.
    void each(Span<const std::int64_t> queries, Span<const std::int64_t> items, const std::atomic<bool> &stop,
              const WorkOnPairs &work) const;
    /// The exact closeness, pair by pair.
    Roots closeness(Span<const std::int64_t> queries, Span<const std::int64_t> items, const std::atomic<bool> &stop) const;

private:
    template <class T>
    void square(Span<const std::int64_t> queries, Span<const std::int64_t> items, Span<const std::int64_t> which,
                const std::atomic<bool> &stop, const WorkOnPairs &work) const;
    const RootRows *kept() const;
    bool sparse() const;

    KeyKind kind_;
    Source query_, item_;
    bool same_;
    mutable std::once_flag asked_;
    mutable std::unique_ptr<IntegerRows> integers_;
    mutable std::once_flag kept_once_;
    mutable std::optional<RootRows> kept_;  // all rows, if they are few
};

}  // namespace deadheat
