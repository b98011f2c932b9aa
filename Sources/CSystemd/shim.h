#pragma once
#include <fcntl.h>
#include <pthread.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-journal.h>

// glibc hides these behind _GNU_SOURCE, which Swift's Glibc module does not define.
struct cascade_peer {
  int pid;
  unsigned uid, gid;
};
extern int accept4(int, struct sockaddr *__restrict, socklen_t *__restrict, int);
extern int pipe2(int[2], int);
extern int pthread_setname_np(pthread_t, const char *);

// pthread_t is an integer here and a pointer elsewhere: an integer says "which thread" everywhere.
static inline unsigned long cascade_thread(void) { return (unsigned long)pthread_self(); }

// fcntl is variadic, which Swift does not import.
static inline int cascade_set_status_flags(int fd, int flags) { return fcntl(fd, F_SETFL, flags); }
static inline int cascade_status_flags(int fd) { return fcntl(fd, F_GETFL); }
static inline int cascade_duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 3); }
