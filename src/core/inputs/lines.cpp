#include "inputs/lines.h"

#include <algorithm>
#include <array>
#include <limits>

namespace deadheat {

namespace {

using Byte = const std::uint8_t *;

constexpr Index THIRD = 2;  // the field that is a document
constexpr int MOST_TENS = 22;

constexpr std::array<double, MOST_TENS + 1> powers_of_ten() {
    std::array<double, MOST_TENS + 1> powers{1.0};
    for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10.0;  // each of them exact
    return powers;
}

constexpr std::array<double, MOST_TENS + 1> TENS = powers_of_ten();

bool is_blank(std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }

bool is_digit(std::uint8_t c) { return c >= '0' && c <= '9'; }

/// Digits from a place on, added to those before; the place behind them.
Byte read_digits(Byte at, Byte end, std::uint64_t &digits) {
    constexpr std::uint64_t LARGEST = std::uint64_t{1} << 53;
    for (; at < end && is_digit(*at); ++at) digits = std::min(10 * digits + (*at - '0'), 2 * LARGEST);
    return at;
}

/// The number that a field is, correctly rounded: one operation on two exact numbers; NaN where it would take more.
double read_number(Byte at, Byte end, bool whole) {
    constexpr double UNKNOWN = std::numeric_limits<double>::quiet_NaN();
    const bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) ++at;
    std::uint64_t digits = 0, exponent = 0;
    const Byte start = at, point = at = read_digits(at, end, digits);
    Index n_digit = point - start, tens = 0;
    if (!whole && at < end && *at == '.') {
        at = read_digits(at + 1, end, digits);
        tens = point + 1 - at;
        n_digit -= tens;
    }
    if (!whole && at < end && (*at == 'e' || *at == 'E')) {
        const bool down = ++at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+')) ++at;
        const Byte first = at;
        at = read_digits(at, end, exponent);
        if (at == first || exponent > 999) return UNKNOWN;
        tens += down ? -static_cast<Index>(exponent) : static_cast<Index>(exponent);
    }
    if (at != end || n_digit == 0 || digits > (std::uint64_t{1} << 53) || tens > MOST_TENS || tens < -MOST_TENS)
        return UNKNOWN;
    const auto size = static_cast<double>(digits);
    const double number =
        tens < 0 ? size / TENS[static_cast<std::size_t>(-tens)] : size * TENS[static_cast<std::size_t>(tens)];
    return negative ? -number : number;
}

}  // namespace

std::tuple<Index, Index> find_fields(Span<const std::uint8_t> text, const LineForm &form, Matrix<std::int64_t> places,
                                     Span<double> numbers, Span<std::int64_t> firsts) {
    const Byte begin = text.data(), end = begin + text.size();
    Index n_line = 0, n_run = 0;
    Byte at = begin, query = begin, query_end = begin;  // the query of the line before
    while (at < end) {
        const Byte line_end = std::find(at, end, std::uint8_t{'\n'});
        std::int64_t *const row = places.row(n_line);
        Index field = 0;
        for (;; ++field) {
            while (at < line_end && is_blank(*at)) ++at;
            if (at == line_end || (field == 0 && *at == '#') || (form.open_end && field == form.n_field)) break;
            const Byte first = at;
            while (at < line_end && !is_blank(*at)) ++at;
            const Index position = field == 0 ? 0 : field == THIRD ? 2 : field == form.number ? 4 : -1;
            if (position >= 0) {
                row[position] = first - begin;
                row[position + 1] = at - begin;
            }
        }
        if (field > 0) {
            if (field != form.n_field) return {-1, 0};
            const std::size_t i = static_cast<std::size_t>(n_line);
            numbers[i] = read_number(begin + row[4], begin + row[5], form.whole);
            const Byte now = begin + row[0], now_end = begin + row[1];
            if (n_line == 0 || !std::equal(now, now_end, query, query_end))
                firsts[static_cast<std::size_t>(n_run++)] = n_line;
            query = now;
            query_end = now_end;
            ++n_line;
        }
        at = line_end < end ? line_end + 1 : end;
    }
    return {n_line, n_run};
}

}  // namespace deadheat
