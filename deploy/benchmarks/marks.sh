# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# attach_for_marks STORE [SOFT]: attaches the tables, whose collections have this beside their key.
attach_for_marks() {
  cp "$work/base.db" "$1"
  start "$1" "
  sweeps: {},
  collections: { artists: { table: 'artist', key: 'id' ${2-} }, albums: { table: 'album', key: 'id' ${2-} } },
  relationships: [
    { name: 'artist', from: 'albums', to: 'artists', column: 'artist',
      rules: ['deleteSourceIfDestinationDeleted'] } ]"
  ready "$1"
  stop
}

# Both sides are attached: one has softDelete in its model. Many runs, because the goal is near 1.
bench_marks() {
  local n=${size:-100000} other='no softDelete'
  [[ ! $only_c ]] || return 0
  python3 "$here/benchmarks/marks.py" load "$work/base.db" "$n"
  attach_for_marks "$work/c.db"
  attach_for_marks "$work/ours.db" ", softDelete: { column: 'deleted_at', keep: '30d' }"
  python3 "$here/benchmarks/marks.py" run "$work/c.db" "$work/ours.db" $((3 * runs)) "$work"
  report marks-insert "$n rows inserted, none marked" "$other" 1.02
  report marks-other "$n rows updated, the mark not" "$other" 1.02
  report marks-whole "$n rows updated, all columns" "$other" 1.02
  report marks-itself "$n rows updated, the mark to itself" "$other" 1.02
  report marks-delete "$n rows deleted, none marked" "$other" 1.02
  remove "$work/base.db" "$work/c.db" "$work/ours.db"
}
