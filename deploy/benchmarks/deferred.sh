# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# run_deferred NAME COUNT: failed transactions beside a daemon, in a line for each run.
run_deferred() {
  local store=$work/ours.db
  cp "$work/base.db" "$store"
  start "$store" "$latency_model"
  ready "$store"
  settle
  python3 "$here/benchmarks/deferred.py" run "$store" "$2" >>"$work/deferred.$1"
  stop
  require_sound "$store"
  remove "$store"
}

run_deferred_alone() {
  cp "$work/base.db" "$work/c.db"
  settle
  python3 "$here/benchmarks/deferred.py" run "$work/c.db" "$1" >>"$work/deferred.c"
  remove "$work/c.db"
}

# failed NAME: over all runs.
failed() { awk '{ sum += $1 } END { print sum }' "$work/deferred.$1"; }

bench_deferred() {
  local n=${size:-1000} lock='' trash=1d patience
  rm -f "$work"/deferred.*
  python3 "$here/benchmarks/deferred.py" load "$work/base.db" "$n"
  echo "$((n * runs)) transactions that read, work for 2 ms, and then delete"
  for ((run = 0; run < runs; run++)); do
    run_deferred_alone "$n"
    [[ ! $only_c ]] || continue
    patience=0 && run_deferred impatient "$n"
    patience='' && run_deferred ours "$n"
  done
  echo "  failed without cascaded                    $(failed c)"
  [[ ! $only_c ]] || return 0
  echo "  failed beside sweeps, patience: \"0\"        $(failed impatient)"
  bound '  failed beside sweeps at once' "$(failed ours)" '' $((n * runs / 200))
  remove "$work/base.db"
}
