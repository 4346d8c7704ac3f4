#include "inputs/stored_rows.h"

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace deadheat {

namespace {

constexpr Index AT_ONCE = 1 << 30;  // bytes, which every system reads in one call
constexpr Index NEAR = 1 << 12;     // bytes between two rows that are sooner read than left out
constexpr Index SPAN = 1 << 18;     // bytes of rows and what is between them

Index read_at(int file, std::uint8_t *out, Index bytes, Index position) {
#ifdef _WIN32
    if (_lseeki64(file, position, SEEK_SET) < 0) return -1;
    return _read(file, out, static_cast<unsigned>(bytes));
#else
    return pread(file, out, at(bytes), position);
#endif
}

int read_whole(int file, std::uint8_t *out, Index bytes, Index position) {
    while (bytes > 0) {
        const Index n = read_at(file, out, std::min(bytes, AT_ONCE), position);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : -1;
        out += n, position += n, bytes -= n;
    }
    return 0;
}

}  // namespace

int read_rows(int file, Index begin, Int64s rows, Int64s places, Matrix<std::uint8_t> out) {
    const Index n = static_cast<Index>(rows.size()), bytes = out.columns;
    std::vector<std::uint8_t> span(n > 1 ? SPAN : 0);
    for (Index i = 0, next; i < n; i = next) {
        const auto end = [&](Index k) { return (rows[at(k)] + 1 - rows[at(i)]) * bytes; };
        for (next = i + 1; next < n && end(next) - end(next - 1) <= bytes + NEAR && end(next) <= SPAN;) ++next;
        const bool alone = next == i + 1;
        std::uint8_t *const to = alone ? out.row(places[at(i)]) : span.data();
        if (const int failed = read_whole(file, to, end(next - 1), begin + rows[at(i)] * bytes); failed != 0) return failed;
        for (Index k = i; k < next && !alone; ++k)
            std::memcpy(out.row(places[at(k)]), span.data() + end(k) - bytes, at(bytes));
    }
    return 0;
}

}  // namespace deadheat
