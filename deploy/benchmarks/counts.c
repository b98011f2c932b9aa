// Posts that share photos, each photo to go with the last post that shows it.
//
//   counts load DB SIZE COUNTED [BLOGS]
//                           SIZE posts, a fourth as many photos, and so many blogs that have the posts.
//                           COUNTED is "looking", by triggers that look for another post, or
//                           "counting", by triggers that keep a count, both with foreign keys to the
//                           blogs; "idle", by a trigger that does nothing; or "plain"
//   counts delete DB SHARE  deletes "all" posts, "half" of them, or the "blogs"; prints the seconds
#include "bench.h"

// What an application may do by itself.
typedef struct { const char *name, *column, *triggers; } Way;

static const Way ways[] = {
  {"plain", "", ""},
  {"looking", "",
   "CREATE TRIGGER post_deleted AFTER DELETE ON post BEGIN"
   " DELETE FROM photo WHERE id = OLD.photo_id"
   "  AND NOT EXISTS (SELECT 1 FROM post WHERE photo_id = OLD.photo_id);"
   "END"},
  {"counting", ", posts INTEGER NOT NULL DEFAULT 0",
   "UPDATE photo SET posts = (SELECT count(*) FROM post WHERE photo_id = photo.id);"
   "CREATE TRIGGER post_deleted AFTER DELETE ON post BEGIN"
   " UPDATE photo SET posts = posts - 1 WHERE id = OLD.photo_id;"
   " DELETE FROM photo WHERE id = OLD.photo_id AND posts = 0;"
   "END"},
  {"idle", "", "CREATE TRIGGER post_deleted AFTER DELETE ON post BEGIN SELECT 1; END"},
};

static const Way *find_way(const char *name) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (!strcmp(name, ways[i].name)) return &ways[i];
  CHECK(0, "no way to count: '%s'", name);
  return NULL;
}

static void insert_photos(sqlite3 *db, const Key *photos, long size) {
  sqlite3_stmt *insert = prepare(db, "INSERT INTO photo(id, title, added) VALUES (?, ?, ?)");
  char title[40];
  for (long i = 0; i < size; i++) {
    bind_text(insert, 1, photos[i].text, KEY_LENGTH);
    bind_text(insert, 2, title, snprintf(title, sizeof title, "photo number %07ld", i));
    bind_integer(insert, 3, 1700000000 + i);
    run(insert);
  }
  finalize(insert);
}

static void make_blogs(sqlite3 *db, long blogs, const Way *way) {
  if (!blogs) return;
  execute(db, "CREATE TABLE blog(id INTEGER PRIMARY KEY, title TEXT NOT NULL)");
  execute(db, *way->triggers
                ? "ALTER TABLE post ADD COLUMN blog_id INTEGER REFERENCES blog ON DELETE CASCADE"
                : "ALTER TABLE post ADD COLUMN blog_id INTEGER");
  execute(db, "CREATE INDEX post_blog ON post(blog_id)");
  sqlite3_stmt *insert = prepare(db, "INSERT INTO blog VALUES (?, 'a blog')");
  for (long i = 0; i < blogs; i++) {
    bind_integer(insert, 1, i);
    run(insert);
  }
  finalize(insert);
}

static void insert_posts(sqlite3 *db, const Key *photos, long size, long blogs) {
  sqlite3_stmt *insert = prepare(db, blogs ? "INSERT INTO post VALUES (?, ?, ?, ?, ?)"
                                           : "INSERT INTO post VALUES (?, ?, ?, ?)");
  char title[40];
  for (long i = 0; i < size; i++) {
    Key key;
    random_key(&key, KEY_LENGTH);
    bind_text(insert, 1, key.text, KEY_LENGTH);
    bind_text(insert, 2, photos[random_below(size / 4)].text, KEY_LENGTH);
    bind_text(insert, 3, title, snprintf(title, sizeof title, "post number %07ld", i));
    bind_integer(insert, 4, random_below(2));
    if (blogs) bind_integer(insert, 5, random_below(blogs));
    run(insert);
  }
  finalize(insert);
}

static void make_tables(sqlite3 *db, const Way *way) {
  char sql[400];
  snprintf(sql, sizeof sql,
           "CREATE TABLE photo(id TEXT PRIMARY KEY, title TEXT NOT NULL, added INTEGER NOT NULL%s);"
           "CREATE TABLE post(id TEXT PRIMARY KEY, photo_id TEXT, title TEXT NOT NULL,"
           " draft INTEGER NOT NULL);"
           "CREATE INDEX post_photo ON post(photo_id)", way->column);
  execute(db, sql);
}

static void load(const char *path, long size, const Way *way, long blogs) {
  Key *photos = allocate((size_t)size / 4, sizeof(Key));
  sqlite3 *db = open_as_application(path);
  execute(db, "PRAGMA cache_size = -500000; BEGIN");
  make_tables(db, way);
  for (long i = 0; i < size / 4; i++) random_key(&photos[i], KEY_LENGTH);
  insert_photos(db, photos, size / 4);
  make_blogs(db, blogs, way);
  insert_posts(db, photos, size, blogs);
  execute(db, way->triggers);
  execute(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  close_database(db);
  free(photos);
}

static const char *statement(const char *share) {
  if (!strcmp(share, "all")) return "DELETE FROM post";
  if (!strcmp(share, "half")) return "DELETE FROM post WHERE draft";
  CHECK(!strcmp(share, "blogs"), "no share: '%s'", share);
  return "DELETE FROM blog";
}

static void delete_share(const char *path, const char *sql) {
  sqlite3 *db = open_as_application(path);
  execute(db, "PRAGMA foreign_keys = ON");
  double start = now();
  execute(db, "BEGIN IMMEDIATE");
  execute(db, sql);
  execute(db, "COMMIT");
  printf("%.4f\n", now() - start);
  close_database(db);
}

int main(int count, char **arguments) {
  const char *command = count > 1 ? arguments[1] : "";
  if ((count == 5 || count == 6) && !strcmp(command, "load")) {
    const Way *way = find_way(arguments[4]);
    long size = number(arguments[3]);
    CHECK(size >= 4, "there must be a photo");
    load(arguments[2], size, way, count == 6 ? number(arguments[5]) : 0);
  } else if (count == 4 && !strcmp(command, "delete")) {
    delete_share(arguments[2], statement(arguments[3]));
  } else {
    fprintf(stderr, "usage: counts load DB SIZE plain|idle|looking|counting [BLOGS]"
                    " | counts delete DB all|half|blogs\n");
    return 64;
  }
  return 0;
}
