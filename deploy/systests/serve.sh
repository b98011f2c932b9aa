# shellcheck shell=bash disable=SC2154  # library.sh sets the paths
# One application, as the guide sets it up.

make_music() {
  account music
  library music "$store"
  cp "$examples/library.json" /etc/cascade/music/
}

check_starts_by_its_socket() {
  make_music
  systemctl start cascaded@music.socket
  [[ $(state cascaded@music.service) == inactive ]]
  ctl music status | grep "ok  $store"
  wait_for 5 has cascaded@music.service ActiveState active
}

check_runs_as_the_owner_of_the_store() {
  local process
  process=$(property MainPID cascaded@music.service)
  [[ $(ps -o user= -p "$process") == music ]]
  [[ $(ps -o nice= -p "$process") -eq 5 ]]
  [[ $(stat -c %U "$store.cascade") == music ]]
}

check_is_enabled_at_boot() {
  systemctl enable cascaded@music
  [[ $(systemctl is-enabled cascaded@music.service cascaded@music.socket | uniq) == enabled ]]
}

check_tells_what_it_does_in_its_status_line() {
  property StatusText cascaded@music.service | grep -i "$store\|1 store\|serving"
  systemctl status cascaded@music.service --no-pager | grep 'Status: "'
}

check_follows_what_the_application_deletes() {
  sql music "$store" "DELETE FROM artist WHERE id = 'nina'"
  wait_for 10 is music "$store" 'SELECT group_concat(id) FROM song' sinnerman
  ctl music why songs/strange-fruit | grep 'deleteDestinationIfAllSourcesDeleted'
}

check_applies_a_change_file() {
  local batch
  batch=$(ctl music --json batches | jq .batch | tail -n 1)
  ctl music undo "$batch" || (($? == 4))
  sql music "$store" "INSERT OR IGNORE INTO artist VALUES('nina', 'Nina Simone')"
  as music cascadectl --instance music apply "$examples/delete-nina.json"
  is music "$store" 'SELECT group_concat(id) FROM artist' ella
}

check_takes_change_files_from_the_spool() {
  echo '{"changes": [{"put": ["notes", "hello"]}]}' >/tmp/hello.json
  install -o music -m 600 /tmp/hello.json "$store.cascade/tmp/hello.json"
  mv "$store.cascade/tmp/hello.json" "$store.cascade/new/"
  wait_for 10 eval "ctl music --json node notes/hello | jq --exit-status .exists"
}

check_moves_files_that_lost_their_last_row() {
  install -d -o music /var/lib/music/covers
  install -o music /etc/hostname /var/lib/music/covers/a.jpg
  sql music "$store" "INSERT INTO album VALUES('with-cover', 'ella', 'a.jpg')"
  sql music "$store" "DELETE FROM album WHERE id = 'with-cover'"
  wait_for 10 test ! -e /var/lib/music/covers/a.jpg
  [[ -f $(echo /var/lib/music/covers/.cascade-trash/*/a.jpg) ]]
}

check_lets_the_application_write() {
  sql music "$store" "INSERT INTO artist VALUES('billie', 'Billie Holiday')"
  [[ -z $(find /var/lib/music ! -user music) ]]
}

serves_both() {
  [[ $(ctl music --json status | jq -r '.stores[] | select(.state == "ok") | .store' | sort) == \
    /var/lib/music/big.db$'\n'$store ]]
}

check_serves_a_second_store() {
  sql music /var/lib/music/big.db 'PRAGMA journal_mode = WAL'
  library music /var/lib/music/big.db
  model music big /var/lib/music/big.db 'limits: { hold: { deletes: 100000000, share: 1 } }'
  systemctl reload cascaded@music
  wait_for 10 serves_both
  sql music /var/lib/music/big.db "DELETE FROM artist WHERE id = 'nina'"
  wait_for 10 is music /var/lib/music/big.db 'SELECT count(*) FROM song' 1
}
