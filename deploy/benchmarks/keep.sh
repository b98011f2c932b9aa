# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# compare_kept NAME WHAT SIZE COMMITS TITLE: the same deletions on a store that keeps what applications
# delete, and on a copy with a trigger that only copies the row.
compare_kept() {
  local n=$2 commits=$3 title=$4
  for ((run = 0; run < runs; run++)); do
    if [[ ! $only_c ]]; then
      cp "$work/keeping.db" "$work/ours.db"
      settle
      CACHE_KIB=$cache "$work/triggers" delete "$work/ours.db" "$n" "$commits" >>"$work/$1.ours"
    fi
    cp "$work/copying.db" "$work/c.db"
    settle
    CACHE_KIB=$cache "$work/triggers" delete "$work/c.db" "$n" "$commits" >>"$work/$1.c"
    remove "$work/ours.db" "$work/c.db"
  done
  report "$1" "$title" 'a trigger that copies the row' 1.1
}

bench_keep() {
  local n=${size:-200000}
  local few=$((n / 20))

  "$work/triggers" load "$work/copying.db" "$n"
  sqlite3 "$work/copying.db" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
  if [[ ! $only_c ]]; then
    cp "$work/copying.db" "$work/keeping.db"
    start "$work/keeping.db" "
  sweeps: {}, keepDeleted: true,
  collections: { albums: { table: 'album', key: 'id' }, songs: { table: 'song', key: 'id' } },
  relationships: [
    { name: 'album', from: 'songs', to: 'albums', column: 'album_id',
      rules: ['deleteSourceIfDestinationDeleted'] } ]"
    stop
  fi
  sqlite3 "$work/copying.db" "
    CREATE TABLE kept AS SELECT * FROM song WHERE 0;
    CREATE TRIGGER keep BEFORE DELETE ON song BEGIN
      INSERT INTO kept VALUES(OLD.id, OLD.album_id, OLD.title); END;
    PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
  compare_kept keep "$n" bulk "$n deletes in one commit, kept"
  compare_kept keep1 "$few" single "$few deletes, a commit each, kept"
  remove "$work/copying.db" "$work/keeping.db"
}
