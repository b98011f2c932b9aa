// 10,000 files of one change each: a node put with a small value and one edge to a node that is
// there already.
//
//   files generate COUNT TMP NEW    writes every file in TMP and renames it into NEW
//   files albums COUNT >FILE        the change file that puts the destinations
//   files prepare DB COUNT          the same destinations, in a database with the schema
//   files apply DB DIR GROUP        applies the files of DIR in the order of their names, GROUP to
//                                   a commit, unlinks them, prints the seconds it took
//
// `apply` takes every field from the file, but trusts it: no check of JSON, rules or duplicates.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "bench.h"

enum { FILES_PER_ALBUM = 20, FILE_LIMIT = 4096 };
enum { SONGS = 1, ALBUMS = 2, EDGE_NAME = 1 };

typedef struct { char name[32]; } Name;
typedef struct { Name *names; long count; } Listing;
typedef struct { const char *start; long length; } Text;

// What a file says.
typedef struct {
  Text id, author, collection, key, value, name, to_collection, to_key;
  int rules;
} Put;

typedef struct {
  sqlite3 *db;
  sqlite3_stmt *begin, *commit, *find_node, *insert_node, *insert_edge, *insert_ledger;
  int64_t next_node;
} Store;

static long album_count(long files) { return files / FILES_PER_ALBUM + 1; }

static Key *make_albums(long files) {
  Key *albums = allocate((size_t)album_count(files), sizeof *albums);
  for (long i = 0; i < album_count(files); i++) random_key(&albums[i], KEY_LENGTH);
  return albums;
}

// Generating

static void print_albums(long files) {
  const Key *albums = make_albums(files);
  print_header("albums");
  for (long i = 0; i < album_count(files); i++)
    printf("{\"put\":[\"albums\",\"%s\"]}\n", albums[i].text);
  flush_output();
}

static void print_change(FILE *file, long i, const Key *album) {
  Key id, song;
  random_key(&id, KEY_LENGTH);
  random_key(&song, KEY_LENGTH);
  fprintf(file,
          "{\"id\":\"%s\",\"author\":\"bench/1.0\",\"changes\":[{\"put\":[\"songs\",\"%s\"],"
          "\"value\":{\"title\":\"Song number %07ld\",\"seconds\":%ld},"
          "\"edges\":[{\"name\":\"album\",\"to\":[\"albums\",\"%s\"],"
          "\"rules\":[\"deleteSourceIfDestinationDeleted\"]}]}]}\n",
          id.text, song.text, i, 60 + i % 400, album->text);
}

static void generate(long count, const char *tmp, const char *new) {
  const Key *albums = make_albums(count);
  char written[4096], queued[4096];
  for (long i = 0; i < count; i++) {
    snprintf(written, sizeof written, "%s/%08ld.json", tmp, i);
    snprintf(queued, sizeof queued, "%s/%08ld.json", new, i);
    FILE *file = fopen(written, "w");
    SYSTEM_CHECK(file, "open", written);
    print_change(file, i, &albums[random_below(album_count(count))]);
    SYSTEM_CHECK(fclose(file) == 0, "write", written);
    SYSTEM_CHECK(rename(written, queued) == 0, "rename", written);
  }
}

static void prepare_store(const char *path, long count) {
  const Key *albums = make_albums(count);
  sqlite3 *db = open_database(path);
  execute(db, "BEGIN");
  insert_named(db, INSERT_COLLECTION, SONGS, "songs");
  insert_named(db, INSERT_COLLECTION, ALBUMS, "albums");
  insert_named(db, INSERT_NAME, EDGE_NAME, "album");
  sqlite3_stmt *insert = prepare(db, INSERT_NODE);
  for (long i = 0; i < album_count(count); i++) {
    bind_integer(insert, 1, i + 1);
    bind_integer(insert, 2, ALBUMS);
    bind_text(insert, 3, albums[i].text, -1);
    run(insert);
  }
  finalize(insert);
  execute(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  close_database(db);
}

// Reading

static int by_name(const void *a, const void *b) {
  return strcmp(((const Name *)a)->name, ((const Name *)b)->name);
}

static Listing list(const char *path) {
  Listing listing = {0};
  long room = 0;
  DIR *directory = opendir(path);
  SYSTEM_CHECK(directory, "open", path);
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (entry->d_name[0] == '.') continue;
    if (listing.count == room) {
      room = room ? 2 * room : 1024;
      listing.names = realloc(listing.names, (size_t)room * sizeof *listing.names);
      CHECK(listing.names, "%ld names", room);
    }
    int length = snprintf(listing.names[listing.count++].name, sizeof(Name), "%s", entry->d_name);
    CHECK(length < (int)sizeof(Name), "the name %s is too long", entry->d_name);
  }
  closedir(directory);
  qsort(listing.names, (size_t)listing.count, sizeof *listing.names, by_name);
  return listing;
}

