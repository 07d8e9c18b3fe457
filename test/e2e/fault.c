/*
 * Makes the system's calls fail for files of a name: FAULT_FILE is a part of the path, FAULT_CALLS a list of
 * `write,fsync,open,rename,mkdir,read`, FAULT_ERRNO the error, and FAULT_WHILE a file that must be there meanwhile.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
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

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  return fd > 2 && fails("write", fd, 0) ? -1 : real(fd, bytes, length);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t);
  return fails("write", fd, 0) ? -1 : real(fd, bytes, length, at);
}
ssize_t pread64(int fd, void *bytes, size_t length, off_t at) {
  REAL(ssize_t, "pread64", int, void *, size_t, off_t);
  return fails("read", fd, 0) ? -1 : real(fd, bytes, length, at);
}
int fsync(int fd) {
  REAL(int, "fsync", int);
  return fails("fsync", fd, 0) ? -1 : real(fd);
}
int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  return fails("fsync", fd, 0) ? -1 : real(fd);
}
int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  return fails("rename", -1, to) ? -1 : real(from, to);
}
int mkdir(const char *path, mode_t mode) {
  REAL(int, "mkdir", const char *, mode_t);
  return fails("mkdir", -1, path) ? -1 : real(path, mode);
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
