// A tree of 1,000,000 nodes in four levels, deleted by its roots: the change files that the daemon
// reads, and the same graph under foreign keys.
//
//   cascade generate SIZE ORDER >FILE   puts every node, with its edge to its parent
//   cascade roots SIZE >FILE            deletes the artists
//   cascade load DB SIZE ORDER          the same graph as four tables
//   cascade delete DB                   deletes the artists, prints the seconds it took
#include "tree.h"

static int payload(char *text, size_t size, int level, long i) {
  return snprintf(text, size, "{\"title\":\"%s number %07ld\"}", levels[level].table, i);
}

static void generate_level(const Tree *tree, int level) {
  char value[80];
  for (long i = 0; i < tree->count[level]; i++) {
    const Node *node = &tree->nodes[level][i];
    payload(value, sizeof value, level, i);
    printf("{\"put\":[\"%s\",\"%s\"],\"value\":%s", levels[level].collection, node->key.text,
           value);
    if (level > 0)
      printf(",\"edges\":[{\"name\":\"%s\",\"to\":[\"%s\",\"%s\"],"
             "\"rules\":[\"deleteSourceIfDestinationDeleted\"]}]", levels[level].parent,
             levels[level - 1].collection, tree->nodes[level - 1][node->parent].key.text);
    puts("}");
  }
}

static void generate(const Tree *tree) {
  print_header("tree");
  for (int level = 0; level < LEVELS; level++) generate_level(tree, level);
  flush_output();
}

static void generate_roots(const Tree *tree) {
  printf("{\"id\":\"roots\",\"author\":\"bench\",\"changes\":[");
  for (long i = 0; i < tree->count[ARTISTS]; i++)
    printf("%s\n{\"delete\":[\"%s\",\"%s\"]}", i ? "," : "", levels[ARTISTS].collection,
           tree->nodes[ARTISTS][i].key.text);
  puts("\n]}");
  flush_output();
}

static void create_tables(sqlite3 *db) {
  char sql[300];
  execute(db, "CREATE TABLE artist(id TEXT PRIMARY KEY, value TEXT)");
  for (int level = 1; level < LEVELS; level++) {
    const char *table = levels[level].table, *parent = levels[level].parent;
    snprintf(sql, sizeof sql,
             "CREATE TABLE %s(id TEXT PRIMARY KEY, value TEXT,"
             " %s_id TEXT REFERENCES %s(id) ON DELETE CASCADE);"
             "CREATE INDEX %s_%s ON %s(%s_id)",
             table, parent, parent, table, parent, table, parent);
    execute(db, sql);
  }
}

static void load_level(sqlite3 *db, const Tree *tree, int level) {
  char sql[80], value[80];
  snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?, ?%s)", levels[level].table,
           level ? ", ?" : "");
  sqlite3_stmt *insert = prepare(db, sql);
  for (long i = 0; i < tree->count[level]; i++) {
    const Node *node = &tree->nodes[level][i];
    bind_text(insert, 1, node->key.text, -1);
    bind_text(insert, 2, value, payload(value, sizeof value, level, i));
    if (level > 0) bind_text(insert, 3, tree->nodes[level - 1][node->parent].key.text, -1);
    run(insert);
  }
  finalize(insert);
}

static void load(const char *path, const Tree *tree) {
  sqlite3 *db = open_database(path);
  execute(db, "PRAGMA cache_size = -500000; BEGIN");
  create_tables(db);
  for (int level = 0; level < LEVELS; level++) load_level(db, tree, level);
  execute(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  close_database(db);
}

static void delete_artists(const char *path) {
  sqlite3 *db = open_database(path);
  execute(db, "PRAGMA foreign_keys = ON");
  double start = now();
  execute(db, "BEGIN IMMEDIATE; DELETE FROM artist; COMMIT");
  printf("%.4f\n", now() - start);
  close_database(db);
}

int main(int count, char **arguments) {
  const char *command = count > 1 ? arguments[1] : "";
  if (count == 4 && !strcmp(command, "generate")) {
    Tree tree = make_tree(number(arguments[2]), is_clustered(arguments[3]));
    generate(&tree);
  } else if (count == 3 && !strcmp(command, "roots")) {
    Tree tree = make_tree(number(arguments[2]), 0);
    generate_roots(&tree);
  } else if (count == 5 && !strcmp(command, "load")) {
    Tree tree = make_tree(number(arguments[3]), is_clustered(arguments[4]));
    load(arguments[2], &tree);
  } else if (count == 3 && !strcmp(command, "delete")) {
    delete_artists(arguments[2]);
  } else {
    fprintf(stderr, "usage: cascade generate SIZE ORDER | cascade roots SIZE\n"
                    "       cascade load DB SIZE ORDER | cascade delete DB\n");
    return 64;
  }
  return 0;
}
