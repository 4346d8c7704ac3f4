// A library that is preloaded, in which the nth call of one kind fails: see faults.py, which builds it and arms it.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <new>

extern "C" void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

namespace {

enum Mode { once = 0, always = 1, shortened = 2, interrupted = 3 };
std::atomic<int> armed{-1};  // the kind, by its number in KINDS of faults.py
std::atomic<long> calls{0}, target{0}, failed{0};
int mode = once;
struct Range {
    uintptr_t start, stop;
} core, interpreter[2];
constexpr size_t LARGE = 2048;  // bytes of an array or of Python's that count as an allocation

/// Count a call, and return whether it is to fail.
bool fails(int kind) {
    if (armed.load(std::memory_order_relaxed) != kind) return false;
    const long n = ++calls;
    const bool result = mode == always ? n >= target : n == target;
    failed += result;
    return result;
}
bool within(const Range &range, const void *address) {
    return reinterpret_cast<uintptr_t>(address) - range.start < range.stop - range.start;
}
bool is_python(const void *address) { return within(interpreter[0], address) || within(interpreter[1], address); }

/// A file on disk: from a pipe of one's own nothing fails.
bool is_file(int file) {
    struct stat state;
    return fstat(file, &state) == 0 && S_ISREG(state.st_mode);
}

/// A map of a file, or one that is shared: others are memory of the interpreter, without which no thread of it begins.
bool is_map(int flags) { return !(flags & MAP_PRIVATE && flags & MAP_ANONYMOUS); }

template <class F>
F *next(F *, const char *name) {
    return reinterpret_cast<F *>(dlsym(RTLD_NEXT, name));
}
int failure(int number, int result = -1) {
    errno = number;
    return result;
}
/// The bytes of a call that fails: -1, or fewer than were asked for.
ssize_t some(int number, size_t bytes, auto call) {
    if (mode == shortened) return call((bytes + 1) / 2);
    return failure(mode == interrupted ? EINTR : number);
}

}  // namespace

enum Kind { OPEN, READ, WRITE, FLUSH, CLOSE, RENAME, FOLDER, RESERVE, MAP, FORK, THREAD, NEW, MALLOC };

