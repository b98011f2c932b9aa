# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# cascaded-postgres, on a server of its own with the settings of PostgreSQL, except for those here.
pg_settings=(-c listen_addresses= -c shared_buffers=256MB -c max_wal_size=4GB)

pg_model="
  collections: {
    artists: { table: 'artist', key: 'id' }, albums: { table: 'album', key: 'id' },
    songs: { table: 'song', key: 'id' }, plays: { table: 'play', key: 'id' } },
  relationships: [
    { name: 'artist', from: 'albums', to: 'artists', column: 'artist_id',
      rules: ['deleteSourceIfDestinationDeleted'] },
    { name: 'album', from: 'songs', to: 'albums', column: 'album_id',
      rules: ['deleteSourceIfDestinationDeleted'] },
    { name: 'song', from: 'plays', to: 'songs', column: 'song_id',
      rules: ['deleteSourceIfDestinationDeleted'] } ]"

pg_counts_model="
  collections: { photos: { table: 'photo', key: 'id' }, posts: { table: 'post', key: 'id' } },
  relationships: [
    { name: 'photo', from: 'posts', to: 'photos', column: 'photo_id',
      rules: ['deleteDestinationIfAllSourcesDeleted'] } ]"

# The server

start_server() {
  local as=()
  pg_bin=${PG_BIN:-$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)}
  [[ -x $pg_bin/initdb && -x $pg_bin/pgbench ]] || die "PostgreSQL is not installed, or not in \$PG_BIN"
  [[ -x $BIN/cascaded-postgres ]] || die "there is no cascaded-postgres in $BIN"
  pg_home=$work/pg
  mkdir -m 700 "$pg_home"
  if ((EUID == 0)); then # as which it does not run
    chmod 711 "$work"
    chown nobody:nogroup "$pg_home"
    as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
  fi
  (cd "$pg_home" && "${as[@]}" "$pg_bin/initdb" -D "$pg_home/data" -U postgres -A trust -E UTF8 \
    --locale=C.UTF-8 >/dev/null)
  (cd "$pg_home" && exec "${as[@]}" "$pg_bin/postgres" -D "$pg_home/data" -k "$pg_home" \
    "${pg_settings[@]}") >"$work/postgres.log" 2>&1 &
  writer=$! # deploy/bench ends it
  until "$pg_bin/pg_isready" -q -h "$pg_home"; do sleep 0.1; done
  pg postgres postgres 'CREATE ROLE application LOGIN' -c 'CREATE ROLE cascaded LOGIN'
  echo "PostgreSQL $(pg postgres postgres 'SHOW server_version'), steps of 100 ms by default"
}

stop_server() {
  kill -INT "$writer"
  wait "$writer" || true
  writer=''
  rm -rf "$pg_home"
}

# pg ROLE DATABASE SQL [ARGUMENT…]
pg() {
  PGOPTIONS='--client-min-messages=warning' "$pg_bin/psql" -XAtq -v ON_ERROR_STOP=1 \
    -h "$pg_home" -U "$1" -d "$2" -c "$3" "${@:4}"
}

# make DATABASE [TEMPLATE]: the application's, with the rights of the daemon.
make() {
  pg postgres postgres "DROP DATABASE IF EXISTS $1" \
    -c "CREATE DATABASE $1 OWNER application TEMPLATE ${2:-template0}" \
    -c "GRANT CREATE ON DATABASE $1 TO cascaded" -c CHECKPOINT
  [[ ${2-} ]] || pg application "$1" 'GRANT USAGE ON SCHEMA public TO cascaded' -c \
    'ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON TABLES TO cascaded'
}

