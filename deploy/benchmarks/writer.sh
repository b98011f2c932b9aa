# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# start_writer STORE PAUSE [COUNT]: so many other processes (1) commit rows, with so many microseconds
# between two.
start_writer() {
  local i started
  rm -f "$work"/writer.*.out
  for ((i = 0; i < ${3:-1}; i++)); do
    "$work/writer" run "$1" "$2" >"$work/writer.$i.out" &
    started=$!
    writer+=" $started"
    await_ready "$started" "$work/writer.$i.out"
  done
  # shellcheck disable=SC2086  # a list
  kill -USR1 $writer
}

# await_ready PROCESS OUTPUT
await_ready() {
  until grep -qs ready "$2"; do
    kill -0 "$1" 2>/dev/null || die "the writer did not start"
    sleep 0.01
  done
}

# stop_writer NAME: and what the writers saw is a line of NAME.latency: of the percentiles the worst.
stop_writer() {
  local process
  # shellcheck disable=SC2086  # a list
  kill -TERM $writer
  for process in $writer; do wait "$process" || die "the writer failed"; done
  writer=''
  tail -q -n 1 "$work"/writer.*.out | awk '
    { for (i = 1; i < 4; i++) if ($i > most[i]) most[i] = $i; count += $4 }
    END { print most[1], most[2], most[3], count }' >>"$work/$1.latency"
}

write_alone() {
  local store=$work/alone.db
  cp "$1" "$store"
  settle
  start_writer "$store" "$2"
  sleep 5
  stop_writer alone
  remove "$store"
}

# What is deleted, and what must go with it: a tree by its artists, or photos by their posts.
delete_of_mapped() { CACHE_KIB=$cache "$work/mapped" delete "$1"; }
delete_of_counts() { CACHE_KIB=$cache "$work/counts" delete "$1" all; }
count_of_mapped() { sqlite3 "$1" 'SELECT (SELECT count(*) FROM album)
  + (SELECT count(*) FROM song) + (SELECT count(*) FROM play)'; }

# beside_theirs WHAT PAUSE: SQLite deletes by itself what must go; `left` is what stays.
beside_theirs() {
  local store=$work/c.db
  cp "$work/$1-theirs.db" "$store"
  settle
  start_writer "$store" "$2"
  "delete_of_$1" "$store" >>"$work/$1.c"
  stop_writer "$1-theirs"
  left=$("count_of_$1" "$store")
  remove "$store"
}

# beside_ours WHAT PAUSE: a sweep deletes, within the default limits, all but `left`. What the
# application deletes itself, in one transaction, no sweep can make shorter for the writer.
beside_ours() {
  local store=$work/ours.db model=${1}_model own swept
  cp "$work/$1-ours.db" "$store"
  start "$store" "${!model}"
  ready "$store"
  settle
  own=$("delete_of_$1" "$store")
  start_writer "$store" "$2"
  swept=$(sweep "$store" $(($("count_of_$1" "$store") - left)) cascade refcount)
  stop_writer "$1-ours"
  awk "BEGIN { print $own + $swept }" >>"$work/$1.ours"
  stop
  require_sound "$store"
  remove "$store"
}

# latency NAME COLUMN: the median over the runs of its p50 (1), p99 (2) or number of commits (4).
latency() { median <(cut -d ' ' -f "$2" "$work/$1.latency"); }

# longest NAME: of all runs.
longest() { cut -d ' ' -f 3 "$work/$1.latency" | sort -n | tail -n 1; }

show_latency() {
  printf '%-44s p50 %s ms   p99 %s ms   max %s ms   (%.0f commits)\n' "$2" \
    "$(latency "$1" 1)" "$(latency "$1" 2)" "$(longest "$1")" "$(latency "$1" 4)"
}

# compare_beside WHAT PAUSE TITLE OTHER: the two sides beside a writer.
compare_beside() {
  local left
  rm -f "$work/$1".{c,ours} "$work/$1"-{theirs,ours}.latency
  for ((run = 0; run < runs; run++)); do
    beside_theirs "$1" "$2"
    [[ $only_c ]] || beside_ours "$1" "$2"
  done
  show_latency "$1-theirs" "  beside $4, $3"
  [[ $only_c ]] || show_latency "$1-ours" "  beside the sweep, $3"
  [[ $only_c ]] || bound '    p99' "$(latency "$1-ours" 2)" ms 25
  [[ $only_c ]] || bound '    max' "$(longest "$1-ours")" ms 100
  report "$1" "    time, $3" "$4" 4
}

# compare_writers PAUSE TITLE
compare_writers() {
  rm -f "$work/alone.latency"
  for ((run = 0; run < runs; run++)); do write_alone "$work/mapped-theirs.db" "$1"; done
  show_latency alone "a writer $2, alone"
  compare_beside mapped "$1" "$n rows" 'foreign keys'
  compare_beside counts "$1" "$posts posts" triggers
}

# beside_holder COUNT SECONDS: what so many writers wait where a process only holds the lock in turns.
beside_holder() {
  local store=$work/held.db holder
  cp "$work/mapped-ours.db" "$store"
  settle
  "$work/writer" hold "$store" 8000 >"$work/holder.out" &
  holder=$!
  await_ready "$holder" "$work/holder.out"
  start_writer "$store" 0 "$1"
  sleep "$2"
  stop_writer crowd-held
  kill -TERM "$holder"
  wait "$holder" || die "the process that holds the lock failed"
  remove "$store"
}

# beside_sweep COUNT: what they wait while all rows are swept.
beside_sweep() {
  local store=$work/ours.db
  cp "$work/mapped-ours.db" "$store"
  start "$store" "$mapped_model"
  ready "$store"
  settle
  delete_of_mapped "$store" >/dev/null
  start_writer "$store" 0 "$1"
  sweep "$store" "$(count_of_mapped "$store")" cascade refcount >"$work/crowd.seconds"
  stop_writer crowd-swept
  stop
  require_sound "$store"
  remove "$store"
}

# compare_crowd COUNT: where several write as fast as they can, SQLite does not share the lock out
# fairly. How long the unluckiest waits has that floor.
compare_crowd() {
  rm -f "$work"/crowd-{held,swept}.latency
  for ((run = 0; run < runs; run++)); do
    beside_sweep "$1"
    beside_holder "$1" "$(<"$work/crowd.seconds")"
  done
  show_latency crowd-held "$1 writers, a process holds the lock for 8 ms"
  show_latency crowd-swept "$1 writers, beside the sweep"
}

# attach_beside WHAT: the side of `base` that is attached.
attach_beside() {
  local store=$work/$1-ours.db model=${1}_model
  "$work/writer" prepare "$store"
  start "$store" "${!model}"
  ready "$store"
  stop
}

bench_writer() {
  local n=${size:-1000000} posts what lock='' trash=0
  posts=$((n / 5))
  "$work/mapped" load "$work/mapped-theirs.db" "$n" keyed random
  "$work/counts" load "$work/counts-theirs.db" "$posts" looking
  "$work/mapped" load "$work/mapped-ours.db" "$n" plain random
  "$work/counts" load "$work/counts-ours.db" "$posts" plain
  for what in mapped counts; do
    "$work/writer" prepare "$work/$what-theirs.db"
    [[ $only_c ]] || attach_beside "$what"
  done
  compare_writers 0 'as fast as it can'
  compare_writers 2000 'every 2 ms'
  [[ $only_c ]] || for what in 2 4; do compare_crowd "$what"; done
  remove "$work"/{mapped,counts}-{ours,theirs}.db
}
