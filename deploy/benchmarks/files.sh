# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# The daemon is stopped while its queue fills, and continued when the clock starts: so it finds all
# files at once, with everything else that its start needs behind it.
#
# On neither side are the files flushed to disk first. To unlink flushed ones frees their blocks,
# and a file system that discards what it frees does so in the next commit's fsync: 0.8 to 5.5 s for
# the same loop, from run to run. Unflushed: 0.26 to 0.28 s.
run_files_ours() {
  local store=$1 n=$2 last salt before after salt_after
  start "$store"
  submit "$store" "$work/albums.ndjson" "$(applied albums)" >/dev/null
  kill -STOP "$daemon"
  settle
  "$work/files" generate "$n" "$store.cascade/tmp" "$store.cascade/new"
  printf -v last '%08d.json' $((n - 1))
  read -r before salt < <("$work/client" commits "$store")
  "$work/client" resume "$daemon" "$store" "$last" \
    "SELECT count(*) > $n FROM cascade_ledger" >>"$work/files.ours" || not_applied "$store"
  read -r after salt_after < <("$work/client" commits "$store")
  stop
  commits=0
  [[ $salt != "$salt_after" ]] || commits=$((after - before))
}

bench_files() {
  local n=${size:-10000} commits=0 per_commit remark=''
  local ours=$work/ours.db theirs=$work/c.db

  "$work/files" albums "$n" >"$work/albums.ndjson"
  for ((run = 0; run < runs; run++)); do
    [[ $only_c ]] || run_files_ours "$ours" "$n"
    per_commit=256
    ((commits == 0)) || per_commit=$(((n + commits - 1) / commits))
    per_commit=${group:-$per_commit}
    new_database "$theirs"
    "$work/files" prepare "$theirs" "$n"
    mkdir "$work/tmp" "$work/new"
    settle
    "$work/files" generate "$n" "$work/tmp" "$work/new"
    CACHE_KIB=$cache "$work/files" apply "$theirs" "$work/new" "$per_commit" >>"$work/files.c"
    [[ $only_c ]] || require_same "$ours" "$theirs"
    remove "$ours" "$theirs" "$work/tmp" "$work/new"
  done
  ((commits == 0)) || remark=", of cascaded: $commits"
  report files "$n files of one change" 'bare C' 2 \
    "   (commits of the C side: $(((n + per_commit - 1) / per_commit))$remark)"
}
