// 1,000,000 manual edges: the NDJSON that the daemon reads, and the bare loop it is compared with.
//
//   edges generate SIZE ORDER >FILE    the change file
//   edges load DB SIZE ORDER           inserts the same rows, prints the seconds it took
//
// The loop knows every row beforehand: ids are assigned, names are numbers, nothing is looked up.
// The edges of one source come one after the other, or all edges in random order.
#include "bench.h"

enum { EDGES_PER_SONG = 10, EDGES_PER_ALBUM = 50 };
enum { SONGS = 1, ALBUMS = 2 };

typedef struct { int64_t source, destination; int name, rules; } Edge;

typedef struct {
  long songs, albums, edges;
  Key *keys;  // by id - 1: the songs, then the albums
  Edge *edge;
} Graph;

static const char *const names[] = {"album", "single", "bonusTrackOf", "sampledBy"};
enum { NAMES = sizeof names / sizeof *names };

static const struct { int bits; const char *text; } rules[] = {
  {DELETE_SOURCE_IF_DESTINATION_DELETED, "deleteSourceIfDestinationDeleted"},
  {DELETE_DESTINATION_IF_SOURCE_DELETED, "deleteDestinationIfSourceDeleted"},
  {DELETE_DESTINATION_IF_ALL_SOURCES_DELETED, "deleteDestinationIfAllSourcesDeleted"},
};
enum { RULES = sizeof rules / sizeof *rules };

static void shuffle(Edge *edge, long count) {
  for (long i = count - 1; i > 0; i--) {
    long j = random_below(i + 1);
    Edge other = edge[i];
    edge[i] = edge[j];
    edge[j] = other;
  }
}

// The edges of a song go to consecutive albums from a random one on, so that no two are the same.
static void make_edges(Graph *graph) {
  long first = 0;
  for (long i = 0; i < graph->edges; i++) {
    long n = i % EDGES_PER_SONG;
    if (n == 0) first = random_below(graph->albums);
    long kind = random_below(RULES);
    graph->edge[i] = (Edge){
      .source = i / EDGES_PER_SONG + 1,
      .destination = graph->songs + (first + n) % graph->albums + 1,
      .name = (int)random_below(NAMES),
      .rules = (int)kind,
    };
  }
}

static Graph make_graph(long size, int clustered) {
  Graph graph = {
    .songs = (size + EDGES_PER_SONG - 1) / EDGES_PER_SONG,
    .albums = size / EDGES_PER_ALBUM + EDGES_PER_SONG,
    .edges = size,
  };
  graph.keys = allocate((size_t)(graph.songs + graph.albums), sizeof *graph.keys);
  graph.edge = allocate((size_t)size, sizeof *graph.edge);
  for (long i = 0; i < graph.songs; i++) random_key(&graph.keys[i], KEY_LENGTH);
  for (long i = 0; i < graph.albums; i++)
    random_key(&graph.keys[graph.songs + i], 20 + (int)random_below(KEY_LENGTH - 20 + 1));
  make_edges(&graph);
  if (!clustered) shuffle(graph.edge, size);
  return graph;
}

static void generate(const Graph *graph) {
  print_header("edges");
  for (long i = 0; i < graph->songs + graph->albums; i++)
    printf("{\"put\":[\"%s\",\"%s\"]}\n", i < graph->songs ? "songs" : "albums",
           graph->keys[i].text);
  for (long i = 0; i < graph->edges; i++) {
    const Edge *edge = &graph->edge[i];
    printf("{\"link\":{\"name\":\"%s\",\"from\":[\"songs\",\"%s\"],\"to\":[\"albums\",\"%s\"],"
           "\"rules\":[\"%s\"]}}\n", names[edge->name], graph->keys[edge->source - 1].text,
           graph->keys[edge->destination - 1].text, rules[edge->rules].text);
  }
  flush_output();
}

static void insert_nodes(sqlite3 *db, const Graph *graph) {
  sqlite3_stmt *insert = prepare(db, INSERT_NODE);
  for (long i = 0; i < graph->songs + graph->albums; i++) {
    bind_integer(insert, 1, i + 1);
    bind_integer(insert, 2, i < graph->songs ? SONGS : ALBUMS);
    bind_text(insert, 3, graph->keys[i].text, -1);
    run(insert);
  }
  finalize(insert);
}

static void insert_edges(sqlite3 *db, const Graph *graph) {
  sqlite3_stmt *insert = prepare(db, INSERT_EDGE);
  for (long i = 0; i < graph->edges; i++) {
    const Edge *edge = &graph->edge[i];
    bind_integer(insert, 1, edge->source);
    bind_integer(insert, 2, edge->name + 1);
    bind_integer(insert, 3, edge->destination);
    bind_integer(insert, 4, MANUAL);
    bind_integer(insert, 5, rules[edge->rules].bits);
    bind_integer(insert, 6, 1);
    run(insert);
  }
  finalize(insert);
}

static void load(const char *path, const Graph *graph) {
  sqlite3 *db = open_database(path);
  double start = now();
  execute(db, "BEGIN IMMEDIATE");
  insert_named(db, INSERT_COLLECTION, SONGS, "songs");
  insert_named(db, INSERT_COLLECTION, ALBUMS, "albums");
  for (int i = 0; i < NAMES; i++) insert_named(db, INSERT_NAME, i + 1, names[i]);
  insert_nodes(db, graph);
  insert_edges(db, graph);
  execute(db, "COMMIT");
  printf("%.4f\n", now() - start);
  close_database(db);
}

int main(int count, char **arguments) {
  const char *command = count > 1 ? arguments[1] : "";
  if (count == 4 && !strcmp(command, "generate")) {
    Graph graph = make_graph(number(arguments[2]), is_clustered(arguments[3]));
    generate(&graph);
  } else if (count == 5 && !strcmp(command, "load")) {
    Graph graph = make_graph(number(arguments[3]), is_clustered(arguments[4]));
    load(arguments[2], &graph);
  } else {
    fprintf(stderr, "usage: edges generate SIZE ORDER | edges load DB SIZE ORDER\n");
    return 64;
  }
  return 0;
}
