// An application that deletes an artist every 50 ms, and how long until her 50 rows are gone.
//
//   latency load DB SIZE REFERENCES    SIZE artists, each with 5 albums of 9 songs; REFERENCES is
//                                      "keyed", with ON DELETE CASCADE, "plain", or "swept", with
//                                      what `bare` needs
//   latency run DB SIZE PAGES [bare]   prints, in milliseconds, p50 and p99 of the application's
//                                      deletes, and of the times from there to the end; after so
//                                      many PAGES in the log the application does a checkpoint
//   latency loop DB COUNT SIZE         deletes COUNT albums as fast as it can, a synced commit each;
//                                      prints the seconds
//
// A second process looks for the end: it asks `data_version`, and when that changes whether any
// album or song is left. With `bare`, a third one sweeps with nothing but SQL, and keeps the rows:
// what no daemon can be faster than.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { ALBUMS = 5, SONGS = 9, INTERVAL_MS = 50, TIMEOUT_SECONDS = 10, POLL_NANOSECONDS = 100000 };

typedef struct { Key key, albums[ALBUMS]; } Artist;
typedef struct { double deleting, committed, ended; } Times;

// The same seed gives the same artists to whoever loads, deletes and looks.
static Artist *make_artists(long size) {
  Artist *artists = allocate((size_t)size, sizeof *artists);
  for (long i = 0; i < size; i++) {
    random_key(&artists[i].key, KEY_LENGTH);
    for (int j = 0; j < ALBUMS; j++) random_key(&artists[i].albums[j], KEY_LENGTH);
  }
  return artists;
}

static void create_tables(sqlite3 *db, int keyed) {
  const char *cascade = "ON DELETE CASCADE";
  char sql[600];
  snprintf(sql, sizeof sql,
           "CREATE TABLE artist(id TEXT PRIMARY KEY, title TEXT NOT NULL);"
           "CREATE TABLE album(id TEXT PRIMARY KEY, artist_id TEXT %s %s, title TEXT NOT NULL);"
           "CREATE TABLE song(id TEXT PRIMARY KEY, album_id TEXT %s %s, title TEXT NOT NULL);"
           "CREATE INDEX album_artist ON album(artist_id);"
           "CREATE INDEX song_album ON song(album_id)",
           keyed ? "REFERENCES artist(id)" : "", keyed ? cascade : "",
           keyed ? "REFERENCES album(id)" : "", keyed ? cascade : "");
  execute(db, sql);
}

// What the third process needs: which artists went, and a place for the rows that go with them.
static void create_sweep(sqlite3 *db) {
  execute(db,
          "CREATE TABLE gone(id TEXT); CREATE TABLE kept(collection, id, title);"
          "CREATE TRIGGER gone AFTER DELETE ON artist"
          " BEGIN INSERT INTO gone VALUES (old.id); END");
}

static void insert_row(sqlite3_stmt *insert, const Key *key, const Key *parent) {
  bind_text(insert, 1, key->text, KEY_LENGTH);
  if (parent) bind_text(insert, 2, parent->text, KEY_LENGTH);
  run(insert);
}

static void load(const char *path, const Artist *artists, long size, const char *references) {
  int keyed = !strcmp(references, "keyed"), swept = !strcmp(references, "swept");
  CHECK(keyed || swept || !strcmp(references, "plain"), "no references: '%s'", references);
  sqlite3 *db = open_as_application(path);
  execute(db, "BEGIN");
  create_tables(db, keyed);
  if (swept) create_sweep(db);
  sqlite3_stmt *artist = prepare(db, "INSERT INTO artist VALUES (?, 'the name of an artist')");
  sqlite3_stmt *album = prepare(db, "INSERT INTO album VALUES (?, ?, 'the title of an album')");
  sqlite3_stmt *song = prepare(db, "INSERT INTO song VALUES (?, ?, 'the title of a song')");
  for (long i = 0; i < size; i++) insert_row(artist, &artists[i].key, NULL);
  for (int j = 0; j < ALBUMS; j++)
    for (long i = 0; i < size; i++) insert_row(album, &artists[i].albums[j], &artists[i].key);
  for (int k = 0; k < SONGS * ALBUMS; k++) {
    for (long i = 0; i < size; i++) {
      Key key;
      random_key(&key, KEY_LENGTH);
      insert_row(song, &key, &artists[i].albums[k % ALBUMS]);
    }
  }
  finalize(artist);
  finalize(album);
  finalize(song);
  execute(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  close_database(db);
}

static int64_t ask(sqlite3_stmt *query) {
  SQL_CHECK(sqlite3_db_handle(query), sqlite3_step(query) == SQLITE_ROW);
  int64_t value = sqlite3_column_int64(query, 0);
  sqlite3_reset(query);
  return value;
}

static void bind_artist(sqlite3_stmt *left, const Artist *artist) {
  bind_text(left, 1, artist->key.text, KEY_LENGTH);
  for (int j = 0; j < ALBUMS; j++) bind_text(left, 2 + j, artist->albums[j].text, KEY_LENGTH);
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = POLL_NANOSECONDS}, NULL); }

static void watch(const char *path, const Artist *artists, volatile Times *times, long size) {
  sqlite3 *db = open_as_application(path);
  sqlite3_stmt *version = prepare(db, "PRAGMA data_version");
  sqlite3_stmt *left = prepare(db,
    "SELECT EXISTS (SELECT 1 FROM album WHERE artist_id = ?)"
    " OR EXISTS (SELECT 1 FROM song WHERE album_id IN (?, ?, ?, ?, ?))");
  int64_t seen = 0, current;
  for (long i = 0; i < size; i++) {
    bind_artist(left, &artists[i]);
    while (times[i].committed == 0) nap();
    while (ask(left)) {
      while ((current = ask(version)) == seen) {
        CHECK(now() - times[i].committed < TIMEOUT_SECONDS, "no sweep of artist %ld", i);
        nap();
      }
      seen = current;
    }
    times[i].ended = now();
  }
  finalize(version);
  finalize(left);
  close_database(db);
}