static void read_file(int directory, const char *name, char *text) {
  int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  SYSTEM_CHECK(file >= 0, "open", name);
  ssize_t length = read(file, text, FILE_LIMIT);
  SYSTEM_CHECK(length >= 0, "read", name);
  CHECK(length < FILE_LIMIT, "%s is too long", name);
  close(file);
  text[length] = 0;
}

// The string after the next quotation mark at or behind `*cursor`. The files have no escapes.
static Text next_string(const char **cursor) {
  const char *open = strchr(*cursor, '"');
  const char *end = open ? strchr(open + 1, '"') : NULL;
  CHECK(end, "a string is missing before: %s", *cursor);
  *cursor = end + 1;
  return (Text){open + 1, end - open - 1};
}

static int equals(Text text, const char *other) {
  return strlen(other) == (size_t)text.length && !memcmp(text.start, other, (size_t)text.length);
}

static void expect(const char **cursor, const char *name) {
  CHECK(equals(next_string(cursor), name), "\"%s\" is missing before: %s", name, *cursor);
}

static Text next_member(const char **cursor, const char *name) {
  expect(cursor, name);
  return next_string(cursor);
}

static Text next_object(const char **cursor) {
  const char *open = strchr(*cursor, '{');
  const char *end = open ? strchr(open, '}') : NULL;
  CHECK(end, "an object is missing before: %s", *cursor);
  *cursor = end + 1;
  return (Text){open, end + 1 - open};
}

static int rule(Text name) {
  if (equals(name, "deleteSourceIfDestinationDeleted"))
    return DELETE_SOURCE_IF_DESTINATION_DELETED;
  CHECK(0, "unknown rule %.*s", (int)name.length, name.start);
}

static Put parse(const char *cursor) {
  Put put;
  put.id = next_member(&cursor, "id");
  put.author = next_member(&cursor, "author");
  expect(&cursor, "changes");
  put.collection = next_member(&cursor, "put");
  put.key = next_string(&cursor);
  expect(&cursor, "value");
  put.value = next_object(&cursor);
  expect(&cursor, "edges");
  put.name = next_member(&cursor, "name");
  put.to_collection = next_member(&cursor, "to");
  put.to_key = next_string(&cursor);
  put.rules = rule(next_member(&cursor, "rules"));
  return put;
}

// Applying

static int64_t collection(Text name) {
  if (equals(name, "songs")) return SONGS;
  CHECK(equals(name, "albums"), "unknown collection %.*s", (int)name.length, name.start);
  return ALBUMS;
}

static int64_t edge_name(Text name) {
  CHECK(equals(name, "album"), "unknown name %.*s", (int)name.length, name.start);
  return EDGE_NAME;
}

static int64_t fingerprint(const char *text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
  return (int64_t)hash;
}

static int64_t query_integer(sqlite3_stmt *statement) {
  CHECK(sqlite3_step(statement) == SQLITE_ROW, "no row for: %s", sqlite3_sql(statement));
  int64_t value = sqlite3_column_int64(statement, 0);
  sqlite3_reset(statement);
  return value;
}

