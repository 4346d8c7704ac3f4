// Edges, widened by the error bound, between which scores are counted, and bins to find a score's place.
//
// count_tile (tiles.h) finds the slot of each score between edges that build_edges has widened, and lists what falls
// between the two edges of one threshold.
#pragma once

#include "support/views.h"

namespace deadheat {

/// Error bounds of the scores of a row: a true score S is off by at most min(absolute, relative·|S| + tiny).
struct Errors {
    double absolute, relative, tiny;  // relative is infinite where it is not known
};

/// Turn the intervals of each row into ascending edges for scores that may be off by the row's `errors`.
///
/// The slot of a score is the number of edges that it is not below. Slot 2g + 1 is between the edges of interval g,
/// widened by the error: what is there may be in the interval. Slot 2g is surely above interval g − 1 and below
/// interval g. Infinite edges end each row. Returns the largest number of edges in a row.
///
/// Rounding a lower edge to its type changes no comparison with a score of that type, or opens one more. An upper
/// edge is rounded up: to the next number of that type where slots are `closed`, so that nothing else is tied.
template <class T>
Index build_edges(Matrix<const double> low, Matrix<const double> high, Span<const Errors> errors, bool closed,
                  Matrix<T> edges);

/// Spread bins over the edges of each row; a bin's code is the lowest slot that a score in it can have.
///
/// The top bit of a code is set if the slot needs a closer look: an edge is in the bin, or the slot is open. Bin 0 is
/// below all edges and the last bin above all. A slot of MOST_SLOT (tiles.h) or more is written as that, and needs a closer
/// look. A score in a later bin than an edge is not below that edge. Where many edges are so close compared with their span
/// that they share a bin, bins are as wide as numbers are precise: they are spread over the places of edges among all
/// numbers of the type, and the scale is below 0 to say so.
template <class T>
void build_bins(Matrix<const T> edges, bool closed, Span<T> base, Span<T> scale, Matrix<std::uint16_t> codes);

}  // namespace deadheat