# serve DATABASE MODEL [NAME]: a daemon for it, which sweeps by itself only if `immediate` is set.
serve() {
  local spool=$work/spool-${3:-one}
  rm -rf "$spool"
  mkdir -p "$spool"
  cat >"$spool.json" <<END
{
  store: "postgresql:///$1?host=$pg_home&user=cascaded", spool: "$spool",
  limits: { ${lock:+lock: \"$lock\",} hold: { deletes: 100000000, share: 1 } },
  trash: "$trash", ${immediate:+"// "}sweeps: {},
  $2
}
END
  "$BIN/cascaded-postgres" --model "$spool.json" >"$work/daemon.log" 2>&1 &
  daemon+=" $!"
  [[ ${3-} == two ]] || until pg_ctl_status | grep -q '"state":"ok"'; do sleep 0.02; done
}

pg_ctl_status() { "$BIN/cascadectl" --socket "$work/spool-one/control" --json status 2>/dev/null; }

unserve() {
  local process
  for process in $daemon; do
    kill -TERM "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  daemon=''
}

pg_ctl() { "$BIN/cascadectl" --socket "$work/spool-one/control" --json "$@"; }

timed() {
  local start=$EPOCHREALTIME
  "$@" >"$work/reply" || die "failed: $* $(<"$work/reply")"
  seconds_since "$start"
}

# What goes

pg_music() {
  local n=$1
  make plain
  pg application plain "
    CREATE TABLE artist(id text PRIMARY KEY, title text NOT NULL, added bigint NOT NULL);
    CREATE TABLE album(id text PRIMARY KEY, artist_id text, title text NOT NULL, added bigint NOT NULL);
    CREATE TABLE song(id text PRIMARY KEY, album_id text, title text NOT NULL, added bigint NOT NULL);
    CREATE TABLE play(id text PRIMARY KEY, song_id text, title text NOT NULL, added bigint NOT NULL);
    CREATE FUNCTION k(level int, i bigint) RETURNS text IMMUTABLE LANGUAGE sql AS
      \$\$ SELECT md5(level || '-' || i) \$\$;
    INSERT INTO artist SELECT k(0, i), 'artist number ' || i, i FROM generate_series(0, $n / 1000 - 1) i;
    INSERT INTO album SELECT k(1, i), k(0, i % ($n / 1000)), 'album number ' || i, i
      FROM generate_series(0, $n / 100 - 1) i;
    INSERT INTO song SELECT k(2, i), k(1, (random() * ($n / 100 - 1))::int), 'song number ' || i, i
      FROM generate_series(0, $n / 10 - 1) i;
    INSERT INTO play SELECT k(3, i), k(2, (random() * ($n / 10 - 1))::int), 'play number ' || i, i
      FROM generate_series(0, $n - $n / 10 - $n / 100 - $n / 1000 - 1) i;
    CREATE INDEX ON album(artist_id); CREATE INDEX ON song(album_id); CREATE INDEX ON play(song_id)"
  make keyed plain
  pg application keyed "
    ALTER TABLE album ADD FOREIGN KEY (artist_id) REFERENCES artist ON DELETE CASCADE;
    ALTER TABLE song ADD FOREIGN KEY (album_id) REFERENCES album ON DELETE CASCADE;
    ALTER TABLE play ADD FOREIGN KEY (song_id) REFERENCES song ON DELETE CASCADE"
  pg postgres plain 'VACUUM ANALYZE'
  pg postgres keyed 'VACUUM ANALYZE'
}

# run_music NAME: the application's deletion and the sweep, and the count for the hold.
run_music() {
  local own counted swept
  make ours plain
  serve ours "$pg_model"
  own=$(timed pg application ours 'DELETE FROM artist')
  counted=$(timed pg_ctl sweep --dry-run)
  swept=$(timed pg_ctl sweep cascade refcount)
  [[ $(pg application ours 'SELECT count(*) FROM play') == 0 ]] || die "not everything went"
  awk "BEGIN { print $own + $swept }" >>"$work/pg-$1.ours"
  echo "$counted" >>"$work/pg-hold.ours"
  unserve
}

# The same by statements alone: what they take, with the names and reasons that `why` needs, where they
# leave what refers to a row that is there again.
pg_bare_music() {
  make bare plain
  pg application bare "
    CREATE TABLE gone(id bigserial PRIMARY KEY, level int, size int, keys text[], others text[], rows text[]);
    ALTER TABLE gone ALTER keys SET STORAGE external, ALTER others SET STORAGE external,
      ALTER rows SET STORAGE external;
    CREATE PROCEDURE sweep(most int, is_kept bool) LANGUAGE plpgsql AS \$\$ DECLARE
      tables text[] := '{album,song,play}'; columns text[] := '{artist_id,album_id,song_id}';
      parents text[] := '{artist,album,song}';
      statement text; taken record; BEGIN
      FOR n IN 1..3 LOOP
        statement := format('WITH d AS (
            DELETE FROM %1\$I WHERE %2\$I = ANY(ARRAY(
              SELECT k FROM unnest((SELECT keys[\$2:\$3] FROM gone WHERE id = \$1)::text[]) k
              WHERE NOT EXISTS (SELECT FROM %5\$I WHERE id = k)))
            RETURNING *)
          INSERT INTO gone(level, size, keys, others, rows)
          SELECT %3\$s, count(*), array_agg(id), array_agg(%2\$I), %4\$s FROM d',
          tables[n], columns[n], n, CASE WHEN is_kept THEN 'array_agg(d::text)' ELSE 'NULL' END, parents[n]);
        FOR taken IN SELECT id, part FROM gone, generate_series(1, size, most) part
          WHERE level = n - 1 ORDER BY 1, 2 LOOP
          EXECUTE statement USING taken.id, taken.part, taken.part + most - 1;
          COMMIT;
        END LOOP;
      END LOOP; END \$\$"
  pg postgres bare 'ALTER DATABASE bare SET jit = off' -c 'ALTER DATABASE bare SET enable_seqscan = off' \
    -c 'ALTER DATABASE bare SET enable_hashjoin = off' -c 'ALTER DATABASE bare SET enable_mergejoin = off'
  timed pg application bare "WITH d AS (DELETE FROM artist RETURNING id)
    INSERT INTO gone(level, size, keys) SELECT 0, count(*), array_agg(id) FROM d" \
    -c "CALL sweep($2, $3)" >>"$work/pg-$1.bare"
  [[ $(pg application bare 'SELECT count(*) FROM play') == 0 ]] || die "not everything went"
}

# report_bare NAME: beside the line before it.
report_bare() {
  local bare theirs
  bare=$(median "$work/$1.bare") theirs=$(median "$work/$1.c")
  printf '  its statements alone %s s   ratio %s\n' "$bare" "$(awk "BEGIN { printf \"%.2f\", $bare / $theirs }")"
}

pg_cascade() {
  local n=$1
  pg_music "$n"
  for ((run = 0; run < runs; run++)); do
    make theirs keyed
    timed pg application theirs 'DELETE FROM artist' |
      tee -a "$work"/pg-{none,default,trash,hold}.c >/dev/null
    lock=none trash=0 run_music none
    lock='' trash=0 run_music default
    lock='' trash=1d run_music trash
    pg_bare_music none 1000000000 false
    pg_bare_music default 3000 false
    pg_bare_music trash 3000 true
  done
  report pg-none "$n rows, lock: none" 'foreign keys' 0.7
  report_bare pg-none
  report pg-default "$n rows, default steps" 'foreign keys' 1.1
  report_bare pg-default
  report pg-trash "$n rows, with trash" 'foreign keys' 1.4
  report_bare pg-trash
  report pg-hold "$n rows, the count for the hold" 'foreign keys' 0.2
}

pg_counts() {
  local n=$1 own swept
  make posts
  pg application posts "
    CREATE TABLE photo(id text PRIMARY KEY, title text NOT NULL);
    CREATE TABLE post(id text PRIMARY KEY, photo_id text, title text NOT NULL);
    INSERT INTO photo SELECT md5('p' || i), 'photo number ' || i FROM generate_series(0, $n / 4 - 1) i;
    INSERT INTO post SELECT md5('q' || i), md5('p' || (random() * ($n / 4 - 1))::int),
      'post number ' || i FROM generate_series(1, $n) i;
    CREATE INDEX ON post(photo_id)"
  pg postgres posts 'VACUUM ANALYZE'
  for ((run = 0; run < runs; run++)); do
    make theirs posts
    pg application theirs "
      CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
        DELETE FROM photo WHERE id = OLD.photo_id
          AND NOT EXISTS (SELECT FROM post WHERE photo_id = OLD.photo_id);
        RETURN NULL; END \$\$;
      CREATE TRIGGER look AFTER DELETE ON post FOR EACH ROW EXECUTE FUNCTION look()"
    timed pg application theirs 'DELETE FROM post' >>"$work/pg-counts.c"
    make ours posts
    lock='' trash=0 serve ours "$pg_counts_model"
    own=$(timed pg application ours 'DELETE FROM post')
    swept=$(timed pg_ctl sweep cascade refcount)
    awk "BEGIN { print $own + $swept }" >>"$work/pg-counts.ours"
    unserve
    pg_bare_counts
  done
  report pg-counts "$n posts that share photos" 'triggers that look' 0.5
  report_bare pg-counts
}

# The same by statements alone: a journal of the edges, and deletions that keep names and reasons. Rows are
# locked before they are looked at, so that a post that is added meanwhile keeps its photo.
pg_bare_counts() {
  make bare posts
  pg application bare "
    CREATE TABLE journal(key text, other text);
    CREATE TABLE gone(id bigserial PRIMARY KEY, keys text[], others text[]);
    ALTER TABLE gone ALTER keys SET STORAGE external, ALTER others SET STORAGE external;
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
      INSERT INTO journal SELECT id, photo_id FROM old;
      RETURN NULL; END \$\$;
    CREATE TRIGGER note AFTER DELETE ON post REFERENCING OLD TABLE AS old
      FOR EACH STATEMENT EXECUTE FUNCTION note();
    CREATE PROCEDURE sweep(most int) LANGUAGE plpgsql AS \$\$ DECLARE
      lost text[]; posts text[]; BEGIN
      FOR lost, posts IN SELECT array_agg(other), array_agg(key) FROM (
          SELECT other, key, (row_number() OVER (ORDER BY other) - 1) / most AS step
          FROM (SELECT other, min(key) AS key FROM journal GROUP BY 1) j) j GROUP BY step LOOP
        PERFORM FROM photo WHERE id = ANY(lost) FOR UPDATE;
        WITH d AS (DELETE FROM photo WHERE id = ANY(lost)
            AND NOT EXISTS (SELECT FROM post WHERE photo_id = photo.id) RETURNING id)
          INSERT INTO gone(keys, others) SELECT array_agg(d.id), array_agg(l.key)
          FROM d JOIN unnest(lost, posts) l(other, key) ON l.other = d.id;
        COMMIT;
      END LOOP; END \$\$"
  timed pg application bare 'DELETE FROM post' -c 'CALL sweep(5000)' >>"$work/pg-counts.bare"
  [[ $(pg application bare 'SELECT count(*) FROM photo JOIN journal ON other = id') == 0 ]] ||
    die "not everything went"
}

# What others notice

# percentiles LOG…: the 99th percentile and the maximum of pgbench's logs, in ms.
percentiles() {
  cat "$@" | awk '{ print $3 / 1000 }' | sort -n | awk '
    { time[NR] = $1 } END { printf "%.2f %.2f", time[int(NR * 0.99)], time[NR] }'
}

# update_plays DATABASE SIZE SECONDS: a client that changes rows one by one.
update_plays() {
  printf '\\set n random(0, %s)\nUPDATE play SET added = added + 1 WHERE id = md5(%s);\n' \
    "$(($2 / 2))" "'3-' || :n" >"$work/update.sql"
  rm -f "$work"/update.log*
  "$pg_bin/pgbench" -n -h "$pg_home" -U application -M prepared -T "$3" -l \
    --log-prefix="$work/update.log" -f "$work/update.sql" "$1" >/dev/null 2>&1
  percentiles "$work"/update.log*
}

pg_writer() {
  local n=$1 alone beside
  make ours plain
  lock='' trash=0 serve ours "$pg_model"
  alone=$(update_plays ours "$n" 3)
  pg application ours 'DELETE FROM artist'
  pg_ctl sweep cascade refcount >/dev/null &
  beside=$(update_plays ours "$n" 3)
  wait $!
  unserve
  echo "updates of rows that are about to go: alone p99 ${alone% *} ms, max ${alone#* } ms"
  bound '  beside the sweep, p99' "${beside% *}" ms 25
  bound '  beside the sweep, max' "${beside#* }" ms 150
}

# 100 change files, each of which deletes a row, are 100 batches. Copies of them are the others.
pg_load_batches() {
  local i
  make ours plain
  lock='' trash=1d serve ours "$pg_model"
  for ((i = 0; i < 100; i++)); do
    echo "{ \"changes\": [{ \"delete\": [\"plays\", \"$(pg application ours \
      "SELECT id FROM play LIMIT 1")\"] }] }" >"$work/change.json"
    pg_ctl apply "$work/change.json" >/dev/null || die 'a change was not applied'
  done
  unserve
  pg postgres ours "
    CREATE TEMP TABLE n AS SELECT i * (SELECT max(batch) FROM cascade.ledger) AS i
      FROM generate_series(1, $1 / 100 - 1) i;
    INSERT INTO cascade.deleted(batch, collection, via, rule, is_own, follows, bucket, size, shape, keys, others, rows)
      SELECT d.batch + n.i, collection, via, rule, is_own, follows, bucket, size, shape, keys, others, rows
      FROM n, cascade.deleted d;
    INSERT INTO cascade.ledger SELECT (jsonb_populate_record(l, jsonb_build_object(
      'batch', l.batch + n.i, 'id', l.id || n.i))).* FROM n, cascade.ledger l;
    SELECT setval('cascade.batch', (SELECT max(batch) FROM cascade.ledger))" >/dev/null
  pg postgres ours 'VACUUM ANALYZE'
  (($(pg_batches) == $1)) || die "there are not $1 batches"
}

pg_batches() { pg postgres ours 'SELECT count(DISTINCT batch) FROM cascade.deleted'; }

# pg_expiry BATCHES SIZE: all of them are forgotten beside a client that changes rows one by one.
pg_expiry() {
  local begun updates took writer_times
  pg_load_batches "$1"
  lock='' trash=1ms serve ours "$pg_model"
  update_plays ours "$2" 20 >"$work/updates" &
  updates=$!
  begun=$EPOCHREALTIME
  pg_ctl sweep trash >/dev/null || die 'the sweep failed'
  took=$(seconds_since "$begun")
  wait "$updates"
  unserve
  (($(pg_batches) == 0)) || die 'not all batches were forgotten'
  writer_times=$(<"$work/updates")
  bound "$1 batches are forgotten" "$took" s 60
  bound '  updates beside it, p99' "${writer_times% *}" ms 25
  bound '  updates beside it, max' "${writer_times#* }" ms 100
}

# backend_seconds DATABASE SQL: what the server's process computed for it.
backend_seconds() {
  local ticks="SELECT split_part(pg_read_file('/proc/self/stat'), ' ', 14)::int
    + split_part(pg_read_file('/proc/self/stat'), ' ', 15)::int"
  pg postgres "$1" "$ticks" -c 'SET ROLE application' -c "$2" -c 'RESET ROLE' -c "$ticks" |
    awk 'NR == 1 { first = $1 } { last = $1 } END { print (last - first) / 100 }'
}

# A trigger that writes the keys of deleted rows, and nothing else.
pg_bare_note="
  CREATE TABLE journal(key text);
  CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
    INSERT INTO journal SELECT id FROM old;
    RETURN NULL; END \$\$;
  CREATE TRIGGER note AFTER DELETE ON song REFERENCING OLD TABLE AS old
    FOR EACH STATEMENT EXECUTE FUNCTION note()"

pg_bulk() {
  local n=$1 side
  for ((run = 0; run < runs; run++)); do
    for side in c bare ours; do
      make bulk plain
      case $side in
        ours) lock='' trash=0 serve bulk "$pg_model" ;;
        bare) pg application bulk "$pg_bare_note" ;;
      esac
      backend_seconds bulk "INSERT INTO song SELECT md5('n' || i), k(1, i % ($n / 100)),
        'song number ' || i, i FROM generate_series(1, $n / 5) i" >>"$work/pg-insert.$side"
      backend_seconds bulk "DELETE FROM song WHERE id IN
        (SELECT md5('n' || i) FROM generate_series(1, $n / 5) i)" >>"$work/pg-delete.$side"
      [[ $side != ours ]] || unserve
    done
  done
  report pg-insert "$((n / 5)) rows inserted, CPU" 'without' 1.1
  report pg-delete "$((n / 5)) rows deleted, CPU" 'without' 1.2
  report_bare pg-delete
}