static Store open_store(const char *path) {
  Store store = {.db = open_database(path)};
  store.begin = prepare(store.db, "BEGIN IMMEDIATE");
  store.commit = prepare(store.db, "COMMIT");
  store.find_node = prepare(store.db, "SELECT id FROM cascade_node WHERE collection=? AND key=?");
  store.insert_node = prepare(store.db, INSERT_NODE);
  store.insert_edge = prepare(store.db, INSERT_EDGE);
  store.insert_ledger = prepare(
    store.db, "INSERT INTO cascade_ledger"
              "(id, fingerprint, author, at, outcome, part, line, deleted) "
              "VALUES (?, ?, ?, ?, 'applied', 0, 0, 0)");
  sqlite3_stmt *last = prepare(store.db, "SELECT max(id) FROM cascade_node");
  store.next_node = query_integer(last) + 1;
  finalize(last);
  return store;
}

static void close_store(Store *store) {
  finalize(store->begin);
  finalize(store->commit);
  finalize(store->find_node);
  finalize(store->insert_node);
  finalize(store->insert_edge);
  finalize(store->insert_ledger);
  close_database(store->db);
}

static void apply(Store *store, const char *text) {
  Put put = parse(text);
  int64_t source = store->next_node++;

  bind_integer(store->find_node, 1, collection(put.to_collection));
  bind_text(store->find_node, 2, put.to_key.start, put.to_key.length);
  int64_t destination = query_integer(store->find_node);

  bind_integer(store->insert_node, 1, source);
  bind_integer(store->insert_node, 2, collection(put.collection));
  bind_text(store->insert_node, 3, put.key.start, put.key.length);
  bind_text(store->insert_node, 4, put.value.start, put.value.length);
  run(store->insert_node);

  bind_integer(store->insert_edge, 1, source);
  bind_integer(store->insert_edge, 2, edge_name(put.name));
  bind_integer(store->insert_edge, 3, destination);
  bind_integer(store->insert_edge, 4, DECLARED);
  bind_integer(store->insert_edge, 5, put.rules);
  bind_integer(store->insert_edge, 6, source);
  run(store->insert_edge);

  bind_text(store->insert_ledger, 1, put.id.start, put.id.length);
  bind_integer(store->insert_ledger, 2, fingerprint(text));
  bind_text(store->insert_ledger, 3, put.author.start, put.author.length);
  bind_integer(store->insert_ledger, 4, time(NULL));
  run(store->insert_ledger);
}

static void apply_group(Store *store, int directory, const Name *names, long count) {
  char text[FILE_LIMIT];
  run(store->begin);
  for (long i = 0; i < count; i++) {
    read_file(directory, names[i].name, text);
    apply(store, text);
  }
  run(store->commit);
  for (long i = 0; i < count; i++)
    SYSTEM_CHECK(unlinkat(directory, names[i].name, 0) == 0, "unlink", names[i].name);
}

static void apply_files(const char *path, const char *spool, long group) {
  Store store = open_store(path);
  double start = now();
  int directory = open(spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  SYSTEM_CHECK(directory >= 0, "open", spool);
  Listing files = list(spool);
  for (long done = 0; done < files.count; done += group) {
    long left = files.count - done;
    apply_group(&store, directory, files.names + done, left < group ? left : group);
  }
  printf("%.4f\n", now() - start);
  close(directory);
  close_store(&store);
}

int main(int count, char **arguments) {
  const char *command = count > 1 ? arguments[1] : "";
  if (count == 5 && !strcmp(command, "generate")) {
    generate(number(arguments[2]), arguments[3], arguments[4]);
  } else if (count == 3 && !strcmp(command, "albums")) {
    print_albums(number(arguments[2]));
  } else if (count == 4 && !strcmp(command, "prepare")) {
    prepare_store(arguments[2], number(arguments[3]));
  } else if (count == 5 && !strcmp(command, "apply")) {
    apply_files(arguments[2], arguments[3], number(arguments[4]));
  } else {
    fprintf(stderr, "usage: files generate COUNT TMP NEW | files albums COUNT\n"
                    "       files prepare DB COUNT | files apply DB DIR GROUP\n");
    return 64;
  }
  return 0;
}
