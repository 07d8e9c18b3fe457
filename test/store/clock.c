/*
 * Loaded before libc: the realtime clock of the process is TEST_CLOCK_AHEAD_NS ahead of the machine's. A server whose
 * clients run by a test's clock keeps time with them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static long long now(void) {
  struct timespec real;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &real);
  const char *ahead = getenv("TEST_CLOCK_AHEAD_NS");
  return real.tv_sec * SECOND + real.tv_nsec + (ahead ? atoll(ahead) : 0);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  if (clock != CLOCK_REALTIME) return (int)syscall(SYS_clock_gettime, clock, at);
  long long ns = now();
  at->tv_sec = ns / SECOND;
  at->tv_nsec = ns % SECOND;
  return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  (void)zone;
  long long ns = now();
  at->tv_sec = ns / SECOND;
  at->tv_usec = ns % SECOND / 1000;
  return 0;
}

time_t time(time_t *at) {
  time_t seconds = now() / SECOND;
  if (at) *at = seconds;
  return seconds;
}
