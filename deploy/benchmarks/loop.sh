# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# An application that deletes one row after the other, each in a commit of its own that is synced.

loop_songs='SELECT count(*) FROM song WHERE album_id NOT IN (SELECT id FROM album)'

# delete_in_loop BASE NAME: on a copy, the seconds into NAME.
delete_in_loop() {
  cp "$1" "$work/loop.db"
  settle
  "$work/latency" loop "$work/loop.db" "$n" "$artists" >>"$work/$2"
  remove "$work/loop.db"
}

# delete_beside_us BASE: all is followed, and how many sweeps did it.
delete_beside_us() {
  local store=$work/loop.db
  cp "$1" "$store"
  start "$store" "$latency_model"
  ready "$store"
  settle
  "$work/latency" loop "$store" "$n" "$artists" >>"$work/loop.ours"
  for ((i = 0; i < 1000; i++)); do
    (($(sqlite3 "$store" "$loop_songs"))) || break
    sleep 0.01
  done
  ((i < 1000)) || die "not all songs were swept"
  stop
  sqlite3 "$store" 'SELECT count(*) FROM cascade_ledger WHERE deleted' >>"$work/loop.sweeps"
  require_sound "$store"
  remove "$store"
}

bench_loop() {
  local n=${size:-500} lock='' trash=1d artists i
  artists=$((n / 5 + 100))
  rm -f "$work"/loop.{c,triggers,ours,sweeps}
  "$work/latency" load "$work/base.db" "$artists" plain
  if [[ ! $only_c ]]; then
    cp "$work/base.db" "$work/attached.db"
    start "$work/attached.db" "$latency_model"
    ready "$work/attached.db"
    stop
  fi
  for ((run = 0; run < runs; run++)); do
    delete_in_loop "$work/base.db" loop.c
    [[ ! $only_c ]] || continue
    delete_in_loop "$work/attached.db" loop.triggers
    delete_beside_us "$work/attached.db"
  done
  report loop "$n single deletions, each synced, followed" 'without cascaded' 1.15
  [[ $only_c ]] || printf '    with the triggers alone %s s; sweeps: %s\n' \
    "$(median "$work/loop.triggers")" "$(median "$work/loop.sweeps")"
  remove "$work"/{base,attached}.db
}
