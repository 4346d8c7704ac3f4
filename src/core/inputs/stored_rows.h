// Rows in a file, read by calls that fail where the file ends: a map of a file that is cut off would end the process.
#pragma once

#include "support/views.h"

namespace deadheat {

/// Read rows with these ascending numbers from an open file, in which row 0 begins at a byte, each to its place. Returns 0,
/// an error of the system, or −1 where the file ends before.
int read_rows(int file, Index begin, Int64s rows, Int64s places, Matrix<std::uint8_t> out);

}  // namespace deadheat
