# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

hub_model="
  sweeps: {},
  collections: { tags: { table: 'tag', key: 'id' }, posts: { table: 'post', key: 'id' } },
  relationships: [
    { name: 'tag', from: 'posts', to: 'tags', column: 'tag',
      rules: ['nullifySourceIfDestinationDeleted'] },
    { name: 'tags', from: 'posts', to: 'tags', property: 'tags', toMany: true,
      rules: ['nullifySourceIfDestinationDeleted'] } ]"

# load_hub STORE POSTS REFERENCES: each with the first tag in a column, and in a list of two.
load_hub() {
  sqlite3 "$1" >/dev/null <<END
PRAGMA journal_mode = wal;
BEGIN;
CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE post(id INTEGER PRIMARY KEY, text TEXT, tag INTEGER $3, tags TEXT);
CREATE INDEX post_tag ON post(tag);
INSERT INTO tag VALUES (1, 'all'), (2, 'some');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
  INSERT INTO post SELECT i, 'post number ' || i, 1, '[2, 1]' FROM n;
COMMIT;
PRAGMA wal_checkpoint(TRUNCATE);
END
  "$work/writer" prepare "$1"
}

# What an application would do by hand about the lists; the column is its foreign key's.
delete_hub() {
  sqlite3 -cmd '.timeout 60000' "$1" "
    PRAGMA foreign_keys = ON;
    BEGIN IMMEDIATE;
    UPDATE post SET tags = (
      SELECT json_group_array(value) FROM json_each(post.tags) WHERE value <> 1)
    WHERE EXISTS (SELECT 1 FROM json_each(post.tags) WHERE value = 1);
    DELETE FROM tag WHERE id = 1;
    COMMIT"
}

hub_by_hand() {
  local store=$work/c.db begun
  cp "$work/hub-theirs.db" "$store"
  settle
  start_writer "$store" 2000
  begun=$EPOCHREALTIME
  delete_hub "$store"
  seconds_since "$begun" >>"$work/hub.c"
  stop_writer hub-theirs
  remove "$store"
}

hub_swept() {
  local store=$work/ours.db
  cp "$work/hub-ours.db" "$store"
  start "$store" "$hub_model"
  ready "$store"
  sqlite3 -cmd '.timeout 60000' "$store" 'DELETE FROM tag WHERE id = 1'
  settle
  start_writer "$store" 2000
  sweep "$store" 0 cascade >>"$work/hub.ours"
  stop_writer hub-ours
  stop
  [[ $(sqlite3 "$store" "SELECT count(*) FROM post WHERE tag OR tags <> '[2]'") == 0 ]] ||
    die "a post still refers to the tag"
  require_sound "$store"
  remove "$store"
}

bench_hub() {
  local n=${size:-200000} lock='' trash=0
  load_hub "$work/hub-theirs.db" "$n" 'REFERENCES tag ON DELETE SET NULL'
  load_hub "$work/hub-ours.db" "$n" ''
  for ((run = 0; run < runs; run++)); do
    hub_by_hand
    [[ $only_c ]] || hub_swept
  done
  show_latency hub-theirs "a writer beside a statement, $n posts"
  if [[ ! $only_c ]]; then
    show_latency hub-ours '  beside the sweep'
    bound '    p99' "$(latency hub-ours 2)" ms 25
    bound '    max' "$(longest hub-ours)" ms 100
    printf '%-44s %s s, by hand %s s\n' '    time' "$(median "$work/hub.ours")" \
      "$(median "$work/hub.c")"
  fi
  remove "$work"/hub-{ours,theirs}.db
}
