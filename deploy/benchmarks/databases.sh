# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# Databases

# Both sides begin with everything on disk.
settle() { sync -f "$work"; }

# The tables of a store, as cascaded makes them; without it as the source says, with a ledger as it
# is meant to be.
write_schema() {
  if [[ $only_c ]]; then
    schema_of_source >"$work/schema.sql"
  else
    start "$work/schema.db"
    stop
    sqlite3 "$work/schema.db" '.schema --nosys' >"$work/schema.sql"
  fi
}

schema_of_source() {
  awk '
    /^ *"CREATE .*",?$/ { gsub(/^ *"|",?$/, ""); print $0 ";" }
    /^ *""",?$/ { inside = !inside; if (!inside) print ";"; next }
    inside
  ' "$here"/../Sources/SQLiteTables/Schema.swift
  cat <<'END'
CREATE TABLE IF NOT EXISTS cascade_ledger(
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, fingerprint INTEGER, author TEXT, at INTEGER,
  outcome TEXT) STRICT;
END
}

new_database() { sqlite3 "$1" <"$work/schema.sql"; }

# remove STORE…: the databases, with all that lies beside them.
remove() {
  local store
  for store in "$@"; do
    rm -rf "$store" "$store"-* "$store.cascade"
  done
}

# require_same STORE STORE: both have as many nodes and edges.
require_same() {
  local counts='SELECT (SELECT count(*) FROM cascade_node), (SELECT count(*) FROM cascade_edge)'
  local ours theirs
  ours=$(sqlite3 "$1" "$counts")
  theirs=$(sqlite3 "$2" "$counts")
  [[ $ours == "$theirs" ]] || die "nodes|edges: cascaded has $ours, the C side $theirs"
}

# require_sound STORE: what was written is a database.
require_sound() {
  local found
  found=$(sqlite3 "$1" 'PRAGMA integrity_check')
  [[ $found == ok ]] || die "$1: $found"
}
