// Another process that writes into a table of its own in the same database.
//
//   writer prepare DB            makes the table
//   writer run DB MICROSECONDS   commits a row again and again, with such a pause between two
//   writer hold DB MICROSECONDS  holds the write lock so long in turns, as a sweep in steps does,
//                                until SIGTERM comes: what this costs the others is the floor
//
// It prints "ready". SIGUSR1 makes it forget what it saw; with SIGTERM it ends, and prints the
// milliseconds that commits took, p50, p99 and the longest, and how many there were. It opens the
// database as an application does that has not thought about it: it does the checkpoints too.
#include <signal.h>

#include "bench.h"

enum { MOST_COMMITS = 50 * 1000 * 1000 };

static volatile sig_atomic_t must_forget, must_end;

static void take_signal(int signal) {
  if (signal == SIGUSR1) must_forget = 1;
  else must_end = 1;
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

// A commit that the busy handler gave up on goes on: it is over when the row is there.
static double commit(sqlite3_stmt *insert, long i) {
  bind_integer(insert, 1, i);
  double start = now();
  int result;
  do {
    result = sqlite3_step(insert);
    sqlite3_reset(insert);
  } while (result == SQLITE_BUSY);
  SQL_CHECK(sqlite3_db_handle(insert), result == SQLITE_DONE);
  return now() - start;
}

static int order(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static void print_latencies(float *seconds, long count) {
  CHECK(count, "no commit was seen");
  qsort(seconds, (size_t)count, sizeof *seconds, order);
  printf("%.3f %.3f %.3f %ld\n", seconds[count / 2] * 1e3, seconds[count * 99 / 100] * 1e3,
         seconds[count - 1] * 1e3, count);
}

static void pause_for(long microseconds) {
  nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

static void write_rows(const char *path, long pause) {
  float *seconds = allocate(MOST_COMMITS, sizeof *seconds);
  sqlite3 *db = open_as_application(path);
  execute(db, "PRAGMA wal_autocheckpoint = 1000");
  sqlite3_stmt *insert = prepare(db, "INSERT INTO note(text) VALUES ('note number ' || ?)");
  long count = 0;
  puts("ready");
  flush_output();
  while (!must_end && count < MOST_COMMITS) {
    if (must_forget) count = must_forget = 0;
    seconds[count] = (float)commit(insert, count);
    count++;
    if (pause) pause_for(pause);
  }
  print_latencies(seconds, count);
  finalize(insert);
  close_database(db);
}

// The pause is one in which SQLite's busy handler, which waits for longer each time, tries again.
static void hold_in_turns(const char *path, long microseconds) {
  sqlite3 *db = open_as_application(path);
  execute(db, "PRAGMA wal_autocheckpoint = 0");
  sqlite3_stmt *insert = prepare(db, "INSERT INTO note(text) VALUES ('held')");
  puts("ready");
  flush_output();
  while (!must_end) {
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) continue;
    run(insert);
    pause_for(microseconds);
    execute(db, "COMMIT");
    pause_for(microseconds);
  }
  finalize(insert);
  close_database(db);
}

int main(int count, char **arguments) {
  const char *command = count > 1 ? arguments[1] : "";
  if (count == 3 && !strcmp(command, "prepare")) {
    sqlite3 *db = open_as_application(arguments[2]);
    execute(db, "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
    close_database(db);
  } else if (count == 4 && !strcmp(command, "run")) {
    catch_signals();
    write_rows(arguments[2], strtol(arguments[3], NULL, 10));
  } else if (count == 4 && !strcmp(command, "hold")) {
    catch_signals();
    hold_in_turns(arguments[2], strtol(arguments[3], NULL, 10));
  } else {
    fprintf(stderr, "usage: writer prepare DB | writer run|hold DB MICROSECONDS\n");
    return 64;
  }
  return 0;
}
