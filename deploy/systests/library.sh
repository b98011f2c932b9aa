# shellcheck shell=bash disable=SC2034  # the checks use what is set here
# What the checks have in common.

store=/var/lib/music/library.db
examples=/usr/share/doc/cascaded/examples

fail() { printf '%s\n' "$*" >&2 && exit 1; }

# expect STATUS COMMAND…: it ends so.
expect() {
  local status=0
  "${@:2}" || status=$?
  ((status == $1)) || fail "status $status, and not $1: ${*:2}"
}

# wait_for SECONDS COMMAND…: until it succeeds.
wait_for() {
  local end=$((SECONDS + $1))
  while ! "${@:2}" >/dev/null 2>&1; do
    ((SECONDS <= end)) || fail "waited $1 s in vain for: ${*:2}"
    sleep 0.1
  done
}

as() { runuser -u "$1" -- "${@:2}"; }

# sql USER DATABASE STATEMENTS
sql() { as "$1" sqlite3 -bail -cmd '.timeout 10000' "$2" <<<"$3"; }

# is USER DATABASE QUERY RESULT
is() { [[ $(sql "$1" "$2" "$3") == "$4" ]]; }

ctl() { cascadectl --instance "$@"; }

# account USER: with a home in /var/lib, and a directory of models.
account() {
  id "$1" >/dev/null 2>&1 || adduser --quiet --system --group --home "/var/lib/$1" "$1"
  install -d "/etc/cascade/$1"
}

# library USER DATABASE: the tables of the example, and what is in them.
library() {
  sql "$1" "$2" "$(<"$examples/library.sql")"
}

# model USER NAME DATABASE [MORE]: a model of the library for this instance. MORE are more members.
model() {
  cat >"/etc/cascade/$1/$2.json" <<MODEL
{
  store: "$3",
  collections: {
    artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
    songs: { table: "song", key: "id" } },
  relationships: [
    { name: "artist", from: "albums", to: "artists", column: "artist_id",
      rules: ["deleteSourceIfDestinationDeleted"] },
    { name: "songs", from: "albums", to: "songs",
      join: { table: "track", source: "album_id", destination: "song_id" },
      rules: ["deleteDestinationIfAllSourcesDeleted"] } ],
  ${4-}
}
MODEL
}

# drop_in UNIT TEXT: into its own file, which the next one replaces.
drop_in() {
  mkdir -p "/etc/systemd/system/$1.d"
  printf '%b\n' "$2" >"/etc/systemd/system/$1.d/check.conf"
  systemctl daemon-reload
}

property() { systemctl show --value --property "$1" "$2"; }

# has UNIT PROPERTY VALUE
has() { [[ $(property "$2" "$1") == "$3" ]]; }

# wakeups UNIT SECONDS: how often any of its threads woke up in that time. A thread takes its count
# with it when it ends, so they are asked all the time.
wakeups() {
  local pid
  pid=$(property MainPID "$1")
  for ((i = 0; i <= $2; i++)); do
    awk -v second="$i" '/^voluntary/ { print second, FILENAME, $2 }' \
      "/proc/$pid"/task/*/status 2>/dev/null || true
    sleep 1
  done | awk '
    $1 == 0 { before[$2] = $3 }
    { last[$2] = $3 }
    END { for (thread in last) sum += last[thread] - before[thread]; print sum }'
}

state() { systemctl is-active "$1" || true; }

# journal_has PATTERN JOURNALCTL-OPTION…
journal_has() {
  journalctl --sync
  journalctl --no-pager "${@:2}" | grep -E -- "$1"
}
