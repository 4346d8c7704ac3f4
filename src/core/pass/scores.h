// Fast scores of a distance, and proven bounds on their errors: for tiles, and for single pairs.
//
// A score is any increasing function of the closeness that is quick to compute: a product of rows less an offset of the
// item, an overlap less one, a negated sum of differences, a count of bits, or their share. The bounds are derived in
// distances/bounds.py, which says what they are made of; here they are put together.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "counting/edges.h"
#include "distances/int8.h"
#include "pass/sparse.h"

namespace deadheat {

constexpr double UNBOUNDED = std::numeric_limits<double>::infinity();

/// Bounds on the error of any score s = p − o of a level: the product p of two rows less an offset o of the item.
///
///     min(part·query·item + tiny, relative·|s + o| + relative_tiny) + offset_error
///
/// Here `query` and `item` are sizes of the rows, 0 for rows whose product is 0 without a rounding, and `relative` is the
/// relative error of a product whose terms have one sign, infinite if they may have either. Derived in distances/bounds.py.
struct ScoreErrors {
    Span<const double> of_query, of_item;     // sizes of rows
    Span<const double> offset_error, offset;  // of each item; none is taken off if there are no offsets
    double part = 0, tiny = 0;
    double relative = UNBOUNDED, relative_tiny = UNBOUNDED;
    bool additive = false;            // part·(query + item), in place of part·query·item
    Span<const double> half_error{};  // of offsets ‖x‖²/2, where `by_squares` of bounds.py holds,
    double roundoff = 0;              // and there the unit roundoff of the type of the scores
};

enum class Form { product, overlap, difference, bits, share };

/// One way to compute scores, of which a distance has one or two, the fastest first.
struct ScoreLevel {
    bool wide = false;       // scores in float64
    bool wide_rows = false;  // made from rows in float64
    bool exact = false;      // scores compare as the real numbers do
    Index chunk = 1;         // dimensions whose products are added up before their sum is added to the others
    ScoreErrors errors{};
};

/// Error bounds of a level for all columns of a band and a query of size q, in addition to ScoreErrors:
///
///     absolute = part·q·size + tiny, or part·(q + size) + tiny; and `offset_error`
///     relative·|score| + relative_tiny
///     square_relative·|score| + square_factor·q² + square_tiny
struct BandErrors {
    double size = 0, offset_error = 0, relative = UNBOUNDED, relative_tiny = 0;
    double square_relative = UNBOUNDED, square_factor = 0, square_tiny = 0;
};

/// Neighbouring columns of similar size, with one bound for all of each level.
struct Band {
    Index start = 0, stop = 0;
    std::vector<BandErrors> of_level{};
};

/// Rows of one type, packed for products, or as they are for the other forms.
template <class T>
struct ReadyOf {
    std::unique_ptr<Panels<T>> panels;
    std::unique_ptr<Postings<T>> postings;  // of sparse rows
    Buffer<T> memory;
};

/// Rows of a level made ready to be multiplied; long ones are only named, and made by slices of their dimensions where they
/// are multiplied. So are sparse ones, next to their postings.
struct Ready {
    const ScaledSource *long_rows = nullptr;
    std::vector<std::int64_t> numbers;  // of long rows
    std::tuple<ReadyOf<float>, ReadyOf<double>, ReadyOf<std::uint64_t>> of_types;
    std::unique_ptr<Int8Rows> int8;  // where they were asked for, of the first level
    Index n = 0, dim = 0;

    template <class T>
    Matrix<const T> rows(Index first, Index count) const {
        return {std::get<ReadyOf<T>>(of_types).memory.data() + first * dim, count, dim, dim};
    }
};

/// Rows that were made ready, from one on.
struct ReadyPart {
    const Ready &rows;
    Index begin;
};

class Scores {
public:
    static constexpr Index SLICE = 4096;  // dimensions of long rows that are multiplied at a time
    Form form = Form::product;
    std::vector<ScoreLevel> levels;
    std::vector<Band> bands;
    ScaledSource query, item;    // as they are multiplied
    Span<const double> offset;   // of each item, taken off its products; or none
    Span<const double> squares;  // of each item: a score is a·|a| / square for the product a; or none
    Int64s item_of_column;
    bool bound_by_terms = false;  // whether a product is mostly one of its terms, so that Σ|q_k x_k| bounds its error better

    bool of_words() const { return form == Form::bits || form == Form::share; }
    Index dim() const { return of_words() ? query.words.columns : query.source.dim; }
    int last() const { return static_cast<int>(levels.size()) - 1; }
    std::size_t n_column() const { return item_of_column.size(); }

    // Tiles ----------------------------------------------------------------------------------------------------------

    /// Queries, or columns, made ready for a level.
    Ready ready_queries(int level, Int64s queries, bool int8 = false) const;
    Ready ready_columns(int level, Int64s items, bool int8 = false) const;
    /// Return whether rows are so long that memory for many of them would be much.
    bool long_rows() const { return !of_words() && (dim() > SLICE || sparse()); }
    /// Return whether products are of sparse rows, which are never made dense.
    bool sparse() const { return form == Form::product && query.source.sparse() && item.source.sparse(); }
    /// Return whether rows with disjoint support have a score of 0, which tiles may leave out (`Block::count_disjoint`).
    bool zero_if_disjoint() const { return sparse() && offset.empty() && !levels.back().exact; }
    /// Return the bytes of a row that is made ready for a level, or of a slice of it.
    Index bytes_of_row(int level) const;
    /// Compute products, or other sums, of a level from these rows and columns on, multiples of 48; with `mark`, sparse rows
    /// with disjoint support have minus infinity in place of 0.
    template <class T>
    void products(int level, ReadyPart left, ReadyPart right, Matrix<T> out, bool mark = false) const;
    /// Scores of any queries from the products with these items, in their place.
    template <class T>
    void finish(Int64s items, Matrix<T> products) const;
    /// Scores of a level for queries and columns, all in all.
    template <class T>
    void tile(int level, Int64s queries, Int64s columns, Matrix<T> out) const;

    /// Bound the errors of scores of a level for a query and any column of a band.
    Errors errors(int level, std::int64_t query, const Band &band) const;

    // Pairs ----------------------------------------------------------------------------------------------------------

    /// Scores of the last level, pair by pair, and how far each may be off.
    void pair_scores(Int64s queries, Int64s columns, Span<double> scores) const;
    void pair_bounds(Int64s queries, Int64s columns, Span<const double> scores, Span<double> bounds) const;

private:
    template <class T>
    void sums(Index chunk, Matrix<const T> left, Matrix<const T> right, Matrix<T> out) const;
    template <class T>
    void long_products(Index chunk, const Ready &left, Index row, const Ready &right, Index column, Matrix<T> out) const;
    Ready ready(int level, const ScaledSource &source, Int64s numbers, bool int8) const;
    std::vector<std::int64_t> items_of(Int64s columns) const;
    void pair_sums(Form summed, bool sizes, Int64s queries, Int64s items, Span<double> out) const;
};

}  // namespace deadheat
