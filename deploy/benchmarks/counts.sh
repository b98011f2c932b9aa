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

# load_counts MODEL SIZE [BLOGS]: posts and photos of the two sides, `base` and `counted`.
load_counts() {
  "$work/counts" load "$counted" "$2" triggers ${3:+"$3"}
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
  awk "BEGIN { print $own + $swept }" >>"$work/$1.ours"
  echo "memory $(peak) MB, the application's delete $own s" >"$work/$1.remark"
  stop
  require_sound "$store"
  remove "$store"
}

# compare_counts MODEL SHARE TITLE
compare_counts() {
  local theirs=$work/c.db left
  for ((run = 0; run < runs; run++)); do
    cp "$counted" "$theirs"
    settle
    CACHE_KIB=$cache "$work/counts" delete "$theirs" "$2" |
      tee -a "$work/$2.c" >>"$work/$2-limited.c"
    left=$(count_of_counts "$theirs")
    remove "$theirs"
    [[ ! $only_c ]] || continue
    lock=none trash=0 run_counts "$2" "$1" "$2" "$left"
    lock='' trash=0 run_counts "$2-limited" "$1" "$2" "$left"
  done
  report "$2" "$3, no lock budget" triggers 0.8
  [[ $only_c ]] || report "$2-limited" "$3" triggers 0.8
}

bench_counts() {
  local n=${size:-200000} base=$work/base.db counted=$work/counted.db
  load_counts "$counts_model" "$n"
  compare_counts "$counts_model" all "all of $n posts"
  compare_counts "$counts_model" half "half of $n posts"
  remove "$base" "$counted"
  load_counts "$blogs_model" "$n" 1000
  compare_counts "$blogs_model" blogs "$n posts with their blogs"
  remove "$base" "$counted"
}
