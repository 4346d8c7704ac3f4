#include "pass/scores.h"

#include <bit>
#include <cmath>

#include "distances/tiles.h"

namespace deadheat {

// Tiles --------------------------------------------------------------------------------------------------------------

std::vector<std::int64_t> Scores::items_of(Int64s columns) const {
    std::vector<std::int64_t> items(columns.size());
    for (std::size_t p = 0; p < columns.size(); ++p) items[p] = item_of_column[at(columns[p])];
    return items;
}

Ready Scores::ready_queries(int level, Int64s queries, bool int8) const { return ready(level, query, queries, int8); }

Ready Scores::ready_columns(int level, Int64s items, bool int8) const { return ready(level, item, items, int8); }

Index Scores::bytes_of_row(int level) const {
    return (long_rows() ? SLICE : dim()) * static_cast<Index>(of_words() || levels[at(level)].wide_rows ? 8 : 4);
}

Ready Scores::ready(int level, const ScaledSource &source, Int64s numbers, bool int8) const {
    Ready made;
    made.n = static_cast<Index>(numbers.size()), made.dim = dim();
    if (of_words()) {
        auto &words = std::get<ReadyOf<std::uint64_t>>(made.of_types).memory;
        words.resize(numbers.size() * at(made.dim));
        for (std::size_t p = 0; p < numbers.size(); ++p)
            std::copy_n(source.words.row(numbers[p]), made.dim, words.data() + p * at(made.dim));
        return made;
    }
    if (long_rows()) {
        made.long_rows = &source, made.numbers.assign(numbers.begin(), numbers.end());
        if (sparse())
            with_type(levels[at(level)].wide_rows, [&]<class T>(T) {
                std::get<ReadyOf<T>>(made.of_types).postings =
                    std::make_unique<Postings<T>>(postings_of<T>(source, numbers));
            });
        return made;
    }
    with_type(levels[at(level)].wide_rows, [&]<class T>(T) {
        auto &[panels, postings, rows] = std::get<ReadyOf<T>>(made.of_types);
        rows.resize(numbers.size() * at(made.dim));
        const Matrix<T> matrix{rows.data(), made.n, made.dim, made.dim};
        source.take(numbers, matrix);
        if (form != Form::product) return;
        if (int8) made.int8 = std::make_unique<Int8Rows>(rounded_rows<T>(matrix));
        panels = std::make_unique<Panels<T>>(packed<T>(matrix));
        rows = {};
    });
    return made;
}

/// Sums of a form over the dimensions of rows.
template <class T>
void Scores::sums(Index chunk, Matrix<const T> left, Matrix<const T> right, Matrix<T> out) const {
    if (form == Form::product) return product(packed(left), packed(right), chunk, out);
    const auto &loops = std::get<SumLoops<T>>(tile_loops().sums);
    (form == Form::overlap ? loops.overlaps : loops.cityblock)(left, right, out);
}

/// The same of rows that are made by slices of dimensions, whole chunks each: the sums of slices are added up, and no more
/// roundings follow each other than in the sum over all (products.h).
template <class T>
void Scores::long_products(Index chunk, const Ready &left, Index row, const Ready &right, Index column,
                           Matrix<T> out) const {
    const Index step = std::max(chunk, SLICE / chunk * chunk);
    with_type(left.long_rows->source.wide, [&](auto left_type) {
        with_type(right.long_rows->source.wide, [&](auto right_type) {
            const auto some = [](const Ready &described, Index first, Index n) {
                return Int64s(described.numbers).subspan(at(first), at(n));
            };
            const TakenScaled<decltype(left_type)> rows(*left.long_rows, some(left, row, out.rows));
            const TakenScaled<decltype(right_type)> others(*right.long_rows, some(right, column, out.columns));
            auto part = Table<T>::unset(out.rows, out.columns);
            for (Index start = 0; start < dim(); start += step) {
                const Index n = std::min(step, dim() - start);
                auto a = Table<T>::unset(out.rows, n), b = Table<T>::unset(out.columns, n);
                rows.take(start, Matrix<T>(a)), others.take(start, Matrix<T>(b));
                sums<T>(chunk, a, b, start == 0 ? out : Matrix<T>(part));
                for (Index i = 0; start > 0 && i < out.rows; ++i)
                    for (Index j = 0; j < out.columns; ++j) out(i, j) += part(i, j);
            }
        });
    });
}

namespace {

std::vector<double> ones_of(Matrix<const std::uint64_t> rows) {
    std::vector<double> ones(at(rows.rows));
    for (Index i = 0; i < rows.rows; ++i) {
        int n = 0;
        for (const std::uint64_t word : rows[i]) n += std::popcount(word);
        ones[at(i)] = n;
    }
    return ones;
}

}  // namespace

template <class T>
void Scores::products(int level, ReadyPart from_left, ReadyPart from_right, Matrix<T> out, bool mark) const {
    const ScoreLevel &described = levels[at(level)];
    const auto &[left, row] = from_left;
    const auto &[right, column] = from_right;
    if constexpr (sizeof(T) == 4) {
        if (of_words())
            return tile_loops().hamming(left.rows<std::uint64_t>(row, out.rows),
                                        right.rows<std::uint64_t>(column, out.columns), out);
    } else if (!described.wide_rows || of_words()) {  // sums that float32 holds exactly, for scores that it does not
        Buffer<float> memory(at(out.rows * out.columns));
        const Matrix<float> narrow{memory.data(), out.rows, out.columns, out.columns};
        products<float>(level, from_left, from_right, narrow, mark);
        if (form == Form::share)
            return tile_loops().shares(narrow, ones_of(left.rows<std::uint64_t>(row, out.rows)),
                                       ones_of(right.rows<std::uint64_t>(column, out.columns)), out);
        for (Index i = 0; i < out.rows; ++i) std::copy_n(narrow.row(i), out.columns, out.row(i));
        return;
    }
    if (sparse()) {
        const auto rows = Int64s(left.numbers).subspan(at(row), at(out.rows));
        return sparse_products<T>(*left.long_rows, rows, *std::get<ReadyOf<T>>(right.of_types).postings, column, mark, out);
    }
    if (left.long_rows != nullptr) return long_products(described.chunk, left, row, right, column, out);
    if (form != Form::product)
        return sums<T>(described.chunk, left.rows<T>(row, out.rows), right.rows<T>(column, out.columns), out);
    const auto panels = [](const Ready &rows) -> const Panels<T> & { return *std::get<ReadyOf<T>>(rows.of_types).panels; };
    multiply(panels(left), row, panels(right), column, described.chunk, out);
}

template <class T>
void Scores::finish(Int64s items, Matrix<T> products) const {
    if (!squares.empty()) {
        if constexpr (sizeof(T) == 8) {
            std::vector<double> of_columns(at(products.columns));
            for (Index j = 0; j < products.columns; ++j) of_columns[at(j)] = squares[at(items[at(j)])];
            tile_loops().signed_squares(products, of_columns, products);
        }
    } else if (!offset.empty()) {
        std::vector<T> of_columns(at(products.columns));
        for (Index j = 0; j < products.columns; ++j) of_columns[at(j)] = static_cast<T>(offset[at(items[at(j)])]);
        for (Index i = 0; i < products.rows; ++i) {
            T *scores = products.row(i);
            for (Index j = 0; j < products.columns; ++j) scores[j] -= of_columns[at(j)];
        }
    }
}

template <class T>
void Scores::tile(int level, Int64s queries, Int64s columns, Matrix<T> out) const {
    const Ready left = ready_queries(level, queries);
    const std::vector<std::int64_t> items = items_of(columns);
    const Ready right = ready_columns(level, items);
    products(level, {left, 0}, {right, 0}, out);
    finish<T>(items, out);
}

template void Scores::products(int, ReadyPart, ReadyPart, Matrix<float>, bool) const;
template void Scores::products(int, ReadyPart, ReadyPart, Matrix<double>, bool) const;
template void Scores::finish(Int64s, Matrix<float>) const;
template void Scores::finish(Int64s, Matrix<double>) const;
template void Scores::tile(int, Int64s, Int64s, Matrix<float>) const;
template void Scores::tile(int, Int64s, Int64s, Matrix<double>) const;

Errors Scores::errors(int level, std::int64_t query_number, const Band &band) const {
    const ScoreLevel &described = levels[at(level)];
    if (described.exact) return {0, UNBOUNDED, 0};
    const BandErrors &of_band = band.of_level[at(level)];
    const double q = described.errors.of_query[at(query_number)];
    double absolute = 0;
    if (described.errors.additive)
        absolute = described.errors.part * (q + of_band.size) + described.errors.tiny;
    else if (q > 0 && of_band.size > 0)
        absolute = described.errors.part * q * of_band.size + described.errors.tiny;
    const double by_squares = of_band.square_factor * q * q + of_band.square_tiny;
    if (of_band.relative == UNBOUNDED || (of_band.square_relative < UNBOUNDED && by_squares < of_band.relative_tiny))
        return {absolute + of_band.offset_error, of_band.square_relative, by_squares};
    return {absolute + of_band.offset_error, of_band.relative, of_band.relative_tiny};
}

namespace {

/// Bound the error of the score of a query and an item.
double pair_error(const ScoreErrors &errors, std::size_t query, std::size_t item, double score) {
    const double query_size = errors.of_query[query], item_size = errors.of_item[item];
    if (errors.additive) return errors.part * (query_size + item_size) + errors.tiny;
    double of_product = query_size > 0 && item_size > 0 ? errors.part * query_size * item_size + errors.tiny : 0.0;
    if (errors.relative < UNBOUNDED) {
        const double product = std::fabs(score + (errors.offset.empty() ? 0.0 : errors.offset[item]));
        of_product = std::min(of_product, errors.relative * product + errors.relative_tiny);
    }
    return of_product + errors.offset_error[item];
}

}  // namespace

// Pairs --------------------------------------------------------------------------------------------------------------

void Scores::pair_sums(Form described, bool sizes, Int64s queries, Int64s items, Span<double> out) const {
    if (sparse()) return sparse_pair_sums(query, queries, item, items, sizes, out);
    with_type(query.source.wide, [&](auto left_type) {
        with_type(item.source.wide, [&](auto right_type) {
            using A = decltype(left_type);
            using B = decltype(right_type);
            const TakenScaled<A> left(query, queries);
            const TakenScaled<B> right(item, items);
            const auto kind = described == Form::overlap      ? PairSum::overlaps
                              : described == Form::difference ? PairSum::differences
                              : sizes                         ? PairSum::sizes
                                                              : PairSum::products;
            pair_sum(kind, left.rows, left.taken.position, right.rows, right.taken.position, out);
        });
    });
}

void Scores::pair_scores(Int64s queries, Int64s columns, Span<double> scores) const {
    const std::vector<std::int64_t> items = items_of(columns);
    if (of_words()) {
        for (std::size_t p = 0; p < items.size(); ++p) {
            const std::uint64_t *a = query.words.row(queries[p]), *b = item.words.row(items[p]);
            int differing = 0, ones = 0;
            for (Index w = 0; w < query.words.columns; ++w)
                differing += std::popcount(a[w] ^ b[w]), ones += std::popcount(a[w]) + std::popcount(b[w]);
            scores[p] = -differing / (form == Form::share ? std::max(ones, 1) : 1.0);
        }
        return;
    }
    pair_sums(form, false, queries, items, scores);
    for (std::size_t p = 0; p < items.size(); ++p) {
        if (!squares.empty()) scores[p] = scores[p] * std::fabs(scores[p]) / squares[at(items[p])];
        if (!offset.empty()) scores[p] -= offset[at(items[p])];
    }
}

void Scores::pair_bounds(Int64s queries, Int64s columns, Span<const double> scores, Span<double> bounds) const {
    const ScoreLevel &described = levels.back();
    std::fill(bounds.begin(), bounds.end(), 0.0);
    if (described.exact) return;
    const std::vector<std::int64_t> items = items_of(columns);
    for (std::size_t p = 0; p < items.size(); ++p)
        if (!(zero_if_disjoint() && scores[p] == 0 && disjoint_support(query.source, queries[p], item.source, items[p])))
            bounds[p] = pair_error(described.errors, at(queries[p]), at(items[p]), scores[p]);
    if (!bound_by_terms) return;
    std::vector<double> sizes(items.size());
    pair_sums(Form::product, true, queries, items, sizes);
    const double part = described.errors.part / (1 - described.errors.part),
                 tiny = described.errors.tiny / (1 - described.errors.part);  // of_one_sign
    for (std::size_t p = 0; p < items.size(); ++p)
        bounds[p] = std::min(bounds[p], part * sizes[p] + (tiny + described.errors.offset_error[at(items[p])]));
}

}  // namespace deadheat
