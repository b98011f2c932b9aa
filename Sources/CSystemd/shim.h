#pragma once
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-journal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>

// glibc hides these behind _GNU_SOURCE, which Swift's Glibc module does not define.
struct cascade_peer {
  int pid;
  unsigned uid, gid;
};
extern int accept4(int, struct sockaddr *__restrict, socklen_t *__restrict, int);
