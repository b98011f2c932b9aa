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

count_of_tree() {
  sqlite3 "$1" 'SELECT (SELECT count(*) FROM artist) + (SELECT count(*) FROM album)
    + (SELECT count(*) FROM song) + (SELECT count(*) FROM play)'
}

# require_left STORE ROWS: so many of the tree are left, and the database is sound.
require_left() {
  local rows
  rows=$(count_of_tree "$1")
  ((rows == $2)) || die "$1: $rows rows are left, not $2"
  require_sound "$1"
}

# run_mapped NAME BASE [STAY LEFT]: the application deletes the artists of a copy, but for STAY of
# them, and a sweep what follows, until LEFT rows are left.
run_mapped() {
  local store=$work/ours.db own swept
  cp "$2" "$store"
  start "$store" "$mapped_model"
  ready "$store"
  settle
  own=$("$work/mapped" delete "$store" ${3+"$3"})
  swept=$(sweep "$store" $(($(count_of_tree "$store") - ${4-0})) cascade)
  awk "BEGIN { print $own + $swept }" >>"$work/$1.ours"
  echo "memory $(peak) MB, the application's delete $own s" >"$work/$1.remark"
  stop
  require_left "$store" "${4-0}"
  remove "$store"
}

# run_keyed BASE [STAY]: the same by foreign keys; prints the seconds.
run_keyed() {
  local theirs=$work/c.db
  cp "$1" "$theirs"
  settle
  CACHE_KIB=$cache "$work/mapped" delete "$theirs" ${2+"$2"}
}

# Both sides are loaded once, and copied for each run. Where one artist stays, no table is emptied.
bench_mapped() {
  local n=${size:-1000000} base=$work/base.db keyed=$work/keyed.db theirs=$work/c.db left

  "$work/mapped" load "$keyed" "$n" keyed "${order:-random}"
  [[ $only_c ]] || load_mapped "$base" "$n"
  for ((run = 0; run < runs; run++)); do
    run_keyed "$keyed" | tee -a "$work"/{none,limited,none-kept,limited-kept}.c >/dev/null
    require_left "$theirs" 0
    remove "$theirs"
    run_keyed "$keyed" 1 >>"$work/one.c"
    left=$(count_of_tree "$theirs")
    require_sound "$theirs"
    remove "$theirs"
    [[ ! $only_c ]] || continue
    lock=none trash=0 run_mapped none "$base"
    lock=none trash=0 run_mapped one "$base" 1 "$left"
    lock='' trash=0 run_mapped limited "$base"
    lock=none trash=1d run_mapped none-kept "$base"
    lock='' trash=1d run_mapped limited-kept "$base"
  done
  remove "$base" "$keyed"
  report none "$n rows, no lock budget, no trash" 'foreign keys' 0.5
  report one 'the same, where one artist stays' 'foreign keys' 0.5
  [[ ! $only_c ]] || return 0
  report limited "$n rows, no trash" 'foreign keys' 1
  report none-kept "$n rows, no lock budget" 'foreign keys' 1
  report limited-kept "$n rows" 'foreign keys' 1.5
}
