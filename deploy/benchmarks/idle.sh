# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

idle_model="
  collections: {
    artists: { table: 'artist', key: 'id' }, albums: { table: 'album', key: 'id' } },
  relationships: [
    { name: 'artist', from: 'albums', to: 'artists', column: 'artist_id',
      inverse: { name: 'albums', deleteRule: 'cascade' } } ],
  sweeps: { cascade: 'immediate', refcount: '@hourly', dangling: '@hourly' }"

# make_idle COUNT: so many stores and their models.
make_idle() {
  local directory
  mkdir -p "$work/idle/models"
  for ((i = 0; i < $1; i++)); do
    directory=$work/idle/$i
    mkdir "$directory"
    sqlite3 "$directory/store.db" 'PRAGMA journal_mode = WAL;
      CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE album(id INTEGER PRIMARY KEY, artist_id INTEGER, title TEXT);
      CREATE INDEX album_artist ON album(artist_id);
      INSERT INTO artist VALUES(1, NULL), (2, NULL);
      INSERT INTO album VALUES(1, 1, NULL), (2, 1, NULL), (3, 2, NULL)' >"$work/idle/made"
    printf '{ store: "%s", %s }\n' "$directory/store.db" "$idle_model" >"$work/idle/models/$i.json"
  done
}

start_idle() {
  "$BIN/cascaded" --config "$work/idle/models" --socket "$work/idle/socket" \
    >"$work/daemon.log" 2>&1 &
  daemon=$!
  for ((i = 0; i < 1000; i++)); do
    [[ ! -S $work/idle/socket ]] || return 0
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.01
  done
  die "cascaded did not start"
}

# wakeups SECONDS: how often any of its threads woke up in that time. A thread takes its count with it
# when it ends, so they are asked all the time.
wakeups() {
  for ((i = 0; i <= $1; i++)); do
    awk -v second="$i" '/^voluntary/ { print second, FILENAME, $2 }' \
      "/proc/$daemon"/task/*/status 2>/dev/null || true
    sleep 1
  done | awk '
    $1 == 0 { before[$2] = $3 }
    { last[$2] = $3 }
    END { for (thread in last) sum += last[thread] - before[thread]; print sum }'
}

# measure_idle WHAT WAKEUPS MEGABYTES: of a minute in which nothing happens.
measure_idle() {
  sleep 40
  bound "$1: wake-ups in a minute" "$(wakeups 60)" '' "$2"
  bound "$1: resident" \
    "$(awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$daemon/status")" MB "$3"
}

# run_idle COUNT WHAT WAKEUPS MEGABYTES
run_idle() {
  make_idle "$1"
  start_idle
  measure_idle "$2" "$3" "$4"
  for ((i = 0; i < $1; i++)); do
    sqlite3 "$work/idle/$i/store.db" 'DELETE FROM artist WHERE id = 1'
  done
  "$BIN/cascadectl" --socket "$work/idle/socket" --quiet sweep all
  measure_idle "$2, behind sweeps" "$3" "$4"
  stop
  rm -r "$work/idle"
}

# There is nothing to compare it with: what is not there costs nothing.
bench_idle() {
  [[ ! $only_c ]] || return 0
  run_idle 1 'one store' 5 16
  run_idle "${size:-100}" "${size:-100} stores" 60 80
}
