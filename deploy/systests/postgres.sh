# shellcheck shell=bash
# The package for PostgreSQL, with a server where one is installed.

pg_bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)

check_postgres_is_installed() {
  dpkg --install /systest/cascaded-postgres.deb
  cascaded-postgres --version
  [[ $(ldd /usr/sbin/cascaded-postgres) == *libpq* ]]
  [[ $(ldd /usr/sbin/cascaded) != *libpq* ]]
  [[ -z $(systemctl list-units --all --no-legend 'cascaded-postgres*') ]]
  getent passwd cascaded
  man cascaded-postgres | grep -q SYNOPSIS
}

check_postgres_has_good_units() {
  local complaints
  complaints=$(systemd-analyze verify cascaded-postgres.service cascaded-postgres.socket 2>&1) || true
  [[ -z $complaints ]] || fail "$complaints"
  systemd-analyze security --offline=true --threshold=5 \
    /lib/systemd/system/cascaded-postgres.service
}

pg() { as "$1" psql -X -qAt -v ON_ERROR_STOP=1 -h /run/postgresql -d "$2" -c "$3"; }

pg_is() { [[ $(pg postgres music "$1") == "$2" ]]; }

# A server that takes each user for the role of the same name, and no other.
start_server() {
  id postgres >/dev/null 2>&1 || adduser --quiet --system --group postgres
  install -d -o postgres -m 700 /var/lib/check-postgres
  install -d -o postgres -m 755 /run/postgresql
  as postgres "$pg_bin/initdb" -D /var/lib/check-postgres -A peer -E UTF8 --locale=C.UTF-8 >/dev/null
  systemd-run --unit=check-postgres --uid=postgres "$pg_bin/postgres" \
    -D /var/lib/check-postgres -k /run/postgresql -c listen_addresses=
  wait_for 30 "$pg_bin/pg_isready" -h /run/postgresql
}

make_database() {
  pg postgres postgres 'CREATE DATABASE music'
  pg postgres postgres 'CREATE ROLE cascaded LOGIN; GRANT CREATE ON DATABASE music TO cascaded'
  pg postgres music 'CREATE TABLE artist(id int PRIMARY KEY);
    CREATE TABLE album(id int PRIMARY KEY, artist_id int); CREATE INDEX ON album(artist_id);
    INSERT INTO artist VALUES(1), (2); INSERT INTO album VALUES(1, 1), (2, 1), (3, 2);
    GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON artist, album TO cascaded'
  cat >/etc/cascade/postgresql/music.json <<'MODEL'
{
  store: "postgresql:///music?host=/run/postgresql",
  spool: "/var/lib/cascaded-postgres/music",
  collections: { artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" } },
  relationships: [
    { name: "artist", from: "albums", to: "artists", column: "artist_id",
      rules: ["deleteSourceIfDestinationDeleted"] } ],
}
MODEL
}

check_postgres_is_served_by_peer_authentication() {
  if [[ ! -x $pg_bin/initdb ]]; then
    echo 'not tried: PostgreSQL is not installed' >&2
    return
  fi
  start_server
  make_database
  systemctl start cascaded-postgres.socket
  wait_for 20 eval "ctl postgresql status | grep 'ok  postgresql:'"
  [[ $(ps -o user= -p "$(property MainPID cascaded-postgres.service)") == cascaded ]]
  pg postgres music 'DELETE FROM artist WHERE id = 1'
  wait_for 10 pg_is 'SELECT id FROM album' 3
  echo '{"changes": [{"delete": ["artists", 2]}]}' | ctl postgresql apply -
  pg_is 'SELECT count(*) FROM album' 0
}

check_postgres_is_removed() {
  systemctl stop cascaded-postgres.socket cascaded-postgres.service
  dpkg --purge cascaded-postgres
  [[ -d /etc/cascade && ! -e /etc/cascade/postgresql ]]
  [[ ! -d /var/lib/cascaded-postgres || -d /var/lib/cascaded-postgres/music ]]
}