# clients DATABASE: commits a second of eight clients.
clients() {
  cat >"$work/clients.sql" <<'END'
\set n random(0, 999999999)
INSERT INTO artist VALUES('c' || :n, 'x', 0) ON CONFLICT DO NOTHING;
DELETE FROM artist WHERE id = 'c' || :n;
END
  "$pg_bin/pgbench" -n -h "$pg_home" -U application -M prepared -c 8 -j 2 -T 5 \
    -f "$work/clients.sql" "$1" 2>/dev/null | awk '/^tps/ { printf "%.0f", $3 * 2 }'
}

# With the daemon, its sweeps are work of the same processors, so it only reads the journal here.
pg_clients() {
  local without with
  make ours plain
  lock='' trash=0 serve ours "$pg_model"
  with=$(clients ours)
  unserve
  pg postgres ours 'DELETE FROM cascade.asleep' -c 'TRUNCATE cascade.journal'
  without=$(clients ours)
  bound "eight clients: $with commits/s, $without without NOTIFY" \
    "$(awk "BEGIN { printf \"%.2f\", $without / $with }")" '' 1.11
}

make_measured() {
  make ours
  pg application ours "
    CREATE TABLE artist(id int PRIMARY KEY); CREATE TABLE album(id int PRIMARY KEY, artist_id int);
    CREATE TABLE song(id int PRIMARY KEY, album_id int); CREATE TABLE play(id int, song_id int);
    ALTER TABLE play ADD PRIMARY KEY (id);
    INSERT INTO artist SELECT generate_series(1, 300);
    INSERT INTO album SELECT i, 1 + i / 10 FROM generate_series(0, 2999) i;
    INSERT INTO song SELECT i, i / 4 FROM generate_series(0, 11999) i;
    CREATE INDEX ON album(artist_id); CREATE INDEX ON song(album_id); CREATE INDEX ON play(song_id);
    CREATE TABLE took(ms float);
    CREATE PROCEDURE measure() LANGUAGE plpgsql AS \$\$ DECLARE start timestamptz; BEGIN
      FOR n IN 1..300 LOOP
        DELETE FROM artist WHERE id = n;
        COMMIT;
        start := clock_timestamp();
        WHILE EXISTS (SELECT FROM song WHERE album_id = (n - 1) * 10 + 9)
          OR EXISTS (SELECT FROM album WHERE artist_id = n) LOOP
          COMMIT;
          PERFORM pg_sleep(0.0005);
        END LOOP;
        INSERT INTO took VALUES(1000 * extract(epoch FROM clock_timestamp() - start));
        COMMIT;
        PERFORM pg_sleep(0.05);
      END LOOP; END \$\$"
  pg postgres ours 'VACUUM ANALYZE'
}

