# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# attach STORE RULE: the daemon attaches the tables of an application, and ends.
attach() {
  start "$1" "
  sweeps: {},
  collections: { albums: { table: 'album', key: 'id' }, songs: { table: 'song', key: 'id' } },
  relationships: [
    { name: 'album', from: 'songs', to: 'albums', column: 'album_id', rules: ['$2'] } ]"
  stop
}

# compare_triggers NAME BASE WHAT SIZE COMMITS GOAL TITLE: the same statements on a copy of the
# tables, and on one of BASE, which has triggers.
compare_triggers() {
  local base=$2 what=$3 n=$4 commits=$5 goal=$6 title=$7
  for ((run = 0; run < runs; run++)); do
    if [[ ! $only_c ]]; then
      cp "$base" "$work/ours.db"
      settle
      CACHE_KIB=$cache "$work/triggers" "$what" "$work/ours.db" "$n" "$commits" >>"$work/$1.ours"
    fi
    cp "$work/plain.db" "$work/c.db"
    settle
    CACHE_KIB=$cache "$work/triggers" "$what" "$work/c.db" "$n" "$commits" >>"$work/$1.c"
    remove "$work/ours.db" "$work/c.db"
  done
  report "$1" "$title" 'without triggers' "$goal"
}

# Where a song holds its album, a replaced song matters; where it only goes with it, it does not.
bench_triggers() {
  local n=${size:-200000} held=$work/held.db following=$work/following.db
  local few=$((n / 20))

  "$work/triggers" load "$work/plain.db" "$n"
  sqlite3 "$work/plain.db" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
  if [[ ! $only_c ]]; then
    cp "$work/plain.db" "$held"
    cp "$work/plain.db" "$following"
    attach "$held" deleteDestinationIfAllSourcesDeleted
    attach "$following" deleteSourceIfDestinationDeleted
  fi
  compare_triggers insert "$following" insert "$n" bulk 1.05 "$n inserts in one commit"
  compare_triggers insert1 "$following" insert "$few" single 1.05 "$few inserts, a commit each"
  compare_triggers replace "$held" insert "$n" bulk 2 "$n inserts that might replace"
  compare_triggers replace1 "$held" insert "$few" single 1.1 "$few of them, a commit each"
  compare_triggers delete "$held" delete "$n" bulk 1.3 "$n deletes in one commit"
  compare_triggers delete1 "$held" delete "$few" single 1.3 "$few deletes, a commit each"
  remove "$work/plain.db" "$held" "$following"
}
