# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# without CHILD KEY PARENT KEY: how many rows of the first name no row of the second.
without() {
  printf 'SELECT count(*) FROM %s AS c WHERE %s IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM %s WHERE %s = c.%s);\n' "$1" "$2" "$3" "$4" "$2"
}

# The references to nothing, as one would count them by hand.
dangling_by_hand() {
  without album artist_id artist id
  without song album_id album id
  without play song_id song id
}

# The rows that nothing refers to, which inspect tells too.
unreferenced_by_hand() {
  without artist id album artist_id
  without album id song album_id
  without song id play song_id
}

timed() {
  local begun=$EPOCHREALTIME
  "$@" >"$work/answer" || die "$1 failed"
  seconds_since "$begun"
}

looked_by_hand() { dangling_by_hand | timed sqlite3 -readonly "$1"; }

inspected_by_hand() { { dangling_by_hand && unreferenced_by_hand; } | timed sqlite3 -readonly "$1"; }

state_of() { ctl "$1" status | grep -o '"state":"[a-z]*"' | head -n 1; }

# first_look STORE: from the start of a daemon that has never seen it to its first work, beside a
# writer; in look.answered, how long until it answered at all.
first_look() {
  local begun
  "$work/writer" prepare "$1"
  settle
  start_writer "$1" 2000
  begun=$EPOCHREALTIME
  start "$1" "$mapped_model"
  ready "$1"
  seconds_since "$begun" >>"$work/look.answered"
  while [[ $(state_of "$1") == '"state":"starting"' ]]; do sleep 0.05; done
  seconds_since "$begun" >>"$work/look.ours"
  [[ $(state_of "$1") == '"state":"ok"' ]] || die "the store is $(state_of "$1")"
  stop_writer look
  stop
}

bench_look() {
  local n=${size:-5000000} store=$work/look.db copy=$work/ours.db lock='' trash=0
  "$work/mapped" load "$store" "$n" plain "${order:-random}"
  for ((run = 0; run < runs; run++)); do
    looked_by_hand "$store" >>"$work/look.c"
    inspected_by_hand "$store" >>"$work/inspect.c"
    [[ ! $only_c ]] || continue
    timed "$BIN/cascadectl" inspect "$store" >>"$work/inspect.ours"
    cp "$store" "$copy"
    first_look "$copy"
    remove "$copy"
  done
  report inspect "inspect, $n rows" 'the same by hand' 1
  report look "first look at $n rows, beside a writer" 'the same by hand' 1.5
  if [[ ! $only_c ]]; then
    bound '  status answers after' "$(median "$work/look.answered")" s 1
    show_latency look '  the writer'
    bound '    p99' "$(latency look 2)" ms 25
  fi
  remove "$store"
}
