# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

tenant_model="
  sweeps: {},
  collections: {
    tenants: { table: 'tenant', key: 'id' }, posts: { table: 'post', key: 'id' },
    comments: { table: 'comment', key: 'id' } },
  relationships: [
    { name: 'tenant', from: 'posts', to: 'tenants', column: 'tenant',
      rules: ['deleteSourceIfDestinationDeleted'] },
    { name: 'post', from: 'comments', to: 'posts', column: 'post',
      rules: ['deleteSourceIfDestinationDeleted'] } ]"

# load_tenants STORE ROWS: two tenants with so many rows each, behind foreign keys that cascade.
load_tenants() {
  sqlite3 "$1" >/dev/null <<END
PRAGMA journal_mode = WAL; PRAGMA cache_size = -200000;
BEGIN;
CREATE TABLE tenant(id INTEGER PRIMARY KEY);
CREATE TABLE post(id INTEGER PRIMARY KEY, tenant INTEGER REFERENCES tenant ON DELETE CASCADE, title TEXT);
CREATE TABLE comment(id INTEGER PRIMARY KEY, post INTEGER REFERENCES post ON DELETE CASCADE, body TEXT);
INSERT INTO tenant VALUES(1), (2);
INSERT INTO post SELECT value, 1 + value % 2, 'the title of ' || value FROM generate_series(1, $2 / 5);
INSERT INTO comment SELECT value, 1 + value % ($2 / 5), 'what somebody says in ' || value
  FROM generate_series(1, $2 * 9 / 5);
CREATE INDEX post_tenant ON post(tenant); CREATE INDEX comment_post ON comment(post);
COMMIT;
PRAGMA wal_checkpoint(TRUNCATE);
END
}

# rows_of_tenant STORE: how many nodes go with the first tenant.
rows_of_tenant() {
  sqlite3 "$1" 'SELECT 1 + (SELECT count(*) FROM post WHERE tenant = 1)
    + (SELECT count(*) FROM comment WHERE post IN (SELECT id FROM post WHERE tenant = 1))'
}

# time_job NAME BASE COUNT COMMAND…: the seconds of a job on a copy; it must delete COUNT nodes.
time_job() {
  local store=$work/ours.db begun reply
  cp "$2" "$store"
  start "$store" "$tenant_model"
  ready "$store"
  settle
  begun=$EPOCHREALTIME
  reply=$(ctl "$store" "${@:4}" --expect "$3") || die "${*:4} failed: $reply"
  seconds_since "$begun" >>"$work/$1"
  [[ $reply == *"\"deletedCount\":$3,"* ]] || die "${*:4} did not delete $3 nodes: $reply"
  peak >"$work/peak"
  stop
  require_sound "$store"
  remove "$store"
}

bench_delete() {
  local n=${size:-1000000} base=$work/base.db count begun
  load_tenants "$base" "$n"
  count=$(rows_of_tenant "$base")
  for ((run = 0; run < runs; run++)); do
    [[ $only_c ]] || time_job delete.ours "$base" "$count" delete tenants/1
    cp "$base" "$work/c.db"
    settle
    begun=$EPOCHREALTIME
    sqlite3 "$work/c.db" 'PRAGMA foreign_keys = ON; DELETE FROM tenant WHERE id = 1'
    seconds_since "$begun" >>"$work/delete.c"
    remove "$work/c.db"
  done
  report delete "a tenant with $count rows, as a job" 'its own statement' 1.5 \
    "${only_c:-   (memory $(cat "$work/peak" 2>/dev/null) MB)}"
  remove "$base"
}

bench_erase() {
  local n=${size:-100000} base=$work/base.db count
  [[ ! $only_c ]] || return 0
  load_tenants "$base" "$n"
  count=$(rows_of_tenant "$base")
  for ((run = 0; run < runs; run++)); do
    time_job erase.ours "$base" "$count" erase tenants/1
    time_job erase.c "$base" "$count" delete tenants/1
  done
  report erase "a tenant with $count rows, erased" 'the same, deleted' 2
  remove "$base"
}
