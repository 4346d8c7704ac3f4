// The relevant columns of a block of queries, with scores, and the items in them that are counted singly.
//
// A column can hold items that do not count for a query (itself, junk) next to others that do. Such columns, and the
// relevant ones, are left out of the tiles; what counts in them is placed singly. Junk can be half of all pairs, so it is
// never listed as a whole: it is looked up tile by tile, and in the query's own class.
#pragma once

#include "pass/problem.h"

namespace deadheat {

RelevantItems relevant_items(const Problem &problem, Int64s queries);

/// The columns outside a query's class that tiles left out for junk by pairs but that hold items that do count.
SingleItems next_to_junk(const Problem &problem, Int64s queries);

}  // namespace deadheat
