#pragma once
#include <fcntl.h>
#include <pthread.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

// glibc hides these behind _GNU_SOURCE, which Swift's Glibc module does not define.
struct cascade_peer {
  int pid;
  unsigned uid, gid;
};
extern int accept4(int, struct sockaddr *__restrict, socklen_t *__restrict, int);
extern int pipe2(int[2], int);
extern int pthread_setname_np(pthread_t, const char *);
extern int memfd_create(const char *, unsigned);
extern int sync_file_range(int, __off64_t, __off64_t, unsigned);

// Writes, and waits until that and what was on its way is written: all flags of the above.
static inline int cascade_write_out(int fd, long start, long count) {
  return sync_file_range(fd, start, count, 7);
}

// pthread_t is an integer here and a pointer elsewhere: an integer says "which thread" everywhere.
static inline unsigned long cascade_thread(void) { return (unsigned long)pthread_self(); }

// fcntl is variadic, which Swift does not import.
static inline int cascade_set_status_flags(int fd, int flags) { return fcntl(fd, F_SETFL, flags); }
static inline int cascade_status_flags(int fd) { return fcntl(fd, F_GETFL); }
static inline int cascade_duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 3); }

// glibc has no wrapper for this one: a path that never leaves `directory`, and goes through no link.
static inline int cascade_open_beneath(int directory, const char *path, int flags) {
  struct open_how how = {
      .flags = (unsigned)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

// Fails where the new name is taken: RENAME_NOREPLACE, which is hidden like the ones above.
static inline int cascade_rename_new(int from, const char *name, int to, const char *new_name) {
  return (int)syscall(SYS_renameat2, from, name, to, new_name, 1U);
}

// A file without a name, closed on exec (MFD_CLOEXEC).
static inline int cascade_memory_file(void) { return memfd_create("cascade", 1U); }

// A timer of the wall clock for a time that never comes: readable when somebody sets that clock
// (TFD_TIMER_CANCEL_ON_SET).
static inline int cascade_clock_watch(void) {
  struct itimerspec never = {.it_value = {.tv_sec = (time_t)1 << 40}};
  int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd >= 0) timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
  return fd;
}

static inline char **cascade_environment(void) { return __environ; }
