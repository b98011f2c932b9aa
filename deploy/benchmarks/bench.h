// What the C sides of the benchmarks share: errors, time, random keys, SQLite.
//
// Both sides of a benchmark get their data from one generator with a fixed seed: the C side has the
// rows in memory, ours reads them from the files that the same generator wrote.
#pragma once

#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FAIL(...)                                   \
  do {                                              \
    fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
    fprintf(stderr, __VA_ARGS__);                   \
    fputc('\n', stderr);                            \
    exit(1);                                        \
  } while (0)

// Each ends the program unless `ok`: with what went wrong; with the path and the system's reason;
// with SQLite's reason.
#define CHECK(ok, ...) \
  do { if (!(ok)) FAIL(__VA_ARGS__); } while (0)
#define SYSTEM_CHECK(ok, doing, path) CHECK(ok, "%s %s: %s", doing, path, strerror(errno))
#define SQL_CHECK(db, ok) CHECK(ok, "SQLite: %s", sqlite3_errmsg(db))

// The rules that the benchmarks use, with their bits.
enum {
  DELETE_SOURCE_IF_DESTINATION_DELETED = 4,
  DELETE_DESTINATION_IF_SOURCE_DELETED = 8,
  DELETE_DESTINATION_IF_ALL_SOURCES_DELETED = 32,
};

enum { MANUAL = 0, DECLARED = 1 };

enum { KEY_LENGTH = 36 };
typedef struct { char text[KEY_LENGTH + 1]; } Key;

static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static inline void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  CHECK(memory, "%zu times %zu bytes", count, size);
  return memory;
}

static inline long number(const char *text) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  CHECK(!errno && !*end && value > 0, "not a positive number: '%s'", text);
  return value;
}

// The order of the rows: random, or with those that belong together next to each other.
static inline int is_clustered(const char *order) {
  int clustered = !strcmp(order, "clustered");
  CHECK(clustered || !strcmp(order, "random"), "no order: '%s'", order);
  return clustered;
}

// splitmix64: every run, on every machine, sees the same data.
static uint64_t random_state = 0x63617363616465;

static inline uint64_t random_bits(void) {
  uint64_t z = random_state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static inline long random_below(long limit) { return (long)(random_bits() % (uint64_t)limit); }

// A key in the form of a UUID, cut to `length` bytes.
static inline void random_key(Key *key, int length) {
  uint64_t a = random_bits(), b = random_bits();
  snprintf(key->text, sizeof key->text, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(a >> 32),
           (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xffff), (unsigned)(b >> 48),
           (unsigned long long)(b & 0xffffffffffff));
  key->text[length] = 0;
}

static inline void flush_output(void) {
  SYSTEM_CHECK(fflush(stdout) == 0, "write", "the output");
}

static inline void execute(sqlite3 *db, const char *sql) {
  SQL_CHECK(db, sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

// Opens a database with what both sides have in common. Nobody checkpoints while the clock runs:
// the daemon does not, so a baseline that did would only look slower. $CACHE_KIB is for trying what
// a larger cache than SQLite's 2 MB does for a baseline.
static inline sqlite3 *open_database(const char *path) {
  sqlite3 *db;
  CHECK(sqlite3_open(path, &db) == SQLITE_OK, "open %s: %s", path, sqlite3_errmsg(db));
  sqlite3_busy_timeout(db, 5000);
  execute(db, "PRAGMA journal_mode = WAL");
  execute(db, "PRAGMA synchronous = FULL");
  execute(db, "PRAGMA wal_autocheckpoint = 0");
  const char *cache = getenv("CACHE_KIB");
  if (cache && *cache) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA cache_size = -%ld", number(cache));
    execute(db, sql);
  }
  return db;
}

static inline sqlite3 *open_as_application(const char *path) {
  sqlite3 *db = open_database(path);
  execute(db, "PRAGMA synchronous = NORMAL");
  return db;
}

static inline void close_database(sqlite3 *db) {
  SQL_CHECK(db, sqlite3_close(db) == SQLITE_OK);
}

static inline sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement;
  SQL_CHECK(db, sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL)
                  == SQLITE_OK);
  return statement;
}

// Binding fails only for an index that the statement does not have, or text that is too long.
static inline void bind_integer(sqlite3_stmt *statement, int index, int64_t value) {
  SQL_CHECK(sqlite3_db_handle(statement),
            sqlite3_bind_int64(statement, index, value) == SQLITE_OK);
}

// The text must stay until the statement has been run.
static inline void bind_text(sqlite3_stmt *statement, int index, const char *text, long length) {
  SQL_CHECK(sqlite3_db_handle(statement),
            sqlite3_bind_text(statement, index, text, (int)length, SQLITE_STATIC) == SQLITE_OK);
}

static inline void run(sqlite3_stmt *statement) {
  SQL_CHECK(sqlite3_db_handle(statement), sqlite3_step(statement) == SQLITE_DONE);
  sqlite3_reset(statement);
}

static inline void finalize(sqlite3_stmt *statement) { sqlite3_finalize(statement); }

// Adds a row to `cascade_collection` or `cascade_name`, which number what has a name.
static inline void insert_named(sqlite3 *db, const char *sql, int64_t id, const char *name) {
  sqlite3_stmt *statement = prepare(db, sql);
  bind_integer(statement, 1, id);
  bind_text(statement, 2, name, -1);
  run(statement);
  finalize(statement);
}

// The first line of a change file with one change a line.
static inline void print_header(const char *id) {
  printf("{\"id\":\"%s\",\"author\":\"bench\"}\n", id);
}

#define INSERT_COLLECTION "INSERT INTO cascade_collection(id, name) VALUES (?, ?)"
#define INSERT_NAME "INSERT INTO cascade_name(id, name) VALUES (?, ?)"
#define INSERT_NODE "INSERT INTO cascade_node(id, collection, key, value) VALUES (?, ?, ?, ?)"
#define INSERT_EDGE                                                              \
  "INSERT INTO cascade_edge(source, name, destination, origin, rules, born) " \
  "VALUES (?, ?, ?, ?, ?, ?)"
