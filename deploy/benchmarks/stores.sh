# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# A database for each tenant: what a daemon with very many stores needs, idle and at work.
bench_stores() {
  local n=${size:-1000}
  [[ $long ]] && n=${size:-10000}
  [[ $only_c ]] && return
  mkdir "$work/stores"
  echo "$n stores of 1,400 rows"
  python3 "$here/benchmarks/stores.py" "$BIN" "$work/stores" "$n" || die "the stores were not served"
  rm -rf "$work/stores"
}
