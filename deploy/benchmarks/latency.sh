# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

latency_model="
  collections: {
    artists: { table: 'artist', key: 'id' }, albums: { table: 'album', key: 'id' },
    songs: { table: 'song', key: 'id' } },
  relationships: [
    { name: 'artist', from: 'albums', to: 'artists', column: 'artist_id',
      inverse: { name: 'albums', deleteRule: 'cascade' } },
    { name: 'album', from: 'songs', to: 'albums', column: 'album_id',
      inverse: { name: 'songs', deleteRule: 'cascade' } } ]"

# lock_p50 STORE: how long its daemon lately held the write lock, in milliseconds, at the median.
lock_p50() {
  ctl "$1" status |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["stores"][0]["lockMs"]["p50"])'
}

# run_latency BASE SIZE PAGES: a line of four percentiles.
run_latency() {
  local store=$work/ours.db
  cp "$1" "$store"
  start "$store" "$latency_model"
  ready "$store"
  settle
  "$work/latency" run "$store" "$2" "$3" >>"$work/latency.ours"
  lock_p50 "$store" >>"$work/latency.locks"
  stop
  require_sound "$store"
  remove "$store"
}

# milliseconds SIDE COLUMN: the median over the runs.
milliseconds() { median <(cut -d ' ' -f "$2" "$work/latency.$1"); }

show_deletes() {
  printf '%-44s p50 %s ms   p99 %s ms\n' "$2" "$(milliseconds "$1" 1)" "$(milliseconds "$1" 2)"
}

report_latency() {
  show_deletes c "  its delete, foreign keys"
  [[ ! $only_c ]] || return 0
  show_deletes ours "  its delete, swept at once"
  bound '    ratio of the p50' \
    "$(awk "BEGIN { printf \"%.2f\", $(milliseconds ours 1) / $(milliseconds c 1) }")" '' 0.5
  bound '    from commit to end, p50' "$(milliseconds ours 3)" ms 10
  bound '    from commit to end, p99' "$(milliseconds ours 4)" ms 40
  bound '    of this, under the write lock, p50' "$(median "$work/latency.locks")" ms 1.5
  printf '%-44s p50 %s ms   p99 %s ms\n' '    nothing but the SQL of such a sweep' \
    "$(milliseconds bare 3)" "$(milliseconds bare 4)"
}

# compare_latency SIZE PAGES
compare_latency() {
  local theirs=$work/c.db
  rm -f "$work"/latency.{c,ours,bare,locks}
  for ((run = 0; run < runs; run++)); do
    cp "$work/keyed.db" "$theirs"
    settle
    CACHE_KIB=$cache "$work/latency" run "$theirs" "$1" "$2" >>"$work/latency.c"
    remove "$theirs"
    [[ ! $only_c ]] || continue
    run_latency "$work/base.db" "$1" "$2"
    cp "$work/swept.db" "$theirs"
    "$work/latency" run "$theirs" "$1" "$2" bare >>"$work/latency.bare"
    remove "$theirs"
  done
  report_latency
}

# A checkpoint costs the application a sync, whoever filled the log; SQLite's default is 1000 pages.
bench_latency() {
  local n=${size:-400} lock='' trash=1d
  "$work/latency" load "$work/keyed.db" "$n" keyed
  if [[ ! $only_c ]]; then
    "$work/latency" load "$work/base.db" "$n" plain
    "$work/latency" load "$work/swept.db" "$n" swept
  fi
  echo "an application with $n deletes, which leaves checkpoints to others"
  compare_latency "$n" 0
  echo "an application with $n deletes, which does a checkpoint after 1000 pages"
  compare_latency "$n" 1000
  remove "$work"/{keyed,base,swept}.db
}
