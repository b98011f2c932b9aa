# shellcheck shell=bash
# What the service guide says, as it stands there. Only the names differ, and nothing is downloaded.

# block SECTION NUMBER [KIND]: the n-th block of commands, or of another kind.
block() {
  zcat -f /usr/share/doc/cascaded/guides/service.md* |
    awk -v section="## $1" -v number="$2" -v kind="${3-sh}" '
      /^## / { inside = $0 == section }
      /^```/ { shown = 0 }
      inside && shown
      inside && $0 == "```" kind { shown = ++count == number }'
}

# follow SECTION NUMBER: with jazz for music.
follow() {
  local commands
  commands=$(block "$1" "$2" | sed 's/music/jazz/g')
  [[ $commands ]] || fail "the guide has no block $2 in $1"
  # shellcheck disable=SC2317  # the guide calls it
  apt-get() { true; }
  eval "$commands"
}

# The example speaks of music.
adapt_the_example() {
  sed -i 's,/var/lib/music,/var/lib/jazz,' "$1"
}

check_follows_the_guide_for_one_application() {
  local example=/usr/share/doc/cascaded/examples/library.json
  id alice >/dev/null 2>&1 || adduser --quiet --system alice
  cp "$example" /tmp/library.json
  adapt_the_example "$example"
  follow 'One application' 1
  follow 'One application' 2
  follow 'One application' 3
  follow 'One application' 4
  wait_for 10 is jazz /var/lib/jazz/library.db 'SELECT group_concat(id) FROM song' sinnerman
  as alice cascadectl --instance jazz status
}

check_follows_the_guide_for_several_applications() {
  id web >/dev/null 2>&1 || adduser --quiet --system web
  follow 'Several applications' 3
  cp /tmp/library.json /usr/share/doc/cascaded/examples/library.json
  wait_for 10 eval "ctl jazz status | grep 'ok  /srv/library/library.db'"
  sql jazz /srv/library/library.db "DELETE FROM artist WHERE id = 'ella'"
  wait_for 10 is jazz /srv/library/library.db 'SELECT count(*) FROM album' 0
  as web sqlite3 -cmd '.timeout 10000' /srv/library/library.db "INSERT INTO song VALUES('w', 'web')"
}

check_follows_the_guide_for_a_path_of_its_own() {
  account photos
  install -d -o photos /data/photos
  library photos /data/photos/library.db
  model photos library /data/photos/library.db
  systemctl start cascaded@photos
  ctl photos status | tee /dev/stderr | grep -E 'cannot be written|Read-only'
  follow 'A store on a path of its own' 1
  wait_for 10 eval "ctl photos status | grep 'ok  /data/photos/library.db'"
  systemctl stop cascaded@photos.socket cascaded@photos.service
  systemctl stop cascaded@jazz.socket cascaded@jazz.service
}

check_follows_the_guide_for_a_home() {
  local home=/home/alice/music
  install -d -o alice "$home"
  install -d /etc/cascade/alice
  library alice "$home/library.db"
  model alice library "$home/library.db"
  drop_in cascaded@alice.service "$(block 'A store on a path of its own' 1 ini)"
  systemctl start cascaded@alice
  ctl alice status | tee /dev/stderr | grep "ok  $home/library.db"
  sql alice "$home/library.db" "DELETE FROM artist WHERE id = 'nina'"
  wait_for 10 is alice "$home/library.db" 'SELECT count(*) FROM song' 1
  systemctl stop cascaded@alice.socket cascaded@alice.service
}
