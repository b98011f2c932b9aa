# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# start_asking STORE: somebody asks for the status every 5 ms.
start_asking() {
  rm -f "$work/asker.out"
  "$work/status" "$1.cascade/control" >"$work/asker.out" &
  writer=$!
  until grep -qs ready "$work/asker.out"; do
    kill -0 "$writer" 2>/dev/null || die "the status was not answered"
    sleep 0.01
  done
}

# stop_asking NAME: and the latencies are a line of NAME.latency.
stop_asking() {
  kill -TERM "$writer"
  wait "$writer" || die "the status was not answered"
  writer=''
  tail -n 1 "$work/asker.out" >>"$work/$1.latency"
}

# ask_idle STORE: while there is nothing to do.
ask_idle() {
  settle
  start_asking "$1"
  sleep 3
  stop_asking status-idle
}

ask_while_ingesting() {
  local store=$work/ours.db
  start "$store"
  ready "$store"
  ask_idle "$store"
  start_asking "$store"
  submit "$store" "$work/edges.ndjson" "$(applied edges)" >/dev/null
  stop_asking status-ingest
  stop
  remove "$store"
}

# ask_while_sweeping NAME BASE SIZE
ask_while_sweeping() {
  local store=$work/ours.db
  cp "$2" "$store"
  start "$store" "$mapped_model"
  ready "$store"
  settle
  start_asking "$store"
  "$work/mapped" delete "$store" >/dev/null
  sweep "$store" $(($3 - $3 / 1000)) cascade >/dev/null
  stop_asking "$1"
  stop
  require_left "$store" 0
  remove "$store"
}

# report_asking NAME TITLE: over all runs.
report_asking() {
  printf '%-44s p50 %s ms   max %s ms   (%.0f calls)\n' "$2" "$(latency "$1" 1)" \
    "$(longest "$1")" "$(latency "$1" 4)"
  bound '    p99' "$(latency "$1" 2)" ms 50
}

# How long `status` takes while the daemon is busy. There is nothing to compare it with.
bench_status() {
  local n=${size:-1000000} base=$work/base.db
  [[ ! $only_c ]] || return 0
  "$work/edges" generate "$n" "${order:-clustered}" >"$work/edges.ndjson"
  load_mapped "$base" "$n"
  rm -f "$work"/status-*.latency
  for ((run = 0; run < runs; run++)); do
    ask_while_ingesting
    lock='' ask_while_sweeping status-limited "$base" "$n"
    lock=none ask_while_sweeping status-none "$base" "$n"
  done
  rm "$work/edges.ndjson"
  remove "$base"
  report_asking status-idle 'status, nothing to do'
  report_asking status-ingest "status while $n edges are ingested"
  report_asking status-limited "status while $n rows are swept"
  report_asking status-none "status while they are swept without a budget"
}
