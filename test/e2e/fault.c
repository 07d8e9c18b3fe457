/*
 * Loaded before libc. Makes the system's calls fail for files of a name: FAULT_FILE is a part of the path, FAULT_CALLS a
 * list of `write,fsync,open,rename,mkdir,read`, FAULT_ERRNO the error, and FAULT_WHILE a file that must be there
 * meanwhile. Or kills the process (kill -9) right before its n-th call that leaves something behind, in a file or with a
 * peer: FAULT_KILL is a file that holds a `struct kill`, which whoever started the process writes and reads meanwhile.
 * Or keeps what a failure of the power would leave: FAULT_DISK is a folder, and FAULT_KEPT a copy of it that takes over a
 * file when it is synced. Names are kept at once, as file systems with a journal do; a file that was never synced is empty.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int fails(const char *call, int fd, const char *path) {
  const char *file = getenv("FAULT_FILE"), *calls = getenv("FAULT_CALLS");
  const char *number = getenv("FAULT_ERRNO"), *meanwhile = getenv("FAULT_WHILE");
  char link[64], found[4096];
  if (!file || !calls || !number || !strstr(calls, call)) return 0;
  if (!path) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, found, sizeof found - 1);
    if (length < 0) return 0;
    found[length] = 0;
    path = found;
  }
  if (!strstr(path, file) || (meanwhile && access(meanwhile, F_OK) != 0)) return 0;
  errno = atoi(number);
  return 1;
}

/* `at`: below 0 nothing is counted, 0 counts, n dies at the n-th. `call` is the one that it died at. */
struct kill {
  volatile long long at, count;
  char call[16];
};

/* Before any thread: the first calls of two could otherwise map it twice. */
static struct kill *shared;
__attribute__((constructor)) static void map(void) {
  const char *path = getenv("FAULT_KILL");
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *found = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (found != MAP_FAILED) shared = found;
  close(fd);
}

/* What threads tell each other through pipes and event counters is nobody else's. */
static int is_outside(int fd) {
  struct stat it;
  if (fd < 0) return 1;
  if (fstat(fd, &it) != 0) return 0;
  return S_ISREG(it.st_mode) || S_ISSOCK(it.st_mode) || (fd == 1 && S_ISFIFO(it.st_mode));
}

