// The lines of a TREC file, and where their fields are: see inputs/trec.py.
#pragma once

#include <tuple>

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

}  // namespace deadheat