static void sweep(const char *path, const volatile Times *times, long size) {
  sqlite3 *db = open_as_application(path);
  sqlite3_stmt *version = prepare(db, "PRAGMA data_version");
  int64_t seen = 0, current;
  while (times[size - 1].ended == 0) {
    if ((current = ask(version)) == seen) {
      nap();
      continue;
    }
    seen = current;
    execute(db,
            "BEGIN IMMEDIATE;"
            "CREATE TEMP TABLE IF NOT EXISTS lost(id TEXT PRIMARY KEY); DELETE FROM lost;"
            "INSERT INTO lost SELECT id FROM album WHERE artist_id IN (SELECT id FROM gone);"
            "INSERT INTO kept SELECT 2, id, title FROM song WHERE album_id IN lost;"
            "DELETE FROM song WHERE album_id IN lost;"
            "INSERT INTO kept SELECT 1, id, title FROM album WHERE id IN lost;"
            "DELETE FROM album WHERE id IN lost;"
            "DELETE FROM gone;"
            "COMMIT");
  }
  finalize(version);
  close_database(db);
}

static void sleep_until(double time) {
  double left = time - now();
  if (left > 0) nanosleep(&(struct timespec){.tv_nsec = (long)(left * 1e9)}, NULL);
}

static void delete_artists(const char *path, const Artist *artists, volatile Times *times,
                           long size, int pages) {
  sqlite3 *db = open_as_application(path);
  execute(db, "PRAGMA foreign_keys = ON");
  sqlite3_wal_autocheckpoint(db, pages);
  sqlite3_stmt *delete = prepare(db, "DELETE FROM artist WHERE id = ?");
  double start = now();
  for (long i = 0; i < size; i++) {
    sleep_until(start + (double)(i * INTERVAL_MS) / 1e3);
    bind_text(delete, 1, artists[i].key.text, KEY_LENGTH);
    double deleting = now();
    run(delete);
    times[i].deleting = deleting;
    times[i].committed = now();
  }
  finalize(delete);
  close_database(db);
}

static int order(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_percentiles(double *seconds, long size, const char *end) {
  qsort(seconds, (size_t)size, sizeof *seconds, order);
  printf("%.3f %.3f%s", seconds[size / 2] * 1e3, seconds[size * 99 / 100] * 1e3, end);
}

static void print_times(const volatile Times *times, long size) {
  double *own = allocate((size_t)size, sizeof(double));
  double *until_end = allocate((size_t)size, sizeof(double));
  for (long i = 0; i < size; i++) {
    own[i] = times[i].committed - times[i].deleting;
    until_end[i] = times[i].ended - times[i].committed;
  }
  print_percentiles(own, size, " ");
  print_percentiles(until_end, size, "\n");
  free(own);
  free(until_end);
}

// Runs `work` in a process of its own.
#define IN_PROCESS(process, work)                                                                  \
  do {                                                                                             \
    SYSTEM_CHECK(((process) = fork()) >= 0, "start", "another process");                           \
    if ((process) == 0) {                                                                          \
      work;                                                                                        \
      exit(0);                                                                                     \
    }                                                                                              \
  } while (0)

static void await(pid_t process) {
  int status;
  SYSTEM_CHECK(waitpid(process, &status, 0) == process, "wait for", "another process");
  CHECK(status == 0, "another process failed");
}

static void run_all(const char *path, long size, int pages, int is_bare) {
  Artist *artists = make_artists(size);
  Times *times = mmap(NULL, (size_t)size * sizeof *times, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  SYSTEM_CHECK(times != MAP_FAILED, "share", "memory");
  pid_t watcher, sweeper = 0;
  IN_PROCESS(watcher, watch(path, artists, times, size));
  if (is_bare) IN_PROCESS(sweeper, sweep(path, times, size));
  delete_artists(path, artists, times, size, pages);
  await(watcher);
  if (is_bare) await(sweeper);
  print_times(times, size);
}

static void loop(const char *path, const Artist *artists, long count) {
  sqlite3 *db = open_database(path);
  sqlite3_wal_autocheckpoint(db, 1000);
  sqlite3_stmt *delete = prepare(db, "DELETE FROM album WHERE id = ?");
  double start = now();
  for (long i = 0; i < count; i++) {
    bind_text(delete, 1, artists[i / ALBUMS].albums[i % ALBUMS].text, KEY_LENGTH);
    run(delete);
  }
  printf("%f\n", now() - start);
  finalize(delete);
  close_database(db);
}

int main(int count, char **arguments) {
  const char *command = count > 1 ? arguments[1] : "";
  if (count == 5 && !strcmp(command, "load")) {
    long size = number(arguments[3]);
    load(arguments[2], make_artists(size), size, arguments[4]);
  } else if ((count == 5 || count == 6) && !strcmp(command, "run")) {
    int pages = (int)strtol(arguments[4], NULL, 10);
    run_all(arguments[2], number(arguments[3]), pages, count == 6);
  } else if (count == 5 && !strcmp(command, "loop")) {
    long deletions = number(arguments[3]), size = number(arguments[4]);
    CHECK(deletions <= size * ALBUMS, "there are fewer albums");
    loop(arguments[2], make_artists(size), deletions);
  } else {
    fprintf(stderr, "usage: latency load DB SIZE plain|keyed|swept | latency loop DB COUNT SIZE"
                    " | latency run DB SIZE PAGES [bare]\n");
    return 64;
  }
  return 0;
}