pg_latency() {
  make_measured
  immediate=yes lock='' trash=1d serve ours "$pg_model"
  pg application ours 'CALL measure()'
  bound 'commit to the end of 50 rows, p50' "$(took 0.5)" ms 5
  bound 'commit to the end of 50 rows, p99' "$(took 0.99)" ms 25
  unserve
  make_measured
  pg_bare_latency
}

# What is needed at least: a client in C that waits, and sends one statement.
pg_bare_latency() {
  gcc -O2 -Wall -Wextra -o "$work/listen" "$here/benchmarks/postgres/listen.c" \
    -I"$("$pg_bin/pg_config" --includedir)" -lpq
  pg application ours "
    CREATE TABLE journal(key int); CREATE TABLE gone(name text, keys int[], others int[], rows text[]);
    CREATE FUNCTION journal() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
      INSERT INTO journal SELECT id FROM old;
      PERFORM pg_notify('journal', '');
      RETURN NULL; END \$\$;
    CREATE TRIGGER journal AFTER DELETE ON artist REFERENCING OLD TABLE AS old
      FOR EACH STATEMENT EXECUTE FUNCTION journal()"
  "$work/listen" "host=$pg_home user=application dbname=ours" journal "
    WITH j AS (DELETE FROM journal RETURNING key),
    a AS (DELETE FROM album WHERE artist_id = ANY(ARRAY(SELECT key FROM j)) RETURNING *),
    s AS (DELETE FROM song WHERE album_id = ANY(ARRAY(SELECT id FROM a)) RETURNING *),
    p AS (DELETE FROM play WHERE song_id = ANY(ARRAY(SELECT id FROM s)) RETURNING *)
    INSERT INTO gone
    SELECT 'album', array_agg(id), array_agg(artist_id), array_agg(a::text) FROM a
    UNION ALL SELECT 'song', array_agg(id), array_agg(album_id), array_agg(s::text) FROM s
    UNION ALL SELECT 'play', array_agg(id), array_agg(song_id), array_agg(p::text) FROM p" &
  daemon=$!
  sleep 0.5
  pg application ours 'CALL measure()'
  echo "  its statements alone, p50 $(took 0.5) ms, p99 $(took 0.99) ms"
  kill "$daemon"
  wait "$daemon" 2>/dev/null || true
  daemon=''
}

