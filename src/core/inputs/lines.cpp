#include "inputs/lines.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

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

/// The fields of lines, and the lines that begin a run of one query.
struct Fields {
    Byte begin;
    bool whole;
    Matrix<std::int64_t> places;
    Span<double> numbers;
    Span<std::int64_t> firsts;
    Index n_line = 0, n_run = 0;

    std::int64_t *row() const { return places.row(n_line); }
    void set(Index which, Byte first, Byte last) const { row()[which] = first - begin, row()[which + 1] = last - begin; }
    /// End a line whose fields are set.
    void end_line() {
        const std::int64_t *const now = row(), *const before = now - (n_line > 0 ? places.stride : 0);
        numbers[at(n_line)] = read_number(begin + now[4], begin + now[5], whole);
        if (n_line == 0 || !std::equal(begin + now[0], begin + now[1], begin + before[0], begin + before[1]))
            firsts[at(n_run++)] = n_line;
        ++n_line;
    }
};

/// Reads a line from the left; each step returns whether it fits, and goes on behind it.
struct Line {
    Byte at, end;

    bool take(std::uint8_t c) { return at < end && *at == c && ++at; }
    bool take(std::string_view text) {
        if (static_cast<std::size_t>(end - at) < text.size() || !std::equal(text.begin(), text.end(), at)) return false;
        at += text.size();
        return true;
    }
    void skip_spaces() {
        while (at < end && *at == ' ') ++at;
    }
    template <class Fits>
    bool take_all(Fits fits) {
        const Byte first = at;
        while (at < end && fits(*at)) ++at;
        return at > first;
    }
    /// An integer of JSON of at most 15 digits.
    bool take_whole() {
        take('-');
        const Byte first = at;
        return take_all(is_digit) && (*first != '0' || at == first + 1) && at - first <= 15;
    }
    bool take_real() {
        if (!take_whole() || (take('.') && !take_all(is_digit))) return false;
        if (!take('e') && !take('E')) return true;
        if (!take('-')) take('+');
        return take_all(is_digit);
    }
    /// The text between quotes, without escapes or, in an id, blanks; a single byte `least` or more.
    bool take_text(std::uint8_t least) {
        take_all([least](std::uint8_t c) { return c >= least && c != '"' && c != '\\'; });
        return take('"');
    }
};

/// Read the value of a key of JSON, and note where it is if it is one of the three fields.
bool read_value(Line &line, PlainField field, const Fields &fields) {
    Byte first = line.at;
    if (field == PlainField::other) {
        if (line.take('"')) return line.take_text(' ');
        if (line.take("true") || line.take("false") || line.take("null")) return true;
        return line.take_all(
            [](std::uint8_t c) { return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; });
    }
    if (field == PlainField::number) {
        if (!line.take_real()) return false;
        fields.set(4, first, line.at);
        return true;
    }
    const bool quoted = line.take('"');
    first = line.at;
    if (!(quoted ? line.take_text(' ' + 1) : line.take_whole())) return false;
    const Byte last = line.at - quoted;
    fields.set(static_cast<Index>(field), first, last);
    if (!quoted && *first == '-' && first[1] == '0') return false;
    return last > first && !(quoted && field == PlainField::query && *first == '#');
}

/// Read lines by a function of a line, as long as it returns true for each.
template <class Read>
std::tuple<Index, Index> read_lines(Span<const std::uint8_t> text, Fields fields, Read read) {
    const Byte end = text.data() + text.size();
    for (Byte at = text.data(); at < end;) {
        const Byte stop = std::find(at, end, std::uint8_t{'\n'});
        Line line{at, stop > at && stop[-1] == '\r' ? stop - 1 : stop};
        if (!read(line, fields) || line.at != line.end) return {-1, 0};
        fields.end_line();
        at = stop < end ? stop + 1 : end;
    }
    return {fields.n_line, fields.n_run};
}

}  // namespace

std::tuple<Index, Index> find_json(Span<const std::uint8_t> text, const JsonForm &form, Matrix<std::int64_t> places,
                                   Span<double> numbers, Span<std::int64_t> firsts) {
    return read_lines(text, {text.data(), form.whole, places, numbers, firsts}, [&](Line &line, const Fields &fields) {
        if (!line.take('{')) return false;
        for (std::size_t k = 0; k < form.keys.size(); ++k) {
            line.skip_spaces();
            if (k > 0) {
                if (!line.take(',')) return false;
                line.skip_spaces();
            }
            if (!line.take(std::string_view(form.keys[k]))) return false;
            line.skip_spaces();
            if (!line.take(':')) return false;
            line.skip_spaces();
            if (!read_value(line, PlainField{form.kinds[k]}, fields)) return false;
        }
        line.skip_spaces();
        return line.take('}');
    });
}

std::tuple<Index, Index> find_cells(Span<const std::uint8_t> text, const CellForm &form, Matrix<std::int64_t> places,
                                    Span<double> numbers, Span<std::int64_t> firsts) {
    return read_lines(text, {text.data(), form.whole, places, numbers, firsts}, [&](Line &line, const Fields &fields) {
        for (std::size_t k = 0; k < form.kinds.size(); ++k) {
            if (k > 0 && !line.take(static_cast<std::uint8_t>(form.delimiter))) return false;
            const auto field = PlainField{form.kinds[k]};
            const Byte first = line.at;
            const bool any = line.take_all([&](std::uint8_t c) {
                return c != form.delimiter && c != '"' && (field == PlainField::other ? c != '\r' : !is_blank(c));
            });
            if (field == PlainField::other) continue;
            if (!any || (field == PlainField::query && *first == '#')) return false;
            fields.set(static_cast<Index>(field), first, line.at);
        }
        return true;
    });
}

std::tuple<Index, Index> find_fields(Span<const std::uint8_t> text, const LineForm &form, Matrix<std::int64_t> places,
                                     Span<double> numbers, Span<std::int64_t> firsts) {
    const Byte begin = text.data(), end = begin + text.size();
    Fields fields{begin, form.whole, places, numbers, firsts};
    for (Byte at = begin; at < end;) {
        const Byte line_end = std::find(at, end, std::uint8_t{'\n'});
        Index field = 0;
        for (;; ++field) {
            while (at < line_end && is_blank(*at)) ++at;
            if (at == line_end || (field == 0 && *at == '#') || (form.open_end && field == form.n_field)) break;
            const Byte first = at;
            while (at < line_end && !is_blank(*at)) ++at;
            const Index position = field == 0 ? 0 : field == THIRD ? 2 : field == form.number ? 4 : -1;
            if (position >= 0) fields.set(position, first, at);
        }
        if (field > 0) {
            if (field != form.n_field) return {-1, 0};
            fields.end_line();
        }
        at = line_end < end ? line_end + 1 : end;
    }
    return {fields.n_line, fields.n_run};
}

}  // namespace deadheat
