// What an application pays for our triggers: the same statements on a database with and without.
//
//   triggers load DB SIZE               two tables, with SIZE songs
//   triggers insert DB SIZE COMMITS     SIZE more songs, prints the seconds it took
//   triggers delete DB SIZE COMMITS     SIZE of the first songs, in another order
//
// COMMITS is "bulk", one for all, or "single", one for each row.
#include "bench.h"

enum { ALBUMS = 10000 };

typedef struct { Key key, album; } Song;

// The same seed gives the same songs, in the same order, however many are asked for.
static Song *make_songs(long size) {
  Key *keys = allocate(ALBUMS, sizeof(Key));
  Song *songs = allocate((size_t)size, sizeof(Song));
  for (long i = 0; i < ALBUMS; i++) random_key(&keys[i], KEY_LENGTH);
  for (long i = 0; i < size; i++) {
    random_key(&songs[i].key, KEY_LENGTH);
    songs[i].album = keys[random_below(ALBUMS)];
  }
  free(keys);
  return songs;
}

static void shuffle(Song *songs, long size) {
  for (long i = size - 1; i > 0; i--) {
    long other = random_below(i + 1);
    Song song = songs[i];
    songs[i] = songs[other];
    songs[other] = song;
  }
}

static void insert_song(sqlite3_stmt *statement, const Song *song, long i) {
  char title[32];
  int length = snprintf(title, sizeof title, "song number %07ld", i);
  bind_text(statement, 1, song->key.text, KEY_LENGTH);
  bind_text(statement, 2, song->album.text, KEY_LENGTH);
  bind_text(statement, 3, title, length);
  run(statement);
}

static void delete_song(sqlite3_stmt *statement, const Song *song, long i) {
  bind_text(statement, 1, song->key.text, KEY_LENGTH);
  run(statement);
  CHECK(sqlite3_changes(sqlite3_db_handle(statement)) == 1, "song %ld is not there", i);
}

static const char *const inserting = "INSERT INTO song VALUES(?, ?, ?)";
static const char *const deleting = "DELETE FROM song WHERE id = ?";

typedef void Step(sqlite3_stmt *, const Song *, long);

// One commit for each row, or one for all.
static double measure(const char *path, const char *sql, Step step, const Song *songs, long size,
                      int single) {
  sqlite3 *db = open_as_application(path);
  sqlite3_stmt *statement = prepare(db, sql);
  double start = now();
  if (!single) execute(db, "BEGIN");
  for (long i = 0; i < size; i++) step(statement, &songs[i], i);
  if (!single) execute(db, "COMMIT");
  double seconds = now() - start;
  finalize(statement);
  close_database(db);
  return seconds;
}

static void load(const char *path, long size) {
  sqlite3 *db = open_as_application(path);
  execute(db,
          "CREATE TABLE album(id TEXT PRIMARY KEY, title TEXT);"
          "CREATE TABLE song(id TEXT PRIMARY KEY, album_id TEXT, title TEXT);"
          "CREATE INDEX song_album ON song(album_id)");
  close_database(db);
  Song *songs = make_songs(size);
  measure(path, inserting, insert_song, songs, size, 0);
  free(songs);
}

int main(int count, char **arguments) {
  CHECK(count >= 4, "usage: triggers load|insert|delete DB SIZE [COMMITS]");
  const char *command = arguments[1], *path = arguments[2];
  long size = number(arguments[3]);
  if (!strcmp(command, "load")) return load(path, size), 0;
  CHECK(count == 5, "COMMITS is missing");
  int single = !strcmp(arguments[4], "single"), inserts = !strcmp(command, "insert");
  CHECK(single || !strcmp(arguments[4], "bulk"), "no COMMITS: '%s'", arguments[4]);
  CHECK(inserts || !strcmp(command, "delete"), "no command: '%s'", command);
  if (inserts) random_state ^= 0x696e73657274;
  Song *songs = make_songs(size);
  if (!inserts) shuffle(songs, size);
  printf("%f\n", measure(path, inserts ? inserting : deleting, inserts ? insert_song : delete_song,
                         songs, size, single));
  free(songs);
}