extern "C" {

void faults_ranges(uintptr_t *bounds) {
    core = {bounds[0], bounds[1]}, interpreter[0] = {bounds[2], bounds[3]}, interpreter[1] = {bounds[4], bounds[5]};
}
void faults_arm(int kind, long n, int how) { armed = -1, calls = 0, failed = 0, target = n, mode = how, armed = kind; }
/// End it, and return the number of calls; negative if none has failed.
long faults_disarm() {
    armed = -1;
    return failed ? calls.load() : -calls - 1;
}

#define NEXT(name) static auto real = next(&name, #name)
#define OPENS(name)                                                            \
    int name(const char *path, int flags, ...) {                               \
        NEXT(name);                                                            \
        va_list given;                                                         \
        va_start(given, flags);                                                \
        const mode_t permissions = va_arg(given, mode_t);                      \
        va_end(given);                                                         \
        return fails(OPEN) ? failure(EMFILE) : real(path, flags, permissions); \
    }
OPENS(open)
OPENS(open64)
ssize_t read(int file, void *bytes, size_t n) {
    NEXT(read);
    return is_file(file) && fails(READ) ? some(EIO, n, [&](size_t m) { return real(file, bytes, m); })
                                        : real(file, bytes, n);
}
#define MOVES(name, kind, number, Bytes, Offset)                               \
    ssize_t name(int file, Bytes bytes, size_t n, Offset at) {                 \
        NEXT(name);                                                            \
        const auto part = [&](size_t m) { return real(file, bytes, m, at); };  \
        return is_file(file) && fails(kind) ? some(number, n, part) : part(n); \
    }
MOVES(pread, READ, EIO, void *, off_t)
MOVES(pread64, READ, EIO, void *, off64_t)
MOVES(pwrite, WRITE, ENOSPC, const void *, off_t)
MOVES(pwrite64, WRITE, ENOSPC, const void *, off64_t)
size_t fread(void *bytes, size_t size, size_t n, FILE *file) {
    NEXT(fread);
    return mode <= always && fails(READ) ? failure(EIO, 0) : real(bytes, size, n, file);
}
ssize_t write(int file, const void *bytes, size_t n) {
    NEXT(write);
    return is_file(file) && fails(WRITE) ? some(ENOSPC, n, [&](size_t m) { return real(file, bytes, m); })
                                         : real(file, bytes, n);
}
int close(int file) {
    NEXT(close);
    const bool counts = armed == CLOSE && is_file(file);
    const int result = real(file);
    return counts && fails(CLOSE) ? failure(EIO) : result;
}
#define ENDS(name, kind, number, failed, given, passed)             \
    int name given {                                                \
        NEXT(name);                                                 \
        return fails(kind) ? failure(number, failed) : real passed; \
    }
ENDS(fsync, FLUSH, EIO, -1, (int file), (file))
ENDS(rename, RENAME, EIO, -1, (const char *from, const char *to) noexcept, (from, to))
ENDS(linkat, RENAME, EPERM, -1, (int a, const char *from, int b, const char *to, int flags) noexcept,
     (a, from, b, to, flags))
ENDS(mkdir, FOLDER, ENOSPC, -1, (const char *path, mode_t permissions) noexcept, (path, permissions))
ENDS(posix_fallocate, RESERVE, ENOSPC, ENOSPC, (int file, off_t start, off_t n), (file, start, n))
ENDS(posix_fallocate64, RESERVE, ENOSPC, ENOSPC, (int file, off64_t start, off64_t n), (file, start, n))
ENDS(ftruncate, RESERVE, ENOSPC, -1, (int file, off_t n) noexcept, (file, n))
ENDS(ftruncate64, RESERVE, ENOSPC, -1, (int file, off64_t n) noexcept, (file, n))
#define MAPS(name, Offset)                                                                                                \
    void *name(void *target, size_t n, int protection, int flags, int file, Offset at) noexcept {                         \
        NEXT(name);                                                                                                       \
        return is_map(flags) && fails(MAP) ? (errno = ENOMEM, MAP_FAILED) : real(target, n, protection, flags, file, at); \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)
pid_t fork() noexcept {
    NEXT(fork);
    return fails(FORK) ? failure(EAGAIN) : real();
}
pid_t vfork() noexcept { return fork(); }  // its child would return through this frame, which the parent still needs
int pthread_create(pthread_t *thread, const pthread_attr_t *options, void *(*work)(void *), void *given) noexcept {
    NEXT(pthread_create);
    return fails(THREAD) ? EAGAIN : real(thread, options, work, given);
}
#define FAILS_MALLOC(n) (n >= LARGE && armed == MALLOC && is_python(__builtin_return_address(0)) && fails(MALLOC))
void *malloc(size_t n) noexcept { return FAILS_MALLOC(n) ? nullptr : __libc_malloc(n); }
void *calloc(size_t m, size_t n) noexcept { return FAILS_MALLOC(m * n) ? nullptr : __libc_calloc(m, n); }
void *realloc(void *old, size_t n) noexcept { return FAILS_MALLOC(n) ? nullptr : __libc_realloc(old, n); }

}  // extern "C"

#define FAILS_NEW (armed == NEW && within(core, __builtin_return_address(0)) && fails(NEW))
#define NEWS(given, memory)                          \
    void *operator given {                           \
        void *made = FAILS_NEW ? nullptr : memory;   \
        return made ? made : throw std::bad_alloc(); \
    }
NEWS(new (size_t n), __libc_malloc(n + !n))
NEWS(new[](size_t n), __libc_malloc(n + !n))
NEWS(new (size_t n, std::align_val_t line), __libc_memalign(static_cast<size_t>(line), n + !n))
void *operator new(size_t n, const std::nothrow_t &) noexcept { return FAILS_NEW ? nullptr : __libc_malloc(n + !n); }
void *operator new[](size_t n, const std::nothrow_t &) noexcept { return FAILS_NEW ? nullptr : __libc_malloc(n + !n); }
