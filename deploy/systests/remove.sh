# shellcheck shell=bash disable=SC2154  # library.sh sets the paths
# The package goes; what belongs to the applications stays.

# A change file that nobody has taken yet.
leave_a_file() {
  echo '{"changes": [{"put": ["notes", "left"]}]}' >"$store.cascade/new/left.json"
  chown music "$store.cascade/new/left.json"
}

check_is_removed_and_leaves_the_data() {
  systemctl stop cascaded@music.socket cascaded@music.service
  leave_a_file
  systemctl start cascaded@clock
  dpkg --remove cascaded
  [[ -z $(systemctl list-units --no-legend --state=active 'cascaded*') ]]
  [[ -f $store && -f $store.cascade/new/left.json && -f /etc/cascade/music/library.json ]]
  getent group cascade
}

check_lets_applications_go_on_without_it() {
  sql music "$store" "INSERT INTO artist VALUES('late', 'late');
    INSERT INTO album VALUES('late', 'late', NULL); DELETE FROM artist WHERE id = 'late'"
  is music "$store" "SELECT count(*) FROM album WHERE id = 'late'" 1
}

check_is_installed_again_and_makes_up_for_it() {
  dpkg --install /systest/cascaded.deb
  systemctl start cascaded@music
  wait_for 10 is music "$store" "SELECT count(*) FROM album WHERE id = 'late'" 0
  wait_for 10 test ! -e "$store.cascade/new/left.json"
  ctl music --store "$store" node notes/left | grep -v 'does not exist'
}

check_is_detached_without_a_trace() {
  ctl music --store "$store" detach
  is music "$store" "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'cascade%'" 0
}

check_is_purged_and_leaves_databases_and_spools() {
  systemctl stop cascaded@music.socket cascaded@music.service
  leave_a_file
  dpkg --purge cascaded
  [[ ! -e /etc/cascade ]]
  [[ -z $(find /etc/systemd/system/*.wants -name 'cascaded*') ]]
  [[ -f $store && -f $store.cascade/new/left.json ]]
  [[ -n $(ls /var/lib/music/covers/.cascade-trash) ]]
  is music "$store" 'PRAGMA integrity_check' ok
}
