# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

chain_model="
  sweeps: {},
  collections: { nodes: { table: 'node', key: 'id' } },
  relationships: [
    { name: 'parent', from: 'nodes', to: 'nodes', column: 'parent_id',
      inverse: { name: 'children', deleteRule: 'cascade' } } ]"

# show_depth ROWS: what foreign keys do with a chain of so many rows.
show_depth() {
  local store=$work/c.db said
  "$work/chain" load "$store" "$1" keyed
  if said=$("$work/chain" delete "$store"); then said+=' s'; fi
  printf '%-44s foreign keys %s\n' "a chain of $1 rows" "$said"
  remove "$store"
}

# run_chain NAME ROWS: the application deletes the first row of a chain, and a sweep the others.
run_chain() {
  local store=$work/ours.db own swept
  "$work/chain" load "$store" "$2" plain
  start "$store" "$chain_model"
  ready "$store"
  settle
  own=$("$work/chain" delete "$store")
  swept=$(sweep "$store" $(($2 - 1)) cascade)
  awk "BEGIN { print $own + $swept }" >>"$work/$1.ours"
  echo "$(peak) MB" >"$work/$1.remark"
  stop
  require_sound "$store"
  remove "$store"
}

# compare_chains NAME SIZE TITLE: each row of the long chain costs what one of the short chain does.
compare_chains() {
  local long=$2 short=$(($2 / 10))
  for ((run = 0; run < runs; run++)); do
    run_chain "$1-short" "$short"
    run_chain "$1-long" "$long"
  done
  report_each "$1-short" "$short" "a chain of $short rows, $3"
  report_each "$1-long" "$long" "a chain of $long rows, $3"
  bound "a row: of $long against $short" \
    "$(growth "$1-short" "$short" "$1-long" "$long")" '' 1.5
}

bench_chain() {
  local n=${size:-100000}
  show_depth 1000
  show_depth 1001
  show_depth "$n"
  [[ ! $only_c ]] || return 0
  lock=none compare_chains chain-free "$n" 'no lock budget'
  lock='' compare_chains chain "$n" 'default limits'
}
