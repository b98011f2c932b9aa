# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

expired_model="
  sweeps: { expired: '@every 1s' },
  collections: { events: { table: 'event', key: 'id', expires: { column: 'at', after: '1h', as: 'unix' } } }"

# load_events STORE ROWS: as many a second become overdue from now on as later come in.
load_events() {
  "$work/writer" prepare "$1"
  sqlite3 "$1" >/dev/null <<END
PRAGMA journal_mode = WAL; PRAGMA cache_size = -200000;
BEGIN;
CREATE TABLE event(id INTEGER PRIMARY KEY, at INTEGER, state TEXT);
INSERT INTO event(at, state)
  SELECT unixepoch() - 3600 + value / 3000, 'the state of ' || value FROM generate_series(1, $2);
CREATE INDEX event_at ON event(at);
COMMIT;
PRAGMA wal_checkpoint(TRUNCATE);
END
}

# add_events STORE: 3,000 rows a second, in ten transactions.
add_events() {
  local next=$EPOCHREALTIME
  while true; do
    sqlite3 "$1" ".timeout 10000" "INSERT INTO event(at, state)
      SELECT unixepoch(), 'the state of ' || value FROM generate_series(1, 300)" || return
    next=$(awk "BEGIN { print $next + 0.1 }")
    sleep "$(awk "BEGIN { left = $next - $EPOCHREALTIME; print (left > 0 ? left : 0) }")"
  done
}

overdue() { sqlite3 "$1" 'SELECT count(*) FROM event WHERE at < unixepoch() - 3600'; }

bench_expired() {
  local n=${size:-1000000} store=$work/ours.db early late
  [[ ! $only_c ]] || return 0
  rm -f "$work/expired.latency"
  load_events "$store" "$n"
  start "$store" "$expired_model"
  ready "$store"
  add_events "$store" &
  adder=$!
  sleep 10
  start_writer "$store" 2000
  early=$(overdue "$store")
  sleep 30
  late=$(overdue "$store")
  stop_writer expired
  kill "$adder"
  wait "$adder" || true
  adder=''
  printf '%-44s overdue at first %s, 30 s later %s\n' \
    "$n rows, 3,000 a second come and go" "$early" "$late"
  bound '    overdue, in seconds of rows' "$((late / 3000))" s 5
  show_latency expired '  the writer'
  bound '    p99' "$(latency expired 2)" ms 25
  bound '    memory' "$(peak)" MB 160
  stop
  require_sound "$store"
  remove "$store"
}
