# shellcheck shell=bash
# Whose the database is, who serves it, and whether the application can write afterwards.

# layout USER MODE-OF-DIRECTORY MODE-OF-DATABASE [DROP-IN]: an application, and its instance.
layout() {
  local home=/var/lib/$1
  id sweeper >/dev/null 2>&1 || adduser --quiet --system --group --no-create-home sweeper
  account "$1"
  library "$1" "$home/library.db"
  sql "$1" "$home/library.db" 'PRAGMA journal_mode = WAL'
  chmod "$2" "$home"
  chmod "$3" "$home/library.db"
  model "$1" library "$home/library.db"
  [[ ! ${4-} ]] || drop_in "cascaded@$1.service" "[Service]\n$4"
  systemctl start "cascaded@$1" || true
}

# served USER: the rules are followed, and the application can write, also when nobody else is there.
served() {
  local database=/var/lib/$1/library.db
  ctl "$1" status | grep "ok  $database"
  sql "$1" "$database" "DELETE FROM artist WHERE id = 'nina'"
  wait_for 10 is "$1" "$database" 'SELECT count(*) FROM song' 1
  writes "$1"
  systemctl stop "cascaded@$1.socket" "cascaded@$1.service"
  writes "$1"
}

# refused USER REASON: nothing is served, it is said why, and the application can write as ever.
refused() {
  writes "$1"
  ctl "$1" status | grep -v 'ok  ' | grep -E "$2" || journal_has "$2" -u "cascaded@$1"
  systemctl stop "cascaded@$1.socket" "cascaded@$1.service"
  writes "$1"
  is "$1" "/var/lib/$1/library.db" "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'cascade%'" 0
}

writes() {
  local database=/var/lib/$1/library.db
  sql "$1" "$database" "INSERT OR REPLACE INTO artist VALUES('new', 'of the application')"
  is "$1" "$database" 'PRAGMA integrity_check' ok
}

check_serves_as_the_owner_whatever_the_modes() {
  layout secret 700 600
  served secret
  layout open 755 644
  served open
}

check_serves_as_another_user_of_its_main_group() {
  layout shared 770 660 'User=sweeper\nGroup=shared'
  served shared
}

check_serves_as_another_user_where_the_directory_hands_the_group_on() {
  layout setgid 2770 660 'User=sweeper\nSupplementaryGroups=setgid'
  served setgid
}

check_refuses_where_the_directory_keeps_the_group() {
  layout keeps 770 660 'User=sweeper\nSupplementaryGroups=keeps'
  refused keeps 'could not write'
}

check_refuses_where_the_database_is_the_owners_alone() {
  layout alone 2770 644 'User=sweeper\nGroup=alone'
  refused alone '(could not|cannot) (be )?writ'
}

check_refuses_root_in_the_sandbox() {
  layout boxed 700 600 'User=root'
  refused boxed 'boxed/library.db'
}
