/* Lets system calls of a program fail, and moves its wall clock: for LD_PRELOAD.

   What is to happen stands in a file that the program and the check both map (LOOKAHEAD_FAULTS): for each kind of
   call how often it occurred, at which of them it begins to fail, how often, with which errno, and how often it
   has. The counters are the process's, of all threads together. Only the process that was started has faults,
   and not what it starts: the variables are taken out of its environment. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* In the order of KINDS in faults.py. */
enum kind {
  kind_openat, kind_read, kind_pread64, kind_write, kind_pwrite64, kind_fsync, kind_fdatasync, kind_ftruncate,
  kind_mmap, kind_rename, kind_unlink, kind_accept4, kind_recv, kind_send, kind_sendfile, kind_epoll_wait, kind_count
};

/* As struct.Struct("<5q") in faults.py. */
struct fault {
  _Atomic long long calls;
  _Atomic long long first;
  _Atomic long long count;
  _Atomic long long error;
  _Atomic long long fired;
};

static struct {
  struct fault faults[kind_count];
  _Atomic long long clock_seconds;
} *shared;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("LOOKAHEAD_FAULTS");
  if (!path) return;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (file < 0) abort();
  void *memory = (void *)syscall(SYS_mmap, NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) abort();
  syscall(SYS_close, file);
  unsetenv("LOOKAHEAD_FAULTS");
  unsetenv("LD_PRELOAD");
  shared = memory;
}

/* Whether this call fails; errno says with what. */
static int fails(enum kind kind) {
  if (!shared) return 0;
  struct fault *fault = &shared->faults[kind];
  long long number = atomic_fetch_add(&fault->calls, 1) + 1;
  long long first = atomic_load(&fault->first);
  if (first == 0 || number < first || number >= first + atomic_load(&fault->count)) return 0;
  atomic_fetch_add(&fault->fired, 1);
  errno = (int)atomic_load(&fault->error);
  return 1;
}

/* The same of a call that reads or writes what may be a socket. Descriptors of the kernel's own, eventfd(2) and
   timerfd(2), have no type and fail in none of these ways. */
static int fails_on(int file, enum kind plain, enum kind socket) {
  struct stat status;
  int before = errno;
  if (!shared || fstat(file, &status) != 0 || (status.st_mode & S_IFMT) == 0) {
    errno = before;
    return 0;
  }
  errno = before;
  return fails(S_ISSOCK(status.st_mode) ? socket : plain);
}

#define NEXT(name)                                                    \
  static __typeof__(name) *_Atomic next;                              \
  if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define CALL(kind, result, name, parameters, arguments)               \
  result name parameters {                                            \
    NEXT(name);                                                       \
    return fails(kind_##kind) ? (result)-1 : next arguments;          \
  }

#define TYPED(plain, socket, name, parameters, arguments)                                \
  ssize_t name parameters {                                                              \
    NEXT(name);                                                                          \
    return fails_on(file, kind_##plain, kind_##socket) ? -1 : next arguments;            \
  }

TYPED(read, recv, read, (int file, void *to, size_t count), (file, to, count))
TYPED(read, recv, readv, (int file, const struct iovec *to, int count), (file, to, count))
TYPED(write, send, write, (int file, const void *from, size_t count), (file, from, count))
TYPED(write, send, writev, (int file, const struct iovec *from, int count), (file, from, count))
CALL(pread64, ssize_t, pread, (int file, void *to, size_t count, off_t at), (file, to, count, at))
CALL(pread64, ssize_t, pread64, (int file, void *to, size_t count, off64_t at), (file, to, count, at))
CALL(pwrite64, ssize_t, pwrite, (int file, const void *from, size_t count, off_t at), (file, from, count, at))
CALL(pwrite64, ssize_t, pwrite64, (int file, const void *from, size_t count, off64_t at), (file, from, count, at))
CALL(pread64, ssize_t, preadv, (int file, const struct iovec *to, int count, off_t at), (file, to, count, at))
CALL(fsync, int, fsync, (int file), (file))
CALL(fdatasync, int, fdatasync, (int file), (file))
CALL(ftruncate, int, ftruncate, (int file, off_t size), (file, size))
CALL(ftruncate, int, ftruncate64, (int file, off64_t size), (file, size))
CALL(rename, int, rename, (const char *from, const char *to), (from, to))
CALL(rename, int, renameat, (int folder, const char *from, int other, const char *to), (folder, from, other, to))
CALL(unlink, int, unlink, (const char *path), (path))
CALL(unlink, int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
CALL(accept4, int, accept4, (int file, struct sockaddr *from, socklen_t *size, int flags), (file, from, size, flags))
CALL(recv, ssize_t, recv, (int file, void *to, size_t count, int flags), (file, to, count, flags))
CALL(send, ssize_t, send, (int file, const void *from, size_t count, int flags), (file, from, count, flags))
CALL(send, ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags))
CALL(sendfile, ssize_t, sendfile, (int to, int from, off_t *at, size_t count), (to, from, at, count))
CALL(sendfile, ssize_t, sendfile64, (int to, int from, off64_t *at, size_t count), (to, from, at, count))
CALL(epoll_wait, int, epoll_wait, (int poll, struct epoll_event *events, int most, int milliseconds),
     (poll, events, most, milliseconds))

/* These two take what may be arrays and unions in the C library's declarations. */
ssize_t recvfrom(int file, void *to, size_t count, int flags, struct sockaddr *from, socklen_t *size) {
  NEXT(recvfrom);
  return fails(kind_recv) ? -1 : next(file, to, count, flags, from, size);
}

ssize_t sendto(int file, const void *from, size_t count, int flags, const struct sockaddr *to, socklen_t size) {
  NEXT(sendto);
  return fails(kind_send) ? -1 : next(file, from, count, flags, to, size);
}

/* As the library loads others, dlsym is not there yet: the system's own. */
static void *map(void *at, size_t count, int protection, int flags, int file, off_t offset) {
  if (fails(kind_mmap)) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, at, count, protection, flags, file, offset);
}

void *mmap(void *at, size_t count, int protection, int flags, int file, off_t offset) {
  return map(at, count, protection, flags, file, offset);
}

void *mmap64(void *at, size_t count, int protection, int flags, int file, off64_t offset) {
  return map(at, count, protection, flags, file, offset);
}

static int open_file(int folder, const char *path, int flags, va_list rest) {
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  // libdispatch looks at its own threads in /proc, and ends the program where it cannot.
  if (strncmp(path, "/proc/", 6) != 0 && fails(kind_openat)) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define OPEN(name)                                                    \
  int name(const char *path, int flags, ...) {                        \
    va_list rest;                                                     \
    va_start(rest, flags);                                            \
    int file = open_file(AT_FDCWD, path, flags, rest);                \
    va_end(rest);                                                     \
    return file;                                                      \
  }
#define OPENAT(name)                                                  \
  int name(int folder, const char *path, int flags, ...) {            \
    va_list rest;                                                     \
    va_start(rest, flags);                                            \
    int file = open_file(folder, path, flags, rest);                  \
    va_end(rest);                                                     \
    return file;                                                      \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* The wall clock; what measures time goes on as it was. */
static time_t moved(void) { return shared ? (time_t)atomic_load(&shared->clock_seconds) : 0; }

int clock_gettime(clockid_t clock, struct timespec *now) {
  NEXT(clock_gettime);
  int result = next(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += moved();
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  NEXT(gettimeofday);
  int result = next(now, zone);
  if (result == 0) now->tv_sec += moved();
  return result;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
