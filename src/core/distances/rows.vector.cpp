// Loops over rows at the speed of the vector units: what is the same for all numbers of a row.
#include <cmath>
#include <type_traits>

#include "distances/row_products.h"
#include "distances/rows.h"
#include "support/error_free.h"
#include "support/float_mode.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

using Words = Vector<std::uint64_t>;

constexpr int HASHES = 16;  // of 64 bits, side by side
constexpr std::uint64_t FIRST = 0xCBF29CE484222325, FACTOR = 0x9E3779B97F4A7C15;

template <class Word>
void mix(Word &state, Word word) {
    state = (state ^ word) * FACTOR;
    state ^= state >> 29;
}

/// The size of the first number that is not zero, or 1 where all are.
template <class T>
T pivot(const T *row, Index dim) {
    const T *first = std::find_if(row, row + dim, [](T value) { return value != T(0); });
    return first == row + dim ? T(1) : std::abs(*first);
}

/// A hash of the words that the numbers consist of, 0 for −0; of their quotients by a pivot if there is one.
template <class T>
std::uint64_t hash_row(const T *row, Index dim, const T *divisor) {
    constexpr int vectors = HASHES / LANES<std::uint64_t>;
    constexpr Index step = vectors * LANES<T>;
    Words states[vectors];
    for (Words &state : states) state = repeat(FIRST);
    const auto take = [&](const T *numbers) {
        for (int v = 0; v < vectors; ++v) {
            Vector<T> x = load(numbers + v * LANES<T>);
            if (divisor != nullptr) x /= repeat(*divisor);  // equal for multiples
            mix(states[v], (Words)(x + T(0)));
        }
    };
    Index k = 0;
    for (; k + step <= dim; k += step) take(row + k);
    if (k < dim) {
        T last[step] = {};
        std::copy(row + k, row + dim, last);
        take(last);
    }
    std::uint64_t hashes[HASHES], hash = 0;
    std::memcpy(hashes, states, sizeof hashes);
    for (std::uint64_t one : hashes) mix(hash, one);
    return hash;
}

template <class T>
void hash_rows(Matrix<const T> raw, bool directions, Span<std::uint64_t> out) {
    for (Index i = 0; i < raw.rows; ++i) {
        const T divisor = directions ? pivot(raw.row(i), raw.columns) : T(1);
        out[i] = hash_row(raw.row(i), raw.columns, directions ? &divisor : nullptr);
    }
}

template <class T>
void row_sums(Matrix<const T> raw, double scale, Matrix<double> out) {
    const bool multiply = 1e-290 < scale && scale < 1e290;
    const double by = multiply ? 1 / scale : scale;
    const auto size = [=](Vector<double> x) { return multiply ? absolute<double>(x) * by : absolute<double>(x) / by; };
    for (Index i = 0; i < raw.rows; ++i) {
        const T *row = raw.row(i);
        out(i, 0) = sum_of(row, row, raw.columns, [=](Vector<double> x, Vector<double>) { return size(x) * size(x); });
        out(i, 1) = sum_of(row, row, raw.columns, [=](Vector<double> x, Vector<double>) { return size(x); });
    }
}

template <class T>
void row_extremes(Matrix<const T> raw, Matrix<T> out) {
    constexpr T NONE = std::numeric_limits<T>::infinity();
    constexpr int N = 4;  // vectors side by side
    const Vector<T> none = repeat(NONE);
    for (Index i = 0; i < raw.rows; ++i) {
        const T *row = raw.row(i);
        Vector<T> least[N], greatest[N], smallest[N];
        for (int v = 0; v < N; ++v) least[v] = smallest[v] = none, greatest[v] = -none;
        const auto take = [&](Vector<T> x, int v) {
            const Vector<T> size = x == 0 ? none : absolute<T>(x);
            least[v] = x < least[v] ? x : least[v], greatest[v] = x > greatest[v] ? x : greatest[v];
            smallest[v] = size < smallest[v] ? size : smallest[v];
        };
        Index k = 0;
        for (; k + N * LANES<T> <= raw.columns; k += N * LANES<T>)
            for (int v = 0; v < N; ++v) take(load(row + k + v * LANES<T>), v);
        for (; k < raw.columns; ++k) take(repeat(row[k]), 0);
        out(i, 0) = NONE, out(i, 1) = -NONE, out(i, 2) = NONE;
        for (int v = 0; v < N; ++v)
            for (int lane = 0; lane < LANES<T>; ++lane) {
                out(i, 0) = std::min<T>(out(i, 0), least[v][lane]);
                out(i, 1) = std::max<T>(out(i, 1), greatest[v][lane]);
                out(i, 2) = std::min<T>(out(i, 2), smallest[v][lane]);
            }
    }
}

template <class A, class B>
void take_rows(const ScaledRows<A> &rows, Int64s index, Matrix<B> out) {
    for (Index i = 0; i < out.rows; ++i) {
        const A *from = rows.raw.row(index[i]);
        B *to = out.row(i);
        const double by = rows.factor[index[i]];
        if (rows.divide)
            for (Index k = 0; k < out.columns; ++k) to[k] = static_cast<B>(static_cast<double>(from[k]) / by);
        else
            for (Index k = 0; k < out.columns; ++k) to[k] = static_cast<B>(static_cast<double>(from[k]) * by);
    }
}

constexpr std::size_t AHEAD = 4;  // pairs whose rows are asked for ahead, so that they are in cache in time;
constexpr Index ASKED = 1 << 10;  // so many bytes of a row, after which the rest follows by itself

