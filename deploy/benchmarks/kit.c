// What CascadeKit is measured against: loops over the same rows that copy their text, and a bare
// client of the same protocol.
//
//   kit load DB SONGS            10,000 albums, and so many songs of theirs
//   kit read DB WHAT             the seconds of rows, objects, members, inverse or count; `members`
//                                also reads what the objects have, as whoever makes a structure must
//   kit writes SOCKET COUNT WRITERS
//                                the percentiles of the time to a receipt in milliseconds, and the
//                                writes in a second
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench.h"

enum { ALBUMS = 10000, COLUMNS = 5, CALLS = 20, MESSAGE = 4096, MOST_WRITERS = 256 };

// Rows

static void load(const char *path, long songs) {
  sqlite3 *db = open_as_application(path);
  execute(db,
          "CREATE TABLE album(id TEXT PRIMARY KEY, title TEXT NOT NULL);"
          "CREATE TABLE song(id TEXT PRIMARY KEY, title TEXT NOT NULL, year INTEGER NOT NULL,"
          "  album TEXT NOT NULL);"
          "CREATE INDEX song_album ON song(album);"
          "BEGIN");
  sqlite3_stmt *album = prepare(db, "INSERT INTO album VALUES(?1, 'Pastel Blues')");
  sqlite3_stmt *song = prepare(db, "INSERT INTO song VALUES(?1, 'Sinnerman ' || ?2, 1900 + ?2 % 100, ?3)");
  Key *albums = allocate(ALBUMS, sizeof *albums), key;
  for (long i = 0; i < ALBUMS; i++) {
    random_key(&albums[i], KEY_LENGTH);
    bind_text(album, 1, albums[i].text, KEY_LENGTH);
    run(album);
  }
  for (long i = 0; i < songs; i++) {
    random_key(&key, KEY_LENGTH);
    bind_text(song, 1, key.text, KEY_LENGTH);
    bind_integer(song, 2, i);
    bind_text(song, 3, albums[i % ALBUMS].text, KEY_LENGTH);
    run(song);
  }
  finalize(album);
  finalize(song);
  execute(db, "COMMIT");
  close_database(db);
}

typedef struct {
  char *texts[COLUMNS];
  int64_t numbers[COLUMNS];
} Copy;

static void copy_row(sqlite3_stmt *statement, Copy *copy) {
  for (int i = 0; i < sqlite3_column_count(statement); i++) {
    if (sqlite3_column_type(statement, i) == SQLITE_TEXT) {
      copy->texts[i] = strdup((const char *)sqlite3_column_text(statement, i));
    } else {
      copy->numbers[i] = sqlite3_column_int64(statement, i);
    }
  }
}

// Reads a flat object, as Cascade stores it: its texts are copied, its numbers read.
static void copy_members(const char *json, Copy *copy) {
  for (int i = 1; i < COLUMNS && (json = strstr(json, "\":")); i++) {
    json += 2;
    if (*json != '"') {
      copy->numbers[i] = strtoll(json, NULL, 10);
      continue;
    }
    const char *end = ++json;
    while (*end && *end != '"') end += *end == '\\' ? 2 : 1;
    copy->texts[i] = strndup(json, end - json);
    json = end;
  }
}

static void copy_object(sqlite3_stmt *statement, Copy *copy) {
  copy->texts[0] = strdup((const char *)sqlite3_column_text(statement, 0));
  copy_members((const char *)sqlite3_column_text(statement, 1), copy);
}

// All rows are in memory at the end, as they are on the other side.
static void copy_all_by(void (*copy)(sqlite3_stmt *, Copy *), sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = prepare(db, sql);
  size_t count = 0, limit = 1024;
  Copy *copies = allocate(limit, sizeof *copies);
  while (sqlite3_step(statement) == SQLITE_ROW) {
    if (count == limit) CHECK(copies = realloc(copies, (limit *= 2) * sizeof *copies), "memory");
    memset(&copies[count], 0, sizeof *copies);
    copy(statement, &copies[count++]);
  }
  CHECK(count, "no rows: %s", sql);
  finalize(statement);
}

static void copy_all(sqlite3 *db, const char *sql) { copy_all_by(copy_row, db, sql); }

static void count_often(sqlite3 *db) {
  for (int i = 0; i < CALLS; i++) copy_all(db, "SELECT count(*) FROM song WHERE year > 1950");
}

