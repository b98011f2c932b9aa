# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

bench_edges() {
  local n=${size:-1000000} how=${order:-clustered}
  local ours=$work/ours.db theirs=$work/c.db

  [[ $only_c ]] || "$work/edges" generate "$n" "$how" >"$work/edges.ndjson"
  for ((run = 0; run < runs; run++)); do
    if [[ ! $only_c ]]; then
      start "$ours"
      submit "$ours" "$work/edges.ndjson" "$(applied edges)" >>"$work/edges.ours"
      stop
    fi
    new_database "$theirs"
    settle
    CACHE_KIB=$cache "$work/edges" load "$theirs" "$n" "$how" >>"$work/edges.c"
    [[ $only_c ]] || require_same "$ours" "$theirs"
    remove "$ours" "$theirs"
  done
  report edges "$n edges from NDJSON, $how" 'bare C' 1.5
}
