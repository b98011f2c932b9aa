# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

reach_model="
  sweeps: {},
  roots: ['albums'],
  collections: { albums: { table: 'album', key: 'id' }, items: { table: 'item', key: 'id' } },
  relationships: [
    { name: 'first', from: 'albums', to: 'items', column: 'first' },
    { name: 'next', from: 'items', to: 'items', column: 'next' },
    { name: 'other', from: 'items', to: 'items', column: 'other' } ]"

# load_reach STORE ITEMS: half of them a tree below an album; the others in rings of ten that nothing
# leads to, each of which leads to one more.
load_reach() {
  sqlite3 "$1" >/dev/null <<END
PRAGMA journal_mode = wal;
BEGIN;
CREATE TABLE album(id INTEGER PRIMARY KEY, first INTEGER);
CREATE TABLE item(id INTEGER PRIMARY KEY, next INTEGER, other INTEGER, text TEXT);
INSERT INTO album VALUES (1, 1);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2 / 2)
  INSERT INTO item SELECT i, iif(2 * i <= $2 / 2, 2 * i, NULL),
    iif(2 * i + 1 <= $2 / 2, 2 * i + 1, NULL), 'item number ' || i FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $2 / 2)
  INSERT INTO item SELECT $2 / 2 + 1 + i, $2 / 2 + 1 + i / 10 * 10 + (i + 1) % 10,
    iif(i % 10, NULL, $2 / 2 + 1 + i * 2 + 10), 'ring number ' || i / 10 FROM n;
CREATE INDEX item_next ON item(next);
CREATE INDEX item_other ON item(other);
CREATE INDEX album_first ON album(first);
COMMIT;
PRAGMA wal_checkpoint(TRUNCATE);
END
  "$work/writer" prepare "$1"
}

# What an application would write: one statement, which knows every way.
collect_by_hand() {
  sqlite3 -cmd '.timeout 60000' "$1" '
    WITH RECURSIVE reached(id) AS (
      SELECT first FROM album
      UNION SELECT i.next FROM reached JOIN item AS i USING(id)
      UNION SELECT i.other FROM reached JOIN item AS i USING(id))
    DELETE FROM item WHERE id NOT IN (SELECT id FROM reached WHERE id IS NOT NULL)'
}

# reach_by_hand NAME [PAUSE]: with a pause, beside a writer.
reach_by_hand() {
  local store=$work/c.db begun
  cp "$work/reach.db" "$store"
  settle
  [[ ! ${2-} ]] || start_writer "$store" "$2"
  begun=$EPOCHREALTIME
  collect_by_hand "$store"
  seconds_since "$begun" >>"$work/$1.c"
  [[ ! ${2-} ]] || stop_writer "$1-theirs"
  remove "$store"
}

# reach_swept NAME ITEMS [PAUSE]
reach_swept() {
  local store=$work/ours.db
  cp "$work/reach.db" "$store"
  start "$store" "$reach_model"
  ready "$store"
  settle
  [[ ! ${3-} ]] || start_writer "$store" "$3"
  sweep "$store" $(($2 / 2)) unreachable >>"$work/$1.ours"
  [[ ! ${3-} ]] || stop_writer "$1-ours"
  echo "   memory $(peak) MB" >"$work/$1.memory"
  stop
  require_sound "$store"
  remove "$store"
}

# compare_reach NAME ITEMS TITLE [PAUSE]
compare_reach() {
  for ((run = 0; run < runs; run++)); do
    reach_by_hand "$1" "${4-}"
    [[ $only_c ]] || reach_swept "$1" "$2" "${4-}"
  done
  printf '%-44s by hand %s s' "$3" "$(median "$work/$1.c")"
  [[ $only_c ]] || printf '   cascaded %s s%s' "$(median "$work/$1.ours")" "$(<"$work/$1.memory")"
  echo
}

bench_reach() {
  local n=$((${size:-200000} / 20 * 20)) lock=none trash=0
  load_reach "$work/reach.db" "$n"
  compare_reach reach-free "$n" "half of $n items, no lock budget"
  lock=''
  compare_reach reach "$n" 'default limits'
  compare_reach reach-writer "$n" 'beside a writer every 2 ms' 2000
  show_latency reach-writer-theirs '  its commits beside the statement'
  if [[ ! $only_c ]]; then
    show_latency reach-writer-ours '  beside the sweep'
    bound '    p99' "$(latency reach-writer-ours 2)" ms 25
    bound '    max' "$(longest reach-writer-ours)" ms 100
  fi
  remove "$work/reach.db"
}
