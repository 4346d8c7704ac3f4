// Items that the scores leave open, placed by their exact closeness between the members of tie groups that cuts belong to.
#pragma once

#include "pass/grouping.h"

namespace deadheat {

/// Members of the groups of a block as numbers of one representation, which are made where they are asked for.
template <class Numbers>
struct KnownMembers {
    Numbers numbers;
    Table<std::int32_t> places;          // of the member of each group, by row, among the numbers; −1 where it is not known
    std::vector<std::int64_t> from, to;  // the groups of each row that are known

    KnownMembers(Numbers none, Index n_row, Index n_group)
        : numbers(std::move(none)), places(n_row, n_group, -1), from(at(n_row)), to(at(n_row)) {}
};

class Placing {
public:
    /// `cuts` are those of the groups of some queries, two of each.
    Placing(const Problem &problem, Int64s queries, const CutBounds &cuts, const Members &members)
        : problem_(problem), queries_(queries), cuts_(cuts), members_(members) {}

    /// Count all items, in slot 2g below and 2g + 1 in group g of their row. For one thread at a time.
    void count(const UndecidedItems &open, Matrix<std::int32_t> counts, const StopFlag &stop);
    /// Return whether rows are short integers: then `count_integers` will do, for any thread.
    bool has_integers() const { return problem_.exact->integers() != nullptr; }
    void count_integers(const UndecidedItems &open, Matrix<std::int32_t> counts);

private:
    template <bool exact, class Numbers>
    UndecidedItems place(KnownMembers<Numbers> &known, Span<const UndecidedItem> open, Matrix<std::int32_t> counts,
                         const StopFlag &stop);
    template <class Numbers>
    void know(KnownMembers<Numbers> &known, Span<const UndecidedItem> open, const StopFlag &stop);
    const ShortNumber *integer_members();
    std::int64_t item_of(std::int64_t column) const { return problem_.scores->item_of_column[at(column)]; }

    const Problem &problem_;
    Int64s queries_;
    const CutBounds &cuts_;
    const Members &members_;
    std::once_flag asked_;
    std::vector<ShortNumber> integer_members_;  // of all groups, row by row
    std::optional<KnownMembers<std::vector<Dot2Number>>> about_;
    std::optional<KnownMembers<Roots>> exact_;
};

}  // namespace deadheat
