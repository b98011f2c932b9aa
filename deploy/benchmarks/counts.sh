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
  local store=$work/ours.db own swept
  cp "$base" "$store"
  start "$store" "$2"
  ready "$store"
  settle
  own=$("$work/counts" delete "$store" "$3")
  swept=$(sweep "$store" $(($(count_of_counts "$store") - $4)) cascade refcount)
  awk "BEGIN { print $own + $swept }" | tee -a "$work/$1"-{looking,counting}.ours >/dev/null
  echo "memory $(peak) MB, the application's delete $own s" |
    tee "$work/$1"-{looking,counting}.remark >/dev/null
  stop
  require_sound "$store"
  remove "$store"
}

# run_their_counts SHARE: prints what is left.
run_their_counts() {
  local theirs=$work/c.db way
  for way in looking counting; do
    cp "$work/$way.db" "$theirs"
    settle
    CACHE_KIB=$cache "$work/counts" delete "$theirs" "$1" |
      tee -a "$work/$1"{,-limited}"-$way.c" >/dev/null
    [[ $way == looking ]] || count_of_counts "$theirs"
    remove "$theirs"
  done
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
  compare_counts "$counts_model" half "half of $n posts"
  remove "$base" "$work"/{looking,counting}.db
  load_counts "$blogs_model" "$n" 1000
  compare_counts "$blogs_model" blogs "$n posts with their blogs"
  remove "$base" "$work"/{looking,counting}.db
}