took() {
  pg application ours \
    "SELECT round(percentile_cont($1) WITHIN GROUP (ORDER BY ms)::numeric, 2) FROM took"
}

pg_takeover() {
  local start leader
  make ours
  pg application ours "CREATE TABLE artist(id int PRIMARY KEY);
    CREATE TABLE album(id int PRIMARY KEY, artist_id int); CREATE TABLE song(id int PRIMARY KEY, album_id int);
    CREATE TABLE play(id int PRIMARY KEY, song_id int); CREATE INDEX ON album(artist_id);
    CREATE INDEX ON song(album_id); CREATE INDEX ON play(song_id);
    INSERT INTO artist VALUES(1); INSERT INTO album VALUES(1, 1)"
  immediate=yes lock='' trash=1d serve ours "$pg_model"
  leader=${daemon# }
  immediate=yes lock='' trash=1d serve ours "$pg_model" two
  sleep 3
  kill -KILL "$leader"
  wait "$leader" 2>/dev/null || true
  start=$EPOCHREALTIME
  pg application ours 'DELETE FROM artist'
  until [[ $(pg application ours 'SELECT count(*) FROM album') == 0 ]]; do sleep 0.01; done
  bound 'a killed leader to the next commit' "$(seconds_since "$start")" s 3
  unserve
}

bench_postgres-expiry() {
  local n=${size:-100000} lock='' trash=0 immediate='' pg_bin pg_home
  [[ ! $only_c ]] || return 0
  start_server
  pg_music 100000
  pg_expiry "$n" 100000
  stop_server
}

bench_postgres() {
  local n=${size:-1000000} lock='' trash=0 immediate='' pg_bin pg_home
  [[ ! $only_c ]] || return 0
  rm -f "$work"/pg-*
  start_server
  pg_cascade "$n"
  pg_counts "$((n / 5))"
  pg_writer "$n"
  pg_bulk "$n"
  pg_clients
  pg_latency
  pg_takeover
  stop_server
}
