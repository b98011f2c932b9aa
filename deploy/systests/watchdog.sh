# shellcheck shell=bash
# A daemon that hangs, or is killed, in the middle of a sweep.

big=/var/lib/music/big.db

# fill COUNT: so many albums of one artist, and a song on each.
fill() {
  sql music "$big" "
    BEGIN; INSERT INTO artist VALUES('many', 'many');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
      INSERT INTO song SELECT 's' || i, 'a song' FROM n;
    INSERT INTO album SELECT 'a' || substr(id, 2), 'many', NULL FROM song WHERE title = 'a song';
    INSERT INTO track SELECT 'a' || substr(id, 2), id FROM song WHERE title = 'a song'; COMMIT"
}

# The sweep has begun, and is not at its end.
is_under_way() {
  local left
  left=$(sql music "$big" "SELECT count(*) FROM song WHERE title = 'a song'")
  ((left > 0 && left < $1))
}

begin_sweep() {
  fill "$1"
  sql music "$big" "DELETE FROM artist WHERE id = 'many'"
  wait_for 20 is_under_way "$1"
}

ends_sweep() {
  wait_for 60 is music "$big" "SELECT count(*) FROM song WHERE title = 'a song'" 0
  is music "$big" 'SELECT count(*) FROM track LEFT JOIN song ON song_id = song.id
    WHERE song.id IS NULL' 0
  is music "$big" 'PRAGMA integrity_check' ok
}

# It was begun some checks ago, and comes to rest first.
count_wakeups() {
  sleep 30
  wakeups cascaded@quiet.service 60 >/tmp/wakeups
}

check_is_restarted_when_it_hangs_and_goes_on_with_its_sweep() {
  local before
  systemd-run --quiet /systest/run --one count_wakeups # for later
  drop_in cascaded@music.service '[Service]\nWatchdogSec=2s'
  systemctl restart cascaded@music
  before=$(property MainPID cascaded@music.service)
  begin_sweep 50000
  kill -STOP "$before"
  wait_for 20 has cascaded@music.service NRestarts 1
  wait_for 20 has cascaded@music.service ActiveState active
  [[ $(property MainPID cascaded@music.service) != "$before" ]]
  journal_has 'Watchdog timeout' -u cascaded@music
  ends_sweep
}

check_feeds_its_watchdog() {
  local before
  before=$(property NRestarts cascaded@music.service)
  sleep 5
  [[ $(property NRestarts cascaded@music.service) == "$before" ]]
  rm -r /etc/systemd/system/cascaded@music.service.d
  systemctl daemon-reload
  systemctl restart cascaded@music
}

check_stops_in_the_middle_of_a_sweep_and_goes_on_later() {
  begin_sweep 50000
  systemctl stop cascaded@music
  [[ $(property Result cascaded@music.service) == success ]]
  systemctl start cascaded@music
  ends_sweep
}
