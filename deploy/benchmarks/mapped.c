// A tree of 1,000,000 rows in four tables of an application, deleted by its artists.
//
//   mapped load DB SIZE REFERENCES ORDER   the four tables; REFERENCES is "keyed", with ON DELETE
//                                          CASCADE, or "plain"
//   mapped delete DB [STAY]                deletes the artists but for so many, prints the seconds
#include "tree.h"

// As clustered, and the keys come in the order of time, like version 7 of a UUID.
static Tree make_timed_tree(long size) {
  Tree tree = make_tree(size, 1);
  for (int level = 0; level < LEVELS; level++)
    for (long i = 0; i < tree.count[level]; i++) {
      char time[40];
      int length = snprintf(time, sizeof time, "%08lx-%04lx", 0x19a00000 + (i >> 16), i & 0xffff);
      memcpy(tree.nodes[level][i].key.text, time, (size_t)length);
    }
  return tree;
}

static void create_table(sqlite3 *db, int level, int keyed) {
  const char *table = levels[level].table, *parent = levels[level].parent;
  char sql[300], reference[100] = "";
  if (keyed)
    snprintf(reference, sizeof reference, " REFERENCES %s(id) ON DELETE CASCADE", parent);
  snprintf(sql, sizeof sql,
           "CREATE TABLE %s(id TEXT PRIMARY KEY, %s_id TEXT%s,"
           " title TEXT NOT NULL, rank INTEGER, added INTEGER NOT NULL)", table, parent, reference);
  execute(db, sql);
}

static void create_index(sqlite3 *db, int level) {
  const char *table = levels[level].table, *parent = levels[level].parent;
  char sql[100];
  snprintf(sql, sizeof sql, "CREATE INDEX %s_%s ON %s(%s_id)", table, parent, table, parent);
  execute(db, sql);
}

static void create_tables(sqlite3 *db, int keyed) {
  execute(db, "CREATE TABLE artist(id TEXT PRIMARY KEY, country TEXT,"
              " title TEXT NOT NULL, rank INTEGER, added INTEGER NOT NULL)");
  for (int level = 1; level < LEVELS; level++) create_table(db, level, keyed);
}

static void load_level(sqlite3 *db, const Tree *tree, int level) {
  char sql[80], title[40];
  snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?, ?, ?, ?, ?)", levels[level].table);
  sqlite3_stmt *insert = prepare(db, sql);
  for (long i = 0; i < tree->count[level]; i++) {
    const Node *node = &tree->nodes[level][i];
    int length = snprintf(title, sizeof title, "%s number %07ld", levels[level].table, i);
    bind_text(insert, 1, node->key.text, KEY_LENGTH);
    if (level > 0) bind_text(insert, 2, tree->nodes[level - 1][node->parent].key.text, KEY_LENGTH);
    bind_text(insert, 3, title, length);
    bind_integer(insert, 4, i % 100);
    bind_integer(insert, 5, 1700000000 + i);
    run(insert);
  }
  finalize(insert);
}

// The indexes come last, and the cache is as large as it takes: nobody measures this.
static void load(const char *path, const Tree *tree, int keyed) {
  sqlite3 *db = open_as_application(path);
  execute(db, "PRAGMA cache_size = -4000000; BEGIN");
  create_tables(db, keyed);
  for (int level = 0; level < LEVELS; level++) load_level(db, tree, level);
  for (int level = 1; level < LEVELS; level++) create_index(db, level);
  execute(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  close_database(db);
}

static void delete_artists(const char *path, long staying) {
  sqlite3 *db = open_as_application(path);
  char sql[100] = "DELETE FROM artist";
  if (staying > 0) snprintf(sql, sizeof sql, "DELETE FROM artist WHERE rowid > %ld", staying);
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
  if (count == 6 && !strcmp(command, "load")) {
    int keyed = !strcmp(arguments[4], "keyed");
    CHECK(keyed || !strcmp(arguments[4], "plain"), "no references: '%s'", arguments[4]);
    const char *order = arguments[5];
    long size = number(arguments[3]);
    int timed = !strcmp(order, "timed");
    Tree tree = timed ? make_timed_tree(size) : make_tree(size, is_clustered(order));
    load(arguments[2], &tree, keyed);
  } else if ((count == 3 || count == 4) && !strcmp(command, "delete")) {
    delete_artists(arguments[2], count == 4 ? number(arguments[3]) : 0);
  } else {
    fprintf(stderr, "usage: mapped load DB SIZE plain|keyed ORDER | mapped delete DB [STAY]\n");
    return 64;
  }
  return 0;
}
