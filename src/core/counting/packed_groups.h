// The tie groups of a profile in few bytes, in memory or in a file.
//
// The groups of a query are a run of bytes, nearest first. Each group is one number, or three if it is more than one
// relevant item alone:
//
//     2 · (irrelevant items closer than it, and not closer than the group before) + (0 if it is one relevant item, else 1)
//     its irrelevant items
//     its relevant items − 1
//
// A number below 2^32 is one to five bytes of seven bits, the lowest bits first; each but the last has its highest bit set.
#pragma once

#include <array>
#include <vector>

#include "support/views.h"

namespace deadheat {

/// A group that is not one relevant item alone, and its place among the groups of its query.
struct OtherGroup {
    Index position;
    std::int32_t tied, tied_relevant;
};

/// Closer, closer_relevant, tied and tied_relevant of groups.
using ProfileArrays = std::array<Span<std::int64_t>, 4>;

/// The groups of all queries, those of query i in the bytes from starts[i] to starts[i + 1]; how many they are, and how many
/// relevant items they hold; how many hold irrelevant items, too, and how many items the largest of these.
struct PackedGroups {
    Int64s starts;
    Span<std::uint8_t> bytes;
    Span<std::int64_t> n_group, n_relevant, n_mixed, largest;
    int file;  // that `bytes` is mapped from, or −1

    /// Set the groups of a query: how many items are closer than each, and those that are not one relevant item alone. Bytes
    /// are written into the file, if there is one, as the system fills each page of a mapping with zeros before: a quarter
    /// of the time of a pass over two classes (20,000 rows of 64 numbers), at four bytes a group.
    void put(std::int64_t query, Span<const std::int32_t> closer, const std::vector<OtherGroup> &others) const;
};

/// Set the groups of some queries from such arrays, one query's after another's, without closer_relevant.
void pack_groups(const PackedGroups &into, Int64s queries, Int64s lengths, Int64s closer, Int64s tied, Int64s tied_relevant);

/// Write the arrays of the groups of some queries, one query's after another's.
void unpack_groups(const PackedGroups &groups, Int64s queries, const ProfileArrays &out);

}  // namespace deadheat
