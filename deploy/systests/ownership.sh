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

check_serves_as_the_owner_where_a_group_shares_the_store() {
  layout shared 2770 660
  is_mode 770 /var/lib/shared/library.db.cascade/new
  served shared
}

check_refuses_another_user_of_the_stores_group() {
  layout grouped 770 660 'User=sweeper\nGroup=grouped'
  refused grouped '/var/lib/grouped belongs to user .*serve a store as its owner'
  layout setgid 2770 660 'User=sweeper\nSupplementaryGroups=setgid'
  refused setgid '/var/lib/setgid belongs to user .*serve a store as its owner'
}

check_refuses_root_on_a_users_store() {
  layout boxed 755 644 'User=root'
  refused boxed '/var/lib/boxed belongs to user .*serve a store as its owner'
}

check_refuses_a_directory_that_everybody_can_write() {
  layout wide 777 644
  refused wide '/var/lib/wide can be written by every user'
}

# A user who swaps the spool of a daemon for one that leads elsewhere.
check_moves_nothing_where_a_link_leads() {
  layout swapped 700 600
  ctl swapped status | grep 'ok  '
  mv /var/lib/swapped/library.db.cascade /var/lib/swapped/away
  runuser -u sweeper -- mkdir -p /tmp/sweeper/new
  ln -s /tmp/sweeper /var/lib/swapped/library.db.cascade
  runuser -u sweeper -- sh -c 'echo evil >/tmp/sweeper/new/x.sh'
  ctl swapped apply - <<<'{"changes": []}' || true
  wait_for 20 says swapped 'is a symbolic link'
  [[ -e /tmp/sweeper/new/x.sh ]]
  rm /var/lib/swapped/library.db.cascade
  mv /var/lib/swapped/away /var/lib/swapped/library.db.cascade
  wait_for 90 says swapped 'ok  '
  served swapped
}

says() { ctl "$1" status | grep -q "$2"; }
is_mode() { [[ $(stat -c %a "$2") == "$1" ]]; }
