# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

load_tree() {
  local store=$1 n=$2 how=$3
  "$work/cascade" generate "$n" "$how" >"$work/tree.ndjson"
  start "$store"
  submit "$store" "$work/tree.ndjson" "$(applied tree)" >/dev/null
  stop
  sqlite3 "$store" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
  rm "$work/tree.ndjson"
}

# Both sides are loaded once, and copied for each run.
bench_cascade() {
  local n=${size:-1000000} how=${order:-random}
  local ours=$work/ours.db theirs=$work/c.db deleted

  "$work/cascade" load "$work/tables.db" "$n" "$how"
  if [[ ! $only_c ]]; then
    load_tree "$work/tree.db" "$n" "$how"
    "$work/cascade" roots "$n" >"$work/roots.json"
    deleted="SELECT NOT EXISTS (SELECT 1 FROM cascade_node) AND ($(applied roots))"
  fi
  for ((run = 0; run < runs; run++)); do
    if [[ ! $only_c ]]; then
      cp "$work/tree.db" "$ours"
      start "$ours"
      submit "$ours" "$work/roots.json" "$deleted" >>"$work/cascade.ours"
      stop
    fi
    cp "$work/tables.db" "$theirs"
    settle
    CACHE_KIB=$cache "$work/cascade" delete "$theirs" >>"$work/cascade.c"
    remove "$ours" "$theirs"
  done
  remove "$work/tables.db" "$work/tree.db"
  report cascade "$n nodes of a tree deleted, $how" 'foreign keys' 0.8
}
