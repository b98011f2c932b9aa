// Gives the daemon work and measures, from outside, how long it takes.
//
//   client submit PID STORE FILE SQL    renames FILE into the queue
//   client resume PID STORE LAST SQL    continues the stopped daemon, whose queue ends with LAST
//   client commits STORE                the commits in the write-ahead log, and its salt: the log
//                                       was not reset between two calls if the salt is the same
//
// The clock runs from the rename (or the signal) until the last file has left the queue and the
// query SQL yields a number other than 0, which is when a user could see the result.
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

enum { PATH_LIMIT = 4096, POLL_NANOSECONDS = 1000000, TIMEOUT_SECONDS = 1800 };
enum { WAL_HEADER = 32, FRAME_HEADER = 24 };

typedef struct { char text[PATH_LIMIT]; } Path;

static Path spool_path(const char *store, const char *folder, const char *name) {
  Path path;
  int length = snprintf(path.text, sizeof path.text, "%s.cascade/%s/%s", store, folder, name);
  CHECK(length < PATH_LIMIT, "the path of %s is too long", name);
  return path;
}

static const char *last_component(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int exists(Path path) {
  struct stat status;
  return lstat(path.text, &status) == 0;
}

static int is_empty(Path path) {
  DIR *directory = opendir(path.text);
  if (!directory && errno == ENOENT) return 1;
  SYSTEM_CHECK(directory, "open", path.text);
  struct dirent *entry;
  while ((entry = readdir(directory)) && entry->d_name[0] == '.') {}
  closedir(directory);
  return entry == NULL;
}

static void pause_briefly(double start) {
  CHECK(now() - start < TIMEOUT_SECONDS, "not done after %d seconds", TIMEOUT_SECONDS);
  nanosleep(&(struct timespec){.tv_nsec = POLL_NANOSECONDS}, NULL);
}

static void require_running(pid_t daemon) {
  CHECK(kill(daemon, 0) == 0, "the daemon is gone");
}

static sqlite3 *open_reader(const char *path) {
  sqlite3 *db;
  CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK, "open %s: %s", path,
        sqlite3_errmsg(db));
  return db;
}

static int is_true(sqlite3_stmt *query) {
  int result = sqlite3_step(query);
  SQL_CHECK(sqlite3_db_handle(query),
            result == SQLITE_ROW || result == SQLITE_DONE || result == SQLITE_BUSY);
  int value = result == SQLITE_ROW && sqlite3_column_int(query, 0);
  sqlite3_reset(query);
  return value;
}

// The queue is taken in the order of the names: while the last one is there, nobody lists the rest.
static void wait_for_queue(double start, pid_t daemon, const char *store, const char *last) {
  Path file = spool_path(store, "new", last), queue = spool_path(store, "new", "");
  while (exists(file) || !is_empty(queue)) {
    require_running(daemon);
    pause_briefly(start);
  }
  CHECK(is_empty(spool_path(store, "rejected", "")), "rejected: see the *.reason.json");
  CHECK(is_empty(spool_path(store, "held", "")), "held for approval");
}

static void wait_for_result(double start, pid_t daemon, const char *store, const char *sql) {
  sqlite3 *db = open_reader(store);
  sqlite3_stmt *query = prepare(db, sql);
  while (!is_true(query)) {
    require_running(daemon);
    pause_briefly(start);
  }
  finalize(query);
  close_database(db);
}

static void finish(double start, pid_t daemon, const char *store, const char *last,
                   const char *sql) {
  wait_for_queue(start, daemon, store, last);
  wait_for_result(start, daemon, store, sql);
  printf("%.4f\n", now() - start);
}

static void submit(pid_t daemon, const char *store, const char *file, const char *sql) {
  Path queued = spool_path(store, "new", last_component(file));
  double start = now();
  SYSTEM_CHECK(rename(file, queued.text) == 0, "rename", file);
  finish(start, daemon, store, last_component(file), sql);
}

static void resume(pid_t daemon, const char *store, const char *last, const char *sql) {
  double start = now();
  SYSTEM_CHECK(kill(daemon, SIGCONT) == 0, "continue", "the daemon");
  finish(start, daemon, store, last, sql);
}

// The write-ahead log, by SQLite's file format: a header with the page size at 8 and the salt at
// 16; then frames. A frame's header has the salt at 8, and at 4 the database's size if the frame
// ends a commit.
static uint32_t big_endian(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void print_commits(const char *store) {
  Path path;
  snprintf(path.text, sizeof path.text, "%s-wal", store);
  unsigned char header[WAL_HEADER] = {0}, frame[FRAME_HEADER];
  long commits = 0;
  FILE *log = fopen(path.text, "r");
  SYSTEM_CHECK(log || errno == ENOENT, "open", path.text);
  if (log && fread(header, sizeof header, 1, log) == 1) {
    while (fread(frame, sizeof frame, 1, log) == 1 && !memcmp(frame + 8, header + 16, 8)) {
      commits += big_endian(frame + 4) != 0;
      SYSTEM_CHECK(fseek(log, big_endian(header + 8), SEEK_CUR) == 0, "read", path.text);
    }
  }
  if (log) fclose(log);
  printf("%ld %u\n", commits, big_endian(header + 16));
}

int main(int count, char **arguments) {
  const char *command = count > 1 ? arguments[1] : "";
  if (count == 6 && !strcmp(command, "submit")) {
    submit((pid_t)number(arguments[2]), arguments[3], arguments[4], arguments[5]);
  } else if (count == 6 && !strcmp(command, "resume")) {
    resume((pid_t)number(arguments[2]), arguments[3], arguments[4], arguments[5]);
  } else if (count == 3 && !strcmp(command, "commits")) {
    print_commits(arguments[2]);
  } else {
    fprintf(stderr, "usage: client submit PID STORE FILE SQL\n"
                    "       client resume PID STORE LAST SQL\n"
                    "       client commits STORE\n");
    return 64;
  }
  return 0;
}
