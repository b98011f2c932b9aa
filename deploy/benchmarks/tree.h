// A tree in four levels, artists, albums, songs and plays, with random keys.
//
// The children of one parent lie next to each other, or each child has a random parent.
#pragma once

#include "bench.h"

enum { ARTISTS, ALBUMS, SONGS, PLAYS, LEVELS };

static const struct { const char *table, *collection, *parent; } levels[LEVELS] = {
  {"artist", "artists", NULL},
  {"album", "albums", "artist"},
  {"song", "songs", "album"},
  {"play", "plays", "song"},
};

typedef struct { Key key; long parent; } Node;
typedef struct { long count[LEVELS]; Node *nodes[LEVELS]; } Tree;

static inline void count_levels(Tree *tree, long size) {
  CHECK(size >= 1000, "the tree needs at least 1000 nodes");
  tree->count[ARTISTS] = size / 1000;
  tree->count[ALBUMS] = size / 100;
  tree->count[SONGS] = size / 10;
  tree->count[PLAYS] =
    size - tree->count[ARTISTS] - tree->count[ALBUMS] - tree->count[SONGS];
}

static inline long choose_parent(long child, long children, long parents, int clustered) {
  return clustered ? child * parents / children : random_below(parents);
}

// The artists come first, so that their keys do not depend on the order of the others.
static inline Tree make_tree(long size, int clustered) {
  Tree tree;
  count_levels(&tree, size);
  for (int level = 0; level < LEVELS; level++) {
    long count = tree.count[level];
    tree.nodes[level] = allocate((size_t)count, sizeof(Node));
    for (long i = 0; i < count; i++) {
      Node *node = &tree.nodes[level][i];
      random_key(&node->key, KEY_LENGTH);
      if (level > 0) node->parent = choose_parent(i, count, tree.count[level - 1], clustered);
    }
  }
  return tree;
}
