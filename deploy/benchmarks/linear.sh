# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# run_linear ROWS: a sweep of so many rows within the default limits.
run_linear() {
  local store=$work/ours.db own swept
  cp "$work/base.db" "$store"
  start "$store" "$mapped_model"
  ready "$store"
  settle
  own=$("$work/mapped" delete "$store")
  swept=$(sweep "$store" $(($1 - $1 / 1000)) cascade)
  awk "BEGIN { print $own + $swept }" >>"$work/$1.ours"
  peak >>"$work/$1.peak"
  stop
  require_empty "$store"
  remove "$store"
}

# show_linear ROWS: the time for each row, and the most memory that any run took.
show_linear() {
  local megabytes
  megabytes=$(sort -n "$work/$1.peak" | tail -n 1)
  echo "$megabytes MB" >"$work/$1.remark"
  report_each "$1" "$1" "$1 rows"
  bound '    memory' "$megabytes" MB 160
}

# Each size is ten times the last one, up to the largest.
bench_linear() {
  local n=10000 largest=${size:-1000000} lock='' trash=0
  [[ ! $only_c ]] || return 0
  [[ ! $long ]] || largest=10000000
  while ((n <= largest)); do
    load_mapped "$work/base.db" "$n"
    for ((run = 0; run < runs; run++)); do run_linear "$n"; done
    remove "$work/base.db"
    show_linear "$n"
    n=$((n * 10))
  done
  n=$((n / 10))
  printf '%-44s %s\n' "a row: of $n against 10000" "$(growth 10000 10000 "$n" "$n")"
}
