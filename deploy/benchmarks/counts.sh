# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

counts_model="
  sweeps: {},
  collections: { photos: { table: 'photo', key: 'id' }, posts: { table: 'post', key: 'id' } },
  relationships: [
    { name: 'photo', from: 'posts', to: 'photos', column: 'photo_id',
      rules: ['deleteDestinationIfAllSourcesDeleted'] } ]"

# The same, where the posts have blogs, and go with them.
blogs_model=${counts_model/'photos:'/"blogs: { table: 'blog', key: 'id' }, photos:"}
blogs_model=${blogs_model/'relationships: ['/"relationships: [
    { name: 'blog', from: 'posts', to: 'blogs', column: 'blog_id',
      inverse: { name: 'posts', deleteRule: 'cascade' } },"}

# load_counts MODEL SIZE [BLOGS]: posts and photos of both sides, and of each way that theirs counts.
load_counts() {
  local way
  for way in looking counting; do "$work/counts" load "$work/$way.db" "$2" "$way" ${3:+"$3"}; done
  [[ ${3-} ]] || "$work/counts" load "$work/idle.db" "$2" idle
  [[ ! $only_c ]] || return 0
  "$work/counts" load "$base" "$2" plain ${3:+"$3"}
  start "$base" "$1"
  ready "$base"
  stop
}

count_of_counts() { sqlite3 "$1" 'SELECT (SELECT count(*) FROM photo) + (SELECT count(*) FROM post)'; }

# run_counts NAME MODEL SHARE LEFT: SHARE of the posts go, by the application, or their blogs; and by a
# sweep all that follows, until there are LEFT.
run_counts() {
  local store=$work/ours.db own swept idle
  cp "$base" "$store"
  start "$store" "$2"
  ready "$store"
  settle
  own=$("$work/counts" delete "$store" "$3")
  idle=''
  [[ ! -e $work/$3-idle.c ]] || idle=", under a trigger that does nothing $(median "$work/$3-idle.c") s"
  swept=$(sweep "$store" $(($(count_of_counts "$store") - $4)) cascade refcount)
  awk "BEGIN { print $own + $swept }" | tee -a "$work/$1"-{looking,counting}.ours >/dev/null
  echo "memory $(peak) MB, the application's delete $own s$idle" |
    tee "$work/$1"-{looking,counting}.remark >/dev/null
  stop
  require_sound "$store"
  remove "$store"
}

# run_their_counts SHARE: prints what is left.
run_their_counts() {
  local theirs=$work/c.db way
  for way in looking idle counting; do
    [[ -e $work/$way.db ]] || continue
    cp "$work/$way.db" "$theirs"
    settle
    CACHE_KIB=$cache "$work/counts" delete "$theirs" "$1" |
      tee -a "$work/$1"{,-limited}"-$way.c" >/dev/null
    [[ $way != counting ]] || count_of_counts "$theirs"
    remove "$theirs"
  done
}

# compare_filed MODEL TITLE: the same by a change file, beside what "all" of them took the others.
compare_filed() {
  local store=$work/ours.db way
  [[ ! $only_c ]] || return 0
  echo '{"id": "filed", "changes": [{"deleteAll": "posts"}]}' >"$work/filed.json"
  for ((run = 0; run < runs; run++)); do
    cp "$base" "$store"
    start "$store" "$1"
    ready "$store"
    submit "$store" "$work/filed.json" "$(applied filed)" |
      tee -a "$work"/filed-{looking,counting}.ours >/dev/null
    echo "memory $(peak) MB" | tee "$work"/filed-{looking,counting}.remark >/dev/null
    stop
    require_sound "$store"
    remove "$store"
  done
  for way in looking counting; do cp "$work/all-$way.c" "$work/filed-$way.c"; done
  report_counts filed "$2"
}

# report_counts NAME TITLE: one of our sides beside each of theirs.
report_counts() {
  local way
  for way in looking counting; do report "$1-$way" "$2" "triggers $way" 0.8; done
}

# compare_counts MODEL SHARE TITLE
compare_counts() {
  local left
  for ((run = 0; run < runs; run++)); do
    left=$(run_their_counts "$2")
    [[ ! $only_c ]] || continue
    lock=none trash=0 run_counts "$2" "$1" "$2" "$left"
    lock='' trash=0 run_counts "$2-limited" "$1" "$2" "$left"
  done
  report_counts "$2" "$3, no lock budget"
  [[ $only_c ]] || report_counts "$2-limited" "$3"
}

bench_counts() {
  local n=${size:-200000} base=$work/base.db
  load_counts "$counts_model" "$n"
  compare_counts "$counts_model" all "all of $n posts"
  compare_filed "$counts_model" "all of $n posts, by a change file"
  compare_counts "$counts_model" half "half of $n posts"
  remove "$base" "$work"/{looking,counting,idle}.db
  load_counts "$blogs_model" "$n" 1000
  compare_counts "$blogs_model" blogs "$n posts with their blogs"
  remove "$base" "$work"/{looking,counting}.db
}
