// Floats in ascending order, many at a time: digit by digit, as integers that compare as they do.
#pragma once

#include "support/views.h"

namespace deadheat {

/// Sort numbers; what is not a number comes last.
void sort_numbers(Span<double> numbers);

/// The order of numbers, what is not a number last.
void order_numbers(Span<const double> numbers, std::int64_t *order);

}  // namespace deadheat
