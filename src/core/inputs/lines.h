// The lines of a TREC file, of JSON or of cells below a header, and where their fields are: see inputs/trec.py.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "support/views.h"

namespace deadheat {

/// Form of a line: fields between blanks, of which the first and third are ids and one is a number.
struct LineForm {
    Index n_field, number;
    bool open_end;  // whether the last field goes on to the end of the line, blanks and all
    bool whole;     // whether the number is an integer
};

/// Find the fields of lines, and return how many lines and how many runs of one query there are.
///
/// A row of `places` has begin and end of query, document and number; `numbers` has the number, or NaN where it is not a
/// plain decimal of at most 2^53 times or over 10^22. `firsts` has the line that begins each run. Blank lines and comments
/// (# ...) are skipped. The first number returned is negative where a line has another number of fields.
std::tuple<Index, Index> find_fields(Span<const std::uint8_t> text, const LineForm &form, Matrix<std::int64_t> places,
                                     Span<double> numbers, Span<std::int64_t> firsts);

/// The field of a value of a line of JSON, or of a cell: where its begin is in `places`.
enum class PlainField { query = 0, document = 2, number = 4, other = 6 };

/// Form of a line of JSON: its keys, with their quotes, in this order, and the field of each.
struct JsonForm {
    std::vector<std::string> keys;
    std::vector<int> kinds;
    bool whole;
};

/// Form of a line of cells between delimiters, with the field of each.
struct CellForm {
    int delimiter;
    std::vector<int> kinds;
    bool whole;
};

/// Find the same in lines of JSON.
///
/// The first number returned is negative where a line is not what is read the same between blanks: an escape, a blank in an
/// id, another key, a number of more than 15 digits before its point.
std::tuple<Index, Index> find_json(Span<const std::uint8_t> text, const JsonForm &form, Matrix<std::int64_t> places,
                                   Span<double> numbers, Span<std::int64_t> firsts);

/// Find the same in lines of cells, without quotes or, in the three fields, blanks.
std::tuple<Index, Index> find_cells(Span<const std::uint8_t> text, const CellForm &form, Matrix<std::int64_t> places,
                                    Span<double> numbers, Span<std::int64_t> firsts);

}  // namespace deadheat