static void dies(const char *call, int fd) {
  if (!shared || shared->at < 0 || !is_outside(fd)) return;
  if (__atomic_add_fetch(&shared->count, 1, __ATOMIC_SEQ_CST) != shared->at) return;
  strncpy(shared->call, call, sizeof shared->call - 1);
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Where the kept copy of a file is; false for a file of another folder, and for what SQLite never syncs. */
static int kept(const char *path, char to[4096]) {
  const char *disk = getenv("FAULT_DISK"), *copy = getenv("FAULT_KEPT");
  if (!disk || !copy || !path || strncmp(path, disk, strlen(disk)) != 0) return 0;
  size_t length = strlen(path);
  if (length > 4 && strcmp(path + length - 4, "-shm") == 0) return 0;
  return snprintf(to, 4096, "%s%s", copy, path + strlen(disk)) < 4000;
}

/* The kept copy of an open file in the making: what is in it now, before it is synced. By the system's own calls, which
   nobody counts; through the same descriptor, since closing another one would drop SQLite's locks. One wait for a file at
   a time, until `lock` is closed: of two, the one that began first could end last, and leave the older copy. */
static int begins_to_last(int fd, char part[4096], char to[4096], int *lock) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (!kept(path, to)) return 0;
  snprintf(part, 4096, "%s.part.lock", to);
  *lock = syscall(SYS_openat, AT_FDCWD, part, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (*lock < 0) return 0;
  while (syscall(SYS_flock, *lock, LOCK_EX) != 0 && errno == EINTR) continue;
  snprintf(part, 4096, "%s.part%ld", to, syscall(SYS_gettid));
  int out = syscall(SYS_openat, AT_FDCWD, part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) return 0;
  int in = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : fd;
  char bytes[4096];
  off_t at = 0;
  for (ssize_t got; (got = syscall(SYS_pread64, in, bytes, sizeof bytes, at)) > 0; at += got)
    if (syscall(SYS_pwrite64, out, bytes, got, at) != got) break;
  if (in != fd) syscall(SYS_close, in);
  syscall(SYS_close, out);
  return 1;
}

/* The name of a file that moves on the disk: empty where nobody has synced what it names. */
static void names_kept(const char *from, const char *to, int moves) {
  char was[4096], is[4096];
  if (!kept(to, is)) return;
  if (kept(from, was) && syscall(SYS_faccessat, AT_FDCWD, was, F_OK) == 0) {
    if (moves) syscall(SYS_renameat2, AT_FDCWD, was, AT_FDCWD, is, 0);
    else syscall(SYS_linkat, AT_FDCWD, was, AT_FDCWD, is, 0);
    return;
  }
  int empty = syscall(SYS_openat, AT_FDCWD, is, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (empty >= 0) syscall(SYS_close, empty);
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  dies("write", fd);
  return fd > 2 && fails("write", fd, 0) ? -1 : real(fd, bytes, length);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  dies("writev", fd);
  return real(fd, parts, count);
}
#define PWRITE(name) \
  ssize_t name(int fd, const void *bytes, size_t length, off_t at) { \
    REAL(ssize_t, #name, int, const void *, size_t, off_t); \
    dies("pwrite", fd); \
    return fails("write", fd, 0) ? -1 : real(fd, bytes, length, at); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)
ssize_t pread64(int fd, void *bytes, size_t length, off_t at) {
  REAL(ssize_t, "pread64", int, void *, size_t, off_t);
  return fails("read", fd, 0) ? -1 : real(fd, bytes, length, at);
}
#define ON_FILE(name, fault) \
  int name(int fd) { \
    REAL(int, #name, int); \
    dies(#name, fd); \
    if (fails(fault, fd, 0)) return -1; \
    char part[4096], to[4096]; \
    int lock = -1; \
    int lasts = begins_to_last(fd, part, to, &lock); \
    int done = real(fd); \
    int why = errno; \
    if (lasts && done == 0) syscall(SYS_renameat2, AT_FDCWD, part, AT_FDCWD, to, 0); \
    if (lock >= 0) syscall(SYS_close, lock); \
    errno = why; \
    return done; \
  }
ON_FILE(fsync, "fsync")
ON_FILE(fdatasync, "fsync")
#define TRUNCATE(name) \
  int name(int fd, off_t length) { \
    REAL(int, #name, int, off_t); \
    dies("ftruncate", fd); \
    return real(fd, length); \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)
int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  dies("rename", -1);
  if (fails("rename", -1, to)) return -1;
  int done = real(from, to);
  if (done == 0) names_kept(from, to, 1);
  return done;
}
int link(const char *from, const char *to) {
  REAL(int, "link", const char *, const char *);
  int done = real(from, to);
  if (done == 0) names_kept(from, to, 0);
  return done;
}
int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  dies("unlink", -1);
  int done = real(path);
  char is[4096];
  if (done == 0 && kept(path, is)) syscall(SYS_unlinkat, AT_FDCWD, is, 0);
  return done;
}
int mkdir(const char *path, mode_t mode) {
  REAL(int, "mkdir", const char *, mode_t);
  dies("mkdir", -1);
  if (fails("mkdir", -1, path)) return -1;
  int done = real(path, mode);
  char is[4096];
  if (done == 0 && kept(path, is)) syscall(SYS_mkdirat, AT_FDCWD, is, mode);
  return done;
}
int connect(int fd, const struct sockaddr *address, socklen_t length) {
  REAL(int, "connect", int, const struct sockaddr *, socklen_t);
  dies("connect", fd);
  return real(fd, address, length);
}
ssize_t sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t size) {
  REAL(ssize_t, "sendto", int, const void *, size_t, int, const struct sockaddr *, socklen_t);
  dies("sendto", fd);
  return real(fd, bytes, length, flags, to, size);
}
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  REAL(ssize_t, "sendmsg", int, const struct msghdr *, int);
  dies("sendmsg", fd);
  return real(fd, message, flags);
}
static mode_t mode_of(int flags, va_list rest) { return flags & O_CREAT ? va_arg(rest, mode_t) : 0; }
#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, #name, const char *, int, ...); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = mode_of(flags, rest); \
    va_end(rest); \
    return (flags & O_ACCMODE) != O_RDONLY && fails("open", -1, path) ? -1 : real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
