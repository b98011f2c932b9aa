# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

expiry_model="sweeps: {}, keep: { ledger: '1ms', notices: '1ms' }"

# load_expiry STORE BATCHES: 100 change files, each of which deletes an object, are 100 batches. Copies of
# them are the others.
load_expiry() {
  local store=$1 trash=1d i
  start "$store" 'sweeps: {}'
  for ((i = 0; i < 100; i++)); do
    echo "{ \"changes\": [{ \"put\": [\"notes\", \"$i\"], \"value\": \"note $i\" }] }" >"$work/change.json"
    ctl "$store" apply "$work/change.json" >/dev/null || not_applied "$store"
    echo "{ \"changes\": [{ \"delete\": [\"notes\", \"$i\"] }] }" >"$work/change.json"
    ctl "$store" apply "$work/change.json" >/dev/null || not_applied "$store"
  done
  stop
  copy_batches "$store" $(($2 / 100 - 1))
  "$work/writer" prepare "$store"
  (($(batches_of "$store") == $2)) || die "there are not $2 batches"
}

batches_of() { sqlite3 "$1" 'SELECT count(DISTINCT batch) FROM cascade_trash_layout'; }

# copy_batches STORE TIMES
copy_batches() {
  local table number columns
  {
    echo "BEGIN; CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS
      (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2) SELECT i FROM n;
      CREATE TEMP TABLE size AS SELECT max(seq) AS n FROM cascade_ledger;"
    for table in trash_node:batch trash_layout:batch trash:batch ledger:seq; do
      number=${table#*:}
      table=cascade_${table%:*}
      columns=$(sqlite3 "$1" "SELECT group_concat(CASE name
        WHEN '$number' THEN 't.$number + n.i * size.n'
        WHEN 'id' THEN iif('$table' = 'cascade_ledger', 't.id || ''-'' || n.i', 't.id')
        ELSE 't.' || name END) FROM pragma_table_info('$table')")
      echo "INSERT INTO $table SELECT $columns FROM n, size, $table AS t;"
    done
    echo 'COMMIT; PRAGMA wal_checkpoint(TRUNCATE);'
  } | sqlite3 "$1" >/dev/null
}

# run_expiry BASE BATCHES PAUSE: the seconds in which all of them are forgotten, and what another
# process's commits took meanwhile.
run_expiry() {
  local store=$work/ours.db trash=1ms begun reply
  cp "$1" "$store"
  start "$store" "$expiry_model"
  ready "$store"
  settle
  start_writer "$store" "$3"
  begun=$EPOCHREALTIME
  reply=$(ctl "$store" sweep trash) || die "the sweep failed: $reply"
  seconds_since "$begun" >>"$work/expiry-$3.ours"
  stop_writer "expiry-$3"
  stop
  (($(batches_of "$store") == 0)) || die "not all batches were forgotten: $reply"
  require_sound "$store"
  remove "$store"
}

bench_expiry() {
  local n=${size:-100000} base=$work/base.db lock='' pause
  [[ ! $only_c ]] || return 0
  load_expiry "$base" "$n"
  for pause in 0 2000; do
    rm -f "$work/expiry-$pause".{ours,latency}
    for ((run = 0; run < runs; run++)); do run_expiry "$base" "$n" "$pause"; done
    bound "$n batches, a writer with pauses of $pause µs" "$(median "$work/expiry-$pause.ours")" s 60
    show_latency "expiry-$pause" '  the writer'
    bound '    p99' "$(latency "expiry-$pause" 2)" ms 25
    bound '    max' "$(longest "expiry-$pause")" ms 100
  done
  remove "$base"
}
