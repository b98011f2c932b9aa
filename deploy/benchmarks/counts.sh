# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

counts_model="
  sweeps: {},
  collections: { photos: { table: 'photo', key: 'id' }, posts: { table: 'post', key: 'id' } },
  relationships: [
    { name: 'photo', from: 'posts', to: 'photos', column: 'photo_id',
      rules: ['deleteDestinationIfAllSourcesDeleted'] } ]"

# load_counts BASE COUNTED SIZE: posts and photos of BASE's two sides.
load_counts() {
  "$work/counts" load "$2" "$3" triggers
  [[ ! $only_c ]] || return 0
  "$work/counts" load "$1" "$3" plain
  start "$1" "$counts_model"
  ready "$1"
  stop
}

photos() { sqlite3 "$1" 'SELECT count(*) FROM photo'; }

# run_counts NAME BASE SHARE LEFT: SHARE of the posts go, by the application, and by a sweep the
# photos that nothing shows, until there are LEFT.
run_counts() {
  local store=$work/ours.db own swept
  cp "$2" "$store"
  start "$store" "$counts_model"
  ready "$store"
  settle
  own=$("$work/counts" delete "$store" "$3")
  swept=$(sweep "$store" $(($(photos "$store") - $4)) refcount)
  awk "BEGIN { print $own + $swept }" >>"$work/$1.ours"
  echo "memory $(peak) MB, the application's delete $own s" >"$work/$1.remark"
  stop
  require_sound "$store"
  remove "$store"
}

compare_counts() {
  local share=$1 n=$2 base=$3 counted=$4 theirs=$work/c.db left
  for ((run = 0; run < runs; run++)); do
    cp "$counted" "$theirs"
    settle
    CACHE_KIB=$cache "$work/counts" delete "$theirs" "$share" |
      tee -a "$work/$share.c" >>"$work/$share-limited.c"
    left=$(photos "$theirs")
    remove "$theirs"
    [[ ! $only_c ]] || continue
    lock=none trash=0 run_counts "$share" "$base" "$share" "$left"
    lock='' trash=0 run_counts "$share-limited" "$base" "$share" "$left"
  done
  report "$share" "$share of $n posts, no lock budget" triggers 0.8
  [[ $only_c ]] || report "$share-limited" "$share of $n posts" triggers 0.8
}

bench_counts() {
  local n=${size:-200000} base=$work/base.db counted=$work/counted.db
  load_counts "$base" "$counted" "$n"
  compare_counts all "$n" "$base" "$counted"
  compare_counts half "$n" "$base" "$counted"
  remove "$base" "$counted"
}
