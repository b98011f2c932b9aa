# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

mapped_model="
  sweeps: {},
  collections: {
    artists: { table: 'artist', key: 'id' }, albums: { table: 'album', key: 'id' },
    songs: { table: 'song', key: 'id' }, plays: { table: 'play', key: 'id' } },
  relationships: [
    { name: 'artist', from: 'albums', to: 'artists', column: 'artist_id',
      inverse: { name: 'albums', deleteRule: 'cascade' } },
    { name: 'album', from: 'songs', to: 'albums', column: 'album_id',
      inverse: { name: 'songs', deleteRule: 'cascade' } },
    { name: 'song', from: 'plays', to: 'songs', column: 'song_id',
      inverse: { name: 'plays', deleteRule: 'cascade' } } ]"

# load_mapped STORE SIZE: the tables of an application, attached.
load_mapped() {
  "$work/mapped" load "$1" "$2" plain "${order:-random}"
  start "$1" "$mapped_model"
  ready "$1"
  stop
}

# require_empty STORE: nothing of the tree is left, and the database is sound.
require_empty() {
  local rows
  rows=$(sqlite3 "$1" 'SELECT (SELECT count(*) FROM artist) + (SELECT count(*) FROM album)
    + (SELECT count(*) FROM song) + (SELECT count(*) FROM play)')
  ((rows == 0)) || die "$1: $rows rows are left"
  require_sound "$1"
}

# run_mapped NAME BASE SIZE: the application deletes the artists of a copy, and a sweep what follows.
run_mapped() {
  local store=$work/ours.db own swept
  cp "$2" "$store"
  start "$store" "$mapped_model"
  ready "$store"
  settle
  own=$("$work/mapped" delete "$store")
  swept=$(sweep "$store" $(($3 - $3 / 1000)) cascade)
  awk "BEGIN { print $own + $swept }" >>"$work/$1.ours"
  echo "memory $(peak) MB, the application's delete $own s" >"$work/$1.remark"
  stop
  require_empty "$store"
  remove "$store"
}

# Both sides are loaded once, and copied for each run.
bench_mapped() {
  local n=${size:-1000000} base=$work/base.db keyed=$work/keyed.db theirs=$work/c.db

  "$work/mapped" load "$keyed" "$n" keyed "${order:-random}"
  [[ $only_c ]] || load_mapped "$base" "$n"
  for ((run = 0; run < runs; run++)); do
    cp "$keyed" "$theirs"
    settle
    CACHE_KIB=$cache "$work/mapped" delete "$theirs" |
      tee -a "$work"/{none,limited,none-kept,limited-kept}.c >/dev/null
    require_empty "$theirs"
    remove "$theirs"
    [[ ! $only_c ]] || continue
    lock=none trash=0 run_mapped none "$base" "$n"
    lock='' trash=0 run_mapped limited "$base" "$n"
    lock=none trash=1d run_mapped none-kept "$base" "$n"
    lock='' trash=1d run_mapped limited-kept "$base" "$n"
  done
  remove "$base" "$keyed"
  report none "$n rows, no lock budget, no trash" 'foreign keys' 0.5
  [[ ! $only_c ]] || return 0
  report limited "$n rows, no trash" 'foreign keys' 1
  report none-kept "$n rows, no lock budget" 'foreign keys' 1
  report limited-kept "$n rows" 'foreign keys' 1.5
}
