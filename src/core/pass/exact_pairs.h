// The exact closeness of pairs of rows, wherever these are, in three representations: the less of them a comparison needs,
// the cheaper it is.
//
//     short integers   where all rows are such: exact, and at once for a whole tile (integer_rows.h)
//     double-double    with an error: nearly all that is no real tie (exact/dot2.h)
//     numbers of any length                                          (exact/roots.h)
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "exact/dot2.h"
#include "exact/roots.h"
#include "pass/integer_rows.h"
#include "pass/source.h"

namespace deadheat {

/// Set where a pass has been given up, and thrown there; no caller sees the exception.
using StopFlag = std::atomic<bool>;
struct Stopped {};

class ExactPairs {
public:
    /// `same` says that both views are the same rows.
    ExactPairs(KeyKind kind, Source query, Source item, bool same) : kind_(kind), query_(query), item_(item), same_(same) {}

    KeyKind kind() const { return kind_; }
    /// All rows as short integers, if they are such, and few enough to be kept; else null.
    const IntegerRows *integers() const;
    /// The closeness in double-double, pair by pair.
    std::vector<Dot2Number> about(Int64s queries, Int64s items, const StopFlag &stop) const;
    /// Return whether it is worth its time: not where it has decided little. What it has is to be noted.
    bool tries_about() const;
    void note_about(std::size_t tried, std::size_t decided) const;
    /// The exact closeness, pair by pair.
    Roots closeness(Int64s queries, Int64s items, const StopFlag &stop) const;

private:
    template <class Work>
    void each_part(Int64s queries, Int64s items, const StopFlag &stop, Work work) const;
    void make_dot2() const;
    void make_squares(Roots &roots) const;

    KeyKind kind_;
    Source query_, item_;
    bool same_;
    mutable std::once_flag asked_, made_, squared_;
    mutable std::unique_ptr<IntegerRows> integers_;
    mutable std::optional<Dot2> dot2_;
    mutable std::vector<Dot2Number> of_item_;
    mutable std::shared_ptr<RowSquares> query_squares_, item_squares_;
    mutable std::atomic<std::size_t> n_tried_{0}, n_decided_{0};
};

}  // namespace deadheat
