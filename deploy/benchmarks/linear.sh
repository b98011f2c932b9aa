# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# run_linear NAME ROWS: a sweep of so many rows within the default limits.
run_linear() {
  local store=$work/ours.db own swept
  cp "$work/base.db" "$store"
  start "$store" "$mapped_model"
  ready "$store"
  settle
  own=$("$work/mapped" delete "$store")
  swept=$(sweep "$store" $(($2 - $2 / 1000)) cascade)
  awk "BEGIN { print $own + $swept }" >>"$work/$1.ours"
  peak >>"$work/$1.peak"
  stop
  require_left "$store" 0
  remove "$store"
}

# show_linear NAME ROWS: the time for each row, and the most memory that any run took.
show_linear() {
  local megabytes
  megabytes=$(sort -n "$work/$1.peak" | tail -n 1)
  echo "$megabytes MB" >"$work/$1.remark"
  report_each "$1" "$2" "$2 rows, $order"
  bound '    memory' "$megabytes" MB 160
}

# grow LARGEST: each size is ten times the last one.
grow() {
  local n
  for ((n = 10000; n <= $1; n *= 10)); do
    load_mapped "$work/base.db" "$n"
    for ((run = 0; run < runs; run++)); do run_linear "$order-$n" "$n"; done
    remove "$work/base.db"
    show_linear "$order-$n" "$n"
  done
  n=$((n / 10))
  bound "a row: of $n against 10000, $order" "$(growth "$order-10000" 10000 "$order-$n" "$n")" '' 1.5
}

# One line where keys come in the order of time; where they come at random, the pages of the disk are
# touched at random too.
bench_linear() {
  local largest=${size:-1000000} lock='' trash=0 orders=${order:-timed random} order
  [[ ! $only_c ]] || return 0
  [[ ! $long ]] || largest=10000000
  for order in $orders; do grow "$largest"; done
}
