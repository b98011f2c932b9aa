# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

kit_model="
  collections: { albums: { table: 'album', key: 'id' }, songs: { table: 'song', key: 'id' } },
  relationships: [
    { name: 'album', from: 'songs', to: 'albums', column: 'album', optional: false,
      inverse: { name: 'songs' } } ]"

# objects N: a change file with so many objects.
objects() {
  awk -v count="$1" 'BEGIN {
    print "{\"id\":\"objects\"}"
    for (i = 0; i < count; i++)
      printf "{\"put\":[\"things\",\"018f0000-0000-7000-8000-%012x\"],\"value\":{\"title\":\"Sinnerman %d\",\"year\":%d}}\n", i, i, 1900 + i % 100
  }'
}

# compare_reads WHAT C_WHAT: in turns.
compare_reads() {
  local store=$work/ours.db
  rm -f "$work/kit-$1".{ours,c}
  for ((run = 0; run < runs; run++)); do
    "$work/kit" read "$store" "$2" >>"$work/kit-$1.c"
    [[ $only_c ]] || "$BIN/KitProgram" read "$store" "$1" >>"$work/kit-$1.ours"
  done
}

report_reads() {
  report kit-rows "$1 rows into structures" 'C that copies' 1.3
  report kit-each "$1 rows, one after the other" 'C that copies' 1.15
  report kit-objects "$1 objects" 'C that copies' 1.8
  printf '  a loop in C that also reads their members  %.3f s\n' "$(median "$work/kit-members.c")"
  report kit-inverse '1,000 nodes, what refers to each' 'a join in C' 1.4
  report kit-count "20 counts of half of $1 rows" 'the same in C' 1.07
}

# field FILE COLUMN: the median over the runs.
field() { median <(cut -d ' ' -f "$2" "$1"); }

compare_writes() {
  local store=$work/ours.db
  rm -f "$work"/kit-{writes,writers}.{ours,c}
  for ((run = 0; run < runs; run++)); do
    "$BIN/KitProgram" writes "$store" 2000 1 >>"$work/kit-writes.ours"
    "$BIN/KitProgram" writes "$store" 6400 64 >>"$work/kit-writers.ours"
    "$work/kit" writes "$store.cascade/control" 6400 64 >>"$work/kit-writers.c"
  done
  bound 'a write with its receipt, p50' "$(field "$work/kit-writes.ours" 1)" ms 2
  bound 'a write with its receipt, p99' "$(field "$work/kit-writes.ours" 2)" ms 15
  local ours theirs
  ours=$(field "$work/kit-writers.ours" 3) theirs=$(field "$work/kit-writers.c" 3)
  bound "64 writers: $ours a second, C $theirs: C's part" \
    "$(awk "BEGIN { printf \"%.2f\", $theirs / $ours }")" '' 1.25
}

# compare_puts COUNT: one write, against the same bytes in the queue.
compare_puts() {
  local store=$work/ours.db id
  rm -f "$work"/kit-puts.{ours,c}
  for ((run = 0; run < runs; run++)); do
    "$BIN/KitProgram" put "$store" "$1" >>"$work/kit-puts.ours"
    "$BIN/KitProgram" puts "$1" >"$work/puts.json"
    id=$(grep -o '"id":"[^"]*"' "$work/puts.json" | head -n 1 | cut -d '"' -f 4)
    submit "$store" "$work/puts.json" "$(applied "$id")" >>"$work/kit-puts.c"
  done
  report kit-puts "$1 values in one write" 'its bytes in the queue' 1.3
}

pss() { awk '/^Pss:/ { print $2 }' "/proc/$1/smaps_rollup"; }

# memory_of PROGRAM…: of one that printed "read" and rests.
memory_of() {
  rm -f "$work/idle.out"
  "$@" >"$work/idle.out" &
  writer=$!
  until grep -qs read "$work/idle.out"; do sleep 0.05; done
  pss "$writer"
  kill "$writer"
  wait "$writer" 2>/dev/null || true
  writer=''
}

# Programs without the library: one that does nothing, and one that waits as the library does, in an
# asynchronous function, and has counted the same rows by SQLite alone.
build_bare_programs() {
  echo 'import Glibc; print("read"); fflush(stdout); pause()' >"$work/nothing.swift"
  swiftc -O -static-stdlib -o "$work/nothing" "$work/nothing.swift"
  mkdir -p "$work/CSQLite"
  echo '#include <sqlite3.h>' >"$work/CSQLite/shim.h"
  echo 'module CSQLite { header "shim.h" link "sqlite3" export * }' >"$work/CSQLite/module.modulemap"
  swiftc -O -parse-as-library -static-stdlib -I "$work/CSQLite" -o "$work/bare" \
    "$here/benchmarks/bare.swift"
}

# What the library costs a program that has a store open and does nothing.
measure_memory() {
  local nothing bare with
  build_bare_programs
  nothing=$(memory_of "$work/nothing")
  bare=$(memory_of "$work/bare" "$work/ours.db")
  with=$(memory_of "$BIN/KitProgram" idle "$work/ours.db")
  bound "an idle store open: $with KB, a program without $nothing KB" \
    "$(awk "BEGIN { printf \"%.2f\", ($with - $nothing) / 1024 }")" MB 2
  echo "  of which Swift's tasks and SQLite alone: $((bare - nothing)) KB"
}

bench_kit() {
  local n=${size:-100000} store=$work/ours.db
  [[ ! $only_c ]] || return 0
  "$work/kit" load "$store" "$n"
  start "$store" "$kit_model"
  ready "$store"
  objects "$n" >"$work/objects.ndjson"
  submit "$store" "$work/objects.ndjson" "$(applied objects)" >/dev/null
  compare_reads rows rows
  compare_reads each rows
  compare_reads objects objects
  for ((run = 0; run < runs; run++)); do
    "$work/kit" read "$store" members >>"$work/kit-members.c"
  done
  compare_reads inverse inverse
  compare_reads count count
  report_reads "$n"
  compare_writes
  compare_puts "$n"
  measure_memory
  stop
  remove "$store"
}
