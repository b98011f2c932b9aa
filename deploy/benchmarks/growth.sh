# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

growth_places=(column typed join list)
growth_rules=(
  deleteSourceIfDestinationDeleted deleteDestinationIfAllSourcesDeleted
  "nullifySourceIfDestinationDeleted', 'notifyIfDestinationDeleted', 'notifyIfSourceDeleted")
growth_kinds=(plain triggers NOCASE)
growth_ways=(swept undone filed put)

# growth_model PLACE RULES: items, and where each says its shelf.
growth_model() {
  local place to="'shelves'"
  case $1 in
    column) place="column: 'shelf'" ;;
    typed) place="column: 'shelf', typeColumn: 'kind'" to="{ Shelf: 'shelves' }" ;;
    join) place="toMany: true, join: { table: 'lies', source: 'item', destination: 'shelf' }" ;;
    list) place="toMany: true, property: 'shelves'" ;;
  esac
  echo "sweeps: {},
    collections: { items: { table: 'item', key: 'id' }, shelves: { table: 'shelf', key: 'id' } },
    relationships: [ { name: 'shelf', from: 'items', to: $to, $place, rules: ['$2'] } ]"
}

# load_growth STORE ITEMS KIND: four items to a shelf, with triggers of the application, or with keys
# that compare in a way of their own.
load_growth() {
  local text=TEXT
  [[ $3 != NOCASE ]] || text='TEXT COLLATE NOCASE'
  sqlite3 "$1" >/dev/null <<END
PRAGMA journal_mode = WAL;
BEGIN;
CREATE TABLE shelf(id $text PRIMARY KEY, title TEXT);
CREATE TABLE item(id $text PRIMARY KEY, shelf $text, kind TEXT, shelves TEXT);
CREATE TABLE lies(item $text, shelf $text, PRIMARY KEY(item, shelf));
CREATE TABLE n(i INTEGER PRIMARY KEY, id TEXT, shelf TEXT, other TEXT);
WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < $2 - 1)
  INSERT INTO n(i, id) SELECT i, printf('%032x', i * 2654435761 % 4294967296) FROM n;
UPDATE n SET shelf = (SELECT id FROM n AS o WHERE o.i = n.i / 4),
  other = (SELECT id FROM n AS o WHERE o.i = n.i * 7 % ($2 / 4));
INSERT INTO shelf SELECT id, 'shelf ' || i FROM n WHERE i < $2 / 4;
INSERT INTO item SELECT id, shelf, 'Shelf', json_array(shelf, other) FROM n;
INSERT INTO lies SELECT id, shelf FROM n;
CREATE INDEX item_shelf ON item(shelf);
CREATE INDEX lies_shelf ON lies(shelf);
CREATE TABLE log(id TEXT);
$([[ $3 != triggers ]] || for table in item shelf; do
    echo "CREATE TRIGGER ${table}_goes AFTER DELETE ON $table BEGIN INSERT INTO log VALUES(OLD.id); END;"
  done)
COMMIT;
END
}

# file_of_growth STORE CHANGE: prints a change file, whose changes are what SQL makes of each n.
file_of_growth() {
  printf '{ "changes": ['
  sqlite3 -separator '' -newline '' "$1" "SELECT iif(i, ',', ''), $2 FROM n WHERE $3"
  printf '] }'
}

# timed_growth NAME COMMAND…: the seconds of a command of cascadectl.
timed_growth() {
  local begun=$EPOCHREALTIME name=$1
  shift
  ctl "$store" "$@" >"$work/reply" || die "cascadectl $1: $(head -c 2000 "$work/reply")"
  seconds_since "$begun" >"$work/$name.ours"
}

put_item="json_object('put', json_array('items', id), 'value', json_object(
  'shelf', other, 'kind', 'Shelf', 'shelves', json_array(other)))"

# run_growth ITEMS PLACE RULES KIND: the time of each way is in WAY-ITEMS.ours. What goes is the end
# that the rule minds.
run_growth() {
  local base=$work/base.db store=$work/ours.db way table=shelf nodes=shelves condition="i < $1 / 4"
  [[ $3 != *IfAllSources* ]] || table=item nodes=items condition=1
  load_growth "$base" "$1" "$4"
  file_of_growth "$base" "json_object('delete', json_array('$nodes', id))" "$condition" \
    >"$work/filed.json"
  file_of_growth "$base" "$put_item" 1 >"$work/put.json"
  for way in swept filed put; do
    cp "$base" "$store"
    start "$store" "$(growth_model "$2" "$3")"
    ready "$store"
    settle
    if [[ $way != swept ]]; then
      timed_growth "$way-$1" apply "$work/$way.json"
    else
      sqlite3 "$store" "DELETE FROM $table"
      timed_growth "swept-$1" sweep cascade refcount
      # What it deleted itself it brings back itself.
      [[ $table == item ]] ||
        sqlite3 "$store" "INSERT INTO shelf SELECT id, 'shelf ' || i FROM n WHERE i < $1 / 4"
      timed_growth "undone-$1" undo "$(sqlite3 "$store" 'SELECT max(batch) FROM cascade_trash')"
    fi
    stop
    remove "$store"
  done
  remove "$base"
}

# note_growth PLACE WAY ITEMS CASE: keeps the case in which a row costs the most more.
note_growth() {
  local new
  new=$(growth "$2-$3" "$3" "$2-$((4 * $3))" $((4 * $3)))
  if awk "BEGIN { exit !($new > ${worst[$1-$2]-0}) }"; then
    worst[$1-$2]=$new remark[$1-$2]="   ($4)"
  fi
}

# What a row costs does not depend on how many there are, whatever refers by whatever.
bench_growth() {
  local n=${size:-4000} lock='' trash=1d place rules kind way
  local -A worst remark
  [[ ! $only_c ]] || return 0
  for place in "${growth_places[@]}"; do
    for rules in "${growth_rules[@]}"; do
      for kind in "${growth_kinds[@]}"; do
        run_growth "$n" "$place" "$rules" "$kind"
        run_growth $((4 * n)) "$place" "$rules" "$kind"
        for way in "${growth_ways[@]}"; do
          note_growth "$place" "$way" "$n" "${rules%%\'*}, $kind"
        done
      done
    done
    for way in "${growth_ways[@]}"; do
      bound "a row of $((4 * n)) against $n, $place, $way" "${worst[$place-$way]}" '' 1.5 \
        "${remark[$place-$way]}"
    done
  done
}
