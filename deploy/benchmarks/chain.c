// A chain of rows, each the parent of the next, deleted by its first.
//
//   chain load DB SIZE REFERENCES    REFERENCES is "keyed", with ON DELETE CASCADE, or "plain"
//   chain delete DB                  deletes the first row, prints the seconds it took; if SQLite
//                                    refuses, its reason, with exit status 3
#include "bench.h"

static void create_table(sqlite3 *db, int keyed) {
  char sql[200];
  snprintf(sql, sizeof sql,
           "CREATE TABLE node(id TEXT PRIMARY KEY, parent_id TEXT%s, title TEXT NOT NULL);"
           "CREATE INDEX node_parent ON node(parent_id)",
           keyed ? " REFERENCES node(id) ON DELETE CASCADE" : "");
  execute(db, sql);
}

static void insert_chain(sqlite3 *db, long size) {
  sqlite3_stmt *insert = prepare(db, "INSERT INTO node VALUES (?, ?, ?)");
  Key key, parent;
  char title[40];
  for (long i = 0; i < size; i++) {
    random_key(&key, KEY_LENGTH);
    bind_text(insert, 1, key.text, KEY_LENGTH);
    if (i) bind_text(insert, 2, parent.text, KEY_LENGTH);
    bind_text(insert, 3, title, snprintf(title, sizeof title, "node number %07ld", i));
    run(insert);
    parent = key;
  }
  finalize(insert);
}

static void load(const char *path, long size, int keyed) {
  sqlite3 *db = open_as_application(path);
  execute(db, "BEGIN");
  create_table(db, keyed);
  insert_chain(db, size);
  execute(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  close_database(db);
}

static int delete_first(const char *path) {
  sqlite3 *db = open_as_application(path);
  execute(db, "PRAGMA foreign_keys = ON");
  double start = now();
  int result = sqlite3_exec(db, "DELETE FROM node WHERE parent_id IS NULL", NULL, NULL, NULL);
  if (result == SQLITE_OK) printf("%.4f\n", now() - start);
  else puts(sqlite3_errmsg(db));
  close_database(db);
  return result == SQLITE_OK ? 0 : 3;
}

int main(int count, char **arguments) {
  const char *command = count > 1 ? arguments[1] : "";
  if (count == 5 && !strcmp(command, "load")) {
    int keyed = !strcmp(arguments[4], "keyed");
    CHECK(keyed || !strcmp(arguments[4], "plain"), "no references: '%s'", arguments[4]);
    load(arguments[2], number(arguments[3]), keyed);
  } else if (count == 3 && !strcmp(command, "delete")) {
    return delete_first(arguments[2]);
  } else {
    fprintf(stderr, "usage: chain load DB SIZE plain|keyed | chain delete DB\n");
    return 64;
  }
  return 0;
}
