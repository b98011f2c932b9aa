# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

undo_model="
  sweeps: {},
  collections: {
    artists: { table: 'artist', key: 'id' }, albums: { table: 'album', key: 'id' },
    songs: { table: 'song', key: 'id' }, plays: { table: 'play', key: 'id' },
    reviews: { table: 'review', key: 'id' }, covers: { table: 'cover', key: 'id' } },
  relationships: [
    { name: 'artist', from: 'albums', to: 'artists', column: 'artist_id',
      inverse: { name: 'albums', deleteRule: 'cascade' } },
    { name: 'album', from: 'songs', to: 'albums', column: 'album_id',
      inverse: { name: 'songs', deleteRule: 'cascade' } },
    { name: 'song', from: 'plays', to: 'songs', column: 'song_id',
      inverse: { name: 'plays', deleteRule: 'cascade' } },
    { name: 'about', from: 'reviews', to: 'songs', column: 'song_id',
      inverse: { name: 'reviews', deleteRule: 'cascade' } },
    { name: 'cover', from: 'covers', to: 'albums', column: 'album_id',
      inverse: { name: 'covers', deleteRule: 'cascade' } } ]"

# load_undo STORE SIZE: a tree, with a review of each song and a cover of each album, which have
# every kind of value.
load_undo() {
  "$work/mapped" load "$1" "$2" plain random
  sqlite3 "$1" >/dev/null <<'END'
PRAGMA cache_size = -100000;
BEGIN;
CREATE TABLE review(id INTEGER PRIMARY KEY, song_id TEXT, stars REAL, text TEXT, author TEXT);
INSERT INTO review(song_id, stars, text)
  SELECT id, rank / 7.0, 'it''s "' || title || '"' || char(10) || char(0) || rank FROM song;
CREATE INDEX review_song ON review(song_id);
CREATE TABLE cover(id TEXT PRIMARY KEY, album_id TEXT, image BLOB) WITHOUT ROWID;
INSERT INTO cover SELECT 'cover ' || rowid, id, CAST(id AS BLOB) || x'00ff' FROM album;
CREATE INDEX cover_album ON cover(album_id);
COMMIT;
PRAGMA wal_checkpoint(TRUNCATE);
END
}

# dump STORE: what could come back, a row a line, in the order of the keys.
dump() {
  local table
  for table in album song play cover; do
    sqlite3 "$1" '.mode quote' "SELECT * FROM $table ORDER BY id"
  done
  sqlite3 "$1" '.mode quote' \
    'SELECT id, song_id, stars, hex(text), typeof(text), author FROM review ORDER BY id'
}

# run_undo BASE: the application deletes the artists, a sweep what follows, and undo brings it back.
run_undo() {
  local store=$work/ours.db reply batch begun
  cp "$1" "$store"
  start "$store" "$undo_model"
  ready "$store"
  settle
  "$work/mapped" delete "$store" >/dev/null
  sweep "$store" "$(wc -l <"$work/before")" cascade >>"$work/swept.ours"
  batch=$(sqlite3 "$store" 'SELECT max(batch) FROM cascade_trash')
  begun=$EPOCHREALTIME
  reply=$(ctl "$store" undo "$batch" 2>&1) || die "cascadectl undo $batch: $reply"
  seconds_since "$begun" >>"$work/undone.ours"
  peak >"$work/peak"
  stop
  dump "$store" | cmp - "$work/before" >&2 || die "the rows are not what they were"
  require_sound "$store"
  remove "$store"
}

bench_undo() {
  local n=${size:-100000} base=$work/base.db lock='' trash=1d
  [[ ! $only_c ]] || return 0
  [[ $("$BIN/cascadectl" --help) == *$'\n  undo '* ]] || die "this cascadectl cannot undo"
  load_undo "$base" $((n * 9 / 10))
  dump "$base" >"$work/before"
  for ((run = 0; run < runs; run++)); do run_undo "$base"; done
  printf '%-44s sweep %s s   undo %s s   (memory %s MB)\n' \
    "$(wc -l <"$work/before") rows of five tables, kept" "$(median "$work/swept.ours")" \
    "$(median "$work/undone.ours")" "$(<"$work/peak")"
  remove "$base"
}
