#include "counting/packed_groups.h"

#ifndef _WIN32
#include <unistd.h>
#endif

#include <algorithm>
#include <stdexcept>

#include "support/memory.h"

namespace deadheat {

namespace {

constexpr std::uint32_t MORE = 1 << 7;  // set where further bits of a number follow
constexpr Index MOST_BYTES = 15;        // of a group

void append(std::uint8_t *&to, std::int64_t number) {
    auto rest = static_cast<std::uint32_t>(number);
    for (; rest >= MORE; rest >>= 7) *to++ = static_cast<std::uint8_t>(rest | MORE);
    *to++ = static_cast<std::uint8_t>(rest);
}

std::int64_t next(const std::uint8_t *&from) {
    std::uint32_t number = *from & (MORE - 1);
    for (int shift = 7; *from++ & MORE; shift += 7) number |= (*from & (MORE - 1)) << shift;
    return number;
}

}  // namespace

void PackedGroups::put(std::int64_t query, Span<const std::int32_t> closer, const std::vector<OtherGroup> &others) const {
    const auto n = static_cast<Index>(closer.size());
    Buffer<std::uint8_t> packed(at(MOST_BYTES * n));
    std::uint8_t *to = packed.data();
    std::int64_t expected = 0;  // the closer items, if no irrelevant item is between the group before and this one
    const auto add_items = [&](Index begin, Index end) {
        for (Index g = begin; g < end; ++g) append(to, 2 * (closer[at(g)] - expected)), expected = closer[at(g)] + 1;
    };
    Index first = 0;
    std::int64_t relevant = n, mixed = 0, most = 0;
    for (const auto &[position, tied, tied_relevant] : others) {
        add_items(first, position);
        append(to, 2 * (closer[at(position)] - expected) + 1), append(to, tied - tied_relevant),
            append(to, tied_relevant - 1);
        expected = closer[at(position)] + tied_relevant, first = position + 1;
        relevant += tied_relevant - 1;
        if (tied > tied_relevant) ++mixed, most = std::max<std::int64_t>(most, tied);
    }
    add_items(first, n);
    const std::int64_t start = starts[at(query)];
    const Index size = to - packed.data();
    if (size > starts[at(query) + 1] - start) throw std::length_error("more tie groups than a query can have");
    n_group[at(query)] = n, n_relevant[at(query)] = relevant, n_mixed[at(query)] = mixed, largest[at(query)] = most;
#ifndef _WIN32
    if (file >= 0 && pwrite(file, packed.data(), at(size), start) == size) return;
#endif
    std::copy_n(packed.data(), size, bytes.begin() + start);
}

void pack_groups(const PackedGroups &into, Int64s queries, Int64s lengths, Int64s closer, Int64s tied,
                 Int64s tied_relevant) {
    std::size_t group = 0;
    for (std::size_t q = 0; q < queries.size(); ++q) {
        if (lengths[q] < 0 || at(lengths[q]) > closer.size() - group)
            throw std::length_error("fewer tie groups than counted");
        std::vector<std::int32_t> of_query;
        std::vector<OtherGroup> others;
        for (Index position = 0; position < lengths[q]; ++position, ++group) {
            of_query.push_back(static_cast<std::int32_t>(closer[group]));
            if (tied[group] != 1)
                others.push_back(
                    {position, static_cast<std::int32_t>(tied[group]), static_cast<std::int32_t>(tied_relevant[group])});
        }
        into.put(queries[q], of_query, others);
    }
}

void unpack_groups(const PackedGroups &groups, Int64s queries, const ProfileArrays &out) {
    std::size_t group = 0;
    for (std::int64_t query : queries) {
        const std::uint8_t *from = groups.bytes.data() + groups.starts[at(query)];
        std::int64_t irrelevant = 0, relevant = 0;  // that are closer
        for (const std::size_t end = group + at(groups.n_group[at(query)]); group < end; ++group) {
            const std::int64_t first = next(from);
            std::int64_t tied = 1, tied_relevant = 1;
            if (first & 1) tied = next(from), tied_relevant = next(from) + 1, tied += tied_relevant;
            irrelevant += first >> 1;
            out[0][group] = irrelevant + relevant, out[1][group] = relevant;
            out[2][group] = tied, out[3][group] = tied_relevant;
            relevant += tied_relevant;
        }
    }
}

}  // namespace deadheat