/// Ask for the rows of a later pair than number p.
template <class A, class B>
void ask_ahead(const ScaledRows<A> &left, Int64s rows, const ScaledRows<B> &right, Int64s columns, std::size_t p) {
    if (p + AHEAD >= rows.size()) return;
    const auto ask_for = [&]<class T>(const T *row) {
        const char *bytes = reinterpret_cast<const char *>(row);
        for (Index byte = 0; byte < std::min(left.raw.columns * static_cast<Index>(sizeof(T)), ASKED); byte += 64)
            __builtin_prefetch(bytes + byte);
    };
    ask_for(left.raw.row(rows[p + AHEAD])), ask_for(right.raw.row(columns[p + AHEAD]));
}

/// The sums of all pairs, of terms of the numbers of two rows as they are multiplied.
template <class A, class B, class Term>
void sums_of_pairs(const ScaledRows<A> &left, Int64s rows, const ScaledRows<B> &right, Int64s columns, Span<double> out,
                   Term term) {
    const bool divide_left = left.divide, divide_right = right.divide;
    for (std::size_t p = 0; p < out.size(); ++p) {
        ask_ahead(left, rows, right, columns, p);
        const double by_a = left.factor[rows[p]], by_b = right.factor[columns[p]];
        out[p] = sum_of(left.raw.row(rows[p]), right.raw.row(columns[p]), left.raw.columns,
                        [=](Vector<double> x, Vector<double> y) {
                            return term(divide_left ? x / by_a : x * by_a, divide_right ? y / by_b : y * by_b);
                        });
    }
}

template <class A, class B>
void pair_dots(const ScaledRows<A> &left, Int64s rows, const ScaledRows<B> &right, Int64s columns, Span<double> out) {
    constexpr bool narrow = std::is_same_v<A, float> && std::is_same_v<B, float>;  // whose products cannot overflow
    if (!narrow || left.divide || right.divide)
        return sums_of_pairs(left, rows, right, columns, out, [](Vector<double> x, Vector<double> y) { return x * y; });
    for (std::size_t p = 0; p < out.size(); ++p) {
        ask_ahead(left, rows, right, columns, p);
        const double product = product_of_rows(left.raw.row(rows[p]), right.raw.row(columns[p]), left.raw.columns);
        out[p] = product * left.factor[rows[p]] * right.factor[columns[p]];
    }
}

template <class A, class B>
void pair_sum(PairSum kind, const ScaledRows<A> &left, Int64s rows, const ScaledRows<B> &right, Int64s columns,
              Span<double> out) {
    using Doubles = Vector<double>;
    if (kind == PairSum::products || kind == PairSum::sizes) {
        const FlushingResultsMode mode;  // every product of numbers up to 1 may lose a smallest normal number
        if (kind == PairSum::products) return pair_dots(left, rows, right, columns, out);
        return sums_of_pairs(left, rows, right, columns, out, [](Doubles x, Doubles y) { return absolute<double>(x * y); });
    }
    if (kind == PairSum::overlaps)
        return sums_of_pairs(left, rows, right, columns, out, [](Doubles x, Doubles y) { return x < y ? x : y; });
    sums_of_pairs(left, rows, right, columns, out, [](Doubles x, Doubles y) { return -absolute<double>(x - y); });
}

/// Sums of products, and what they have lost.
struct CompensatedSums {
    Vector<double> sums[GROUP] = {}, rests[GROUP] = {};

    void add(const double *a, const double *b) {
        for (int v = 0; v < GROUP; ++v) {
            const Vector<double> x = load(a + v * LANES<double>), y = load(b + v * LANES<double>);
            const Vector<double> product = x * y, total = sums[v] + product;
            rests[v] += rest_of_product(x, y, product) + rest_of_sum(sums[v], product, total);
            sums[v] = total;
        }
    }
};

double compensated_dot(const double *a, const double *b, Index dim) {
    const Index whole = dim - dim % SUMS;
    double last_a[SUMS] = {};  // filled up with zeros
    double last_b[SUMS] = {};
    std::copy(a + whole, a + dim, last_a);
    std::copy(b + whole, b + dim, last_b);
    double total = 0.0, rest = 0.0;
    for (int first = 0; first < SUMS; first += GROUP * LANES<double>) {
        CompensatedSums group;
        for (Index begin = first; begin < whole; begin += SUMS) group.add(a + begin, b + begin);
        if (whole < dim) group.add(last_a + first, last_b + first);
        for (int v = 0; v < GROUP; ++v)
            for (int lane = 0; lane < LANES<double>; ++lane) {
                const TwoParts sum = two_sum(total, group.sums[v][lane]);
                total = sum.value;
                rest += group.rests[v][lane] + sum.rest;
            }
    }
    return total + rest;
}

void compensated_dots(Matrix<const double> left, Matrix<const double> right, Span<double> out) {
    for (Index i = 0; i < left.rows; ++i) out[i] = compensated_dot(left.row(i), right.row(i), left.columns);
}

template <class T>
constexpr OneTypeLoops<T> ONE_TYPE = {hash_rows<T>, row_sums<T>, row_extremes<T>};
template <class A, class B>
constexpr TwoTypeLoops<A, B> TWO_TYPES = {take_rows<A, B>, pair_sum<A, B>};

}  // namespace

extern const RowLoops row_loops = {ONE_TYPE<float>,          ONE_TYPE<double>,         TWO_TYPES<float, float>,
                                   TWO_TYPES<float, double>, TWO_TYPES<double, float>, TWO_TYPES<double, double>,
                                   compensated_dots};

}  // namespace deadheat::DEADHEAT_TARGET