static void read_once(sqlite3 *db, const char *what) {
  if (!strcmp(what, "rows")) {
    copy_all(db, "SELECT id, title, year, album FROM song");
  } else if (!strcmp(what, "objects")) {
    copy_all(db, "SELECT key, value FROM cascade_object WHERE collection = 'things'");
  } else if (!strcmp(what, "members")) {
    copy_all_by(copy_object, db,
                "SELECT key, value FROM cascade_object WHERE collection = 'things'");
  } else if (!strcmp(what, "inverse")) {
    copy_all(db, "SELECT some.id, song.id, song.title, song.year, song.album "
                 "FROM (SELECT id FROM album ORDER BY id LIMIT 1000) AS some "
                 "JOIN song ON song.album = some.id");
  } else {
    count_often(db);
  }
}

static void read_rows(const char *path, const char *what) {
  sqlite3 *db = open_database(path);
  read_once(db, what);
  double start = now();
  read_once(db, what);
  printf("%.6f\n", now() - start);
}

// Writes

typedef struct {
  const char *socket;
  long count;
  double *milliseconds;
} Writer;

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  CHECK(strlen(path) < sizeof address.sun_path, "the path of the socket is too long");
  strcpy(address.sun_path, path);
  int client = socket(AF_UNIX, SOCK_STREAM, 0);
  SYSTEM_CHECK(client >= 0 && connect(client, (void *)&address, sizeof address) == 0, "connect", path);
  return client;
}

static void base64(const char *text, char *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t length = strlen(text);
  for (size_t i = 0; i < length; i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; j++) bits = bits << 8 | (i + j < length ? (uint8_t)text[i + j] : 0);
    for (int j = 0; j < 4; j++) *out++ = i + j <= length ? digits[bits >> (18 - 6 * j) & 63] : '=';
  }
  *out = 0;
}

static void send_change(int client, const char *key) {
  char change[MESSAGE / 4], data[MESSAGE / 2], message[MESSAGE];
  snprintf(change, sizeof change,
           "{\"id\":\"%s\",\"changes\":[{\"put\":[\"albums\",\"%s\"],"
           "\"value\":{\"title\":\"Pastel Blues\"}}]}", key, key);
  base64(change, data);
  int length = snprintf(message, sizeof message,
                        "{\"method\":\"io.cascaded.Control.Apply\",\"more\":true,"
                        "\"parameters\":{\"name\":\"%s.json\",\"data\":\"%s\"}}", key, data);
  SYSTEM_CHECK(write(client, message, length + 1) == length + 1, "write to", "the socket");
}

// Replies that tell why it waits have more behind them.
static void await_receipt(int client) {
  char reply[1 << 16];
  size_t length = 0;
  for (;;) {
    ssize_t count = read(client, reply + length, sizeof reply - 1 - length);
    SYSTEM_CHECK(count > 0, "read from", "the socket");
    length += count;
    reply[length] = 0;
    if (reply[length - 1]) continue;
    if (strstr(reply, "\"applied\"")) return;
    CHECK(strstr(reply, "\"continues\":true"), "not applied: %s", reply);
    length = 0;
  }
}

static void *write_all(void *argument) {
  Writer *writer = argument;
  int client = connect_to(writer->socket);
  for (long i = 0; i < writer->count; i++) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    Key key;
    pthread_mutex_lock(&lock);
    random_key(&key, KEY_LENGTH);
    pthread_mutex_unlock(&lock);
    double start = now();
    send_change(client, key.text);
    await_receipt(client);
    writer->milliseconds[i] = (now() - start) * 1000;
  }
  close(client);
  return NULL;
}

static int compare(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

static void write_beside(const char *socket, long count, long writers) {
  CHECK(writers <= MOST_WRITERS, "at most %d writers", MOST_WRITERS);
  pthread_t threads[MOST_WRITERS];
  Writer parts[MOST_WRITERS];
  double *milliseconds = allocate(count, sizeof *milliseconds);
  random_state ^= (uint64_t)(now() * 1e9);
  double start = now();
  for (long i = 0; i < writers; i++) {
    parts[i] = (Writer){socket, count / writers, milliseconds + i * (count / writers)};
    CHECK(pthread_create(&threads[i], NULL, write_all, &parts[i]) == 0, "no thread");
  }
  for (long i = 0; i < writers; i++) pthread_join(threads[i], NULL);
  double rate = (count / writers) * writers / (now() - start);
  count = count / writers * writers;
  qsort(milliseconds, count, sizeof *milliseconds, compare);
  printf("%.3f %.3f %.1f\n", milliseconds[count / 2], milliseconds[count * 99 / 100], rate);
}

int main(int count, char **arguments) {
  CHECK(count >= 4, "usage: kit load DB SONGS | read DB WHAT | writes SOCKET COUNT WRITERS");
  if (!strcmp(arguments[1], "load")) load(arguments[2], number(arguments[3]));
  else if (!strcmp(arguments[1], "read")) read_rows(arguments[2], arguments[3]);
  else if (count == 5) write_beside(arguments[2], number(arguments[3]), number(arguments[4]));
  flush_output();
  return 0;
}
