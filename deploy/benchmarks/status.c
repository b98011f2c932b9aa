// Asks the daemon for its status every few milliseconds, until it is told to stop.
//
//   status SOCKET    prints "ready" after the first answer; at SIGTERM, in milliseconds, p50, p99
//                    and max of the times from a call to the end of its answer, and how many
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench.h"

enum { INTERVAL_MS = 5, LONGEST_ANSWER = 1 << 16, MOST_CALLS = 1 << 20 };

static const char call[] = "{\"method\":\"io.cascaded.Control.Status\"}";
static volatile sig_atomic_t is_over;

static void end(int signal) { is_over = signal; }

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  CHECK(strlen(path) < sizeof address.sun_path, "the path of the socket is too long");
  strcpy(address.sun_path, path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  SYSTEM_CHECK(descriptor >= 0, "make", "a socket");
  SYSTEM_CHECK(connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0, "connect",
               path);
  return descriptor;
}

// The call ends with a NUL, which the text has; so does the answer.
static double ask(int descriptor) {
  static char answer[LONGEST_ANSWER];
  ssize_t length = 0, count;
  double start = now();
  SYSTEM_CHECK(write(descriptor, call, sizeof call) == sizeof call, "write", "the call");
  do {
    count = read(descriptor, answer + length, sizeof answer - (size_t)length);
    if (count < 0 && errno == EINTR) continue;
    SYSTEM_CHECK(count >= 0, "read", "the answer");
    CHECK(count > 0, "the daemon hung up");
    length += count;
  } while (length == 0 || answer[length - 1] != 0);
  CHECK(strncmp(answer, "{\"error\"", 8) != 0, "%s", answer);
  return now() - start;
}

static void sleep_until(double time) {
  double left = time - now();
  if (left > 0) nanosleep(&(struct timespec){.tv_nsec = (long)(left * 1e9)}, NULL);
}

static long ask_until_the_end(int descriptor, double *seconds) {
  long count = 0;
  while (!is_over && count < MOST_CALLS) {
    double start = now();
    seconds[count++] = ask(descriptor);
    sleep_until(start + INTERVAL_MS / 1e3);
  }
  return count;
}

static int order(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: status SOCKET\n");
    return 64;
  }
  struct sigaction action = {.sa_handler = end};
  SYSTEM_CHECK(sigaction(SIGTERM, &action, NULL) == 0, "catch", "SIGTERM");
  double *seconds = allocate(MOST_CALLS, sizeof *seconds);
  int descriptor = connect_to(arguments[1]);
  ask(descriptor);
  puts("ready");
  flush_output();
  long calls = ask_until_the_end(descriptor, seconds);
  CHECK(calls > 0, "no call");
  qsort(seconds, (size_t)calls, sizeof *seconds, order);
  printf("%.3f %.3f %.3f %ld\n", seconds[calls / 2] * 1e3, seconds[calls * 99 / 100] * 1e3,
         seconds[calls - 1] * 1e3, calls);
  return 0;
}
