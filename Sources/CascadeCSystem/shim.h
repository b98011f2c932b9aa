#pragma once
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

// glibc declares these only with _GNU_SOURCE, which Swift's Glibc module does not define.
struct cascade_peer {
  int pid;
  unsigned uid, gid;
};
extern int accept4(int, struct sockaddr *__restrict, socklen_t *__restrict, int);
extern int pipe2(int[2], int);
extern int pthread_setname_np(pthread_t, const char *);
extern int memfd_create(const char *, unsigned);
extern int sync_file_range(int, __off64_t, __off64_t, unsigned);

// Waits for writes that are in progress, starts writing the other changed pages, and waits for these
// (all three flags of sync_file_range).
static inline int cascade_write_out(int fd, long start, long count) {
  return sync_file_range(fd, start, count, 7);
}

// pthread_t is an integer here and a pointer on other systems. An integer identifies a thread on all.
static inline unsigned long cascade_thread(void) { return (unsigned long)pthread_self(); }

// fcntl is variadic, and Swift does not import variadic functions.
static inline int cascade_set_status_flags(int fd, int flags) { return fcntl(fd, F_SETFL, flags); }
static inline int cascade_status_flags(int fd) { return fcntl(fd, F_GETFL); }
static inline int cascade_duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 3); }

// Whether another descriptor is open on the file of `fd`: then the kernel gives no write lease on it.
// -1 if the file system knows no leases, or the file is another user's. The lease is given back at
// once. The signal for a program that opens the file in between is one that is ignored.
// F_SETSIG and F_SETLEASE need _GNU_SOURCE.
static inline int cascade_is_in_use(int fd) {
  fcntl(fd, 10, SIGURG);
  if (fcntl(fd, 1024, F_WRLCK) == 0) return fcntl(fd, 1024, F_UNLCK) & 0;
  return errno == EAGAIN || errno == EBUSY ? 1 : -1;
}

// Gives back the pages of the program's code and constants. They stay in the page cache, and come
// back from there when they are used. What lies behind `etext` has been written to.
extern const char __executable_start[], etext[];
static inline int cascade_release_code(void) {
  uintptr_t page = 4096, start = (uintptr_t)__executable_start & -page;
  uintptr_t end = (uintptr_t)etext & -page;
  return madvise((void *)start, end - start, MADV_DONTNEED);
}

// glibc has no wrapper for openat2. The path never leaves `directory` and follows no symbolic link.
static inline int cascade_open_beneath(int directory, const char *path, int flags) {
  struct open_how how = {
      .flags = (unsigned)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

// Fails if the new name exists. 1 is RENAME_NOREPLACE, which needs _GNU_SOURCE as well.
static inline int cascade_rename_new(int from, const char *name, int to, const char *new_name) {
  return (int)syscall(SYS_renameat2, from, name, to, new_name, 1U);
}

// A file in memory that has no path and is closed on exec (1 is MFD_CLOEXEC).
static inline int cascade_memory_file(void) { return memfd_create("cascade", 1U); }

// A timer of the wall clock for a time that never comes. It becomes readable when the clock is set
// (TFD_TIMER_CANCEL_ON_SET).
static inline int cascade_clock_watch(void) {
  struct itimerspec never = {.it_value = {.tv_sec = (time_t)1 << 40}};
  int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd >= 0) timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
  return fd;
}

static inline char **cascade_environment(void) { return __environ; }

// A descriptor of the entry itself, which need not be readable and may be a link. O_PATH needs
// _GNU_SOURCE.
static inline int cascade_open_entry(int directory, const char *name) {
  return openat(directory, name, __O_PATH | O_NOFOLLOW | O_CLOEXEC);
}
