# shellcheck shell=bash disable=SC2154  # watchdog.sh sets the path of the large store
# A newer package, while it works.

# package_as VERSION: this one, as it would be built from another release. Its programs are other files.
package_as() {
  local tree
  tree=$(mktemp -d)
  dpkg-deb --raw-extract /systest/cascaded.deb "$tree"
  sed -i "s/^Version: .*/Version: $1/" "$tree/DEBIAN/control"
  dpkg-deb --build --root-owner-group -Znone "$tree" "/tmp/$1.deb"
  rm -r "$tree"
}

runs_version() {
  [[ $(dpkg-query --show --showformat '${Version}' cascaded) == "$1" ]]
  [[ $(state cascaded@music.service) == active ]]
  [[ $(readlink "/proc/$(property MainPID cascaded@music.service)/exe") == /usr/sbin/cascaded ]]
}

# So the sweep takes longer than the upgrade.
take_short_steps() {
  model music big "$big" 'limits: {
    lock: "1ms", alone: "1ms", hold: { deletes: 100000000, share: 1 } }'
  systemctl reload cascaded@music
}

known() {
  ctl music --store "$big" --json apply - <<<'{"id": "before", "changes": [{"put": ["notes", "1"]}]}' |
    jq -r .outcome
}

# All that the sweep took, before and after the upgrade, is in its batch.
comes_back_whole() {
  ctl music --store "$big" undo "$(ctl music --store "$big" --json batches --last 1 | jq .batch)"
  is music "$big" "SELECT count(*) FROM song WHERE title = 'a song'" "$1"
  is music "$big" "SELECT count(*) FROM track JOIN song ON song_id = song.id
    JOIN album ON album_id = album.id WHERE song.title = 'a song'" "$1"
}

check_is_upgraded_in_the_middle_of_a_sweep() {
  local old new
  package_as 0.0.1
  package_as 99.0.0
  dpkg --install --force-downgrade /tmp/0.0.1.deb
  runs_version 0.0.1
  old=$(property MainPID cascaded@music.service)
  take_short_steps
  [[ $(known) == applied ]]
  begin_sweep 50000
  dpkg --install /tmp/99.0.0.deb
  runs_version 99.0.0
  is_under_way 50000
  new=$(property MainPID cascaded@music.service)
  ends_sweep
  [[ $new != "$old" && $(property MainPID cascaded@music.service) == "$new" ]]
  wait_for 10 journal_has 'sweep-[0-9]+ .*done, deleted' "_PID=$new"
  [[ $(known) == duplicate ]]
  comes_back_whole 50000
}

check_leaves_stopped_instances_stopped() {
  systemctl stop cascaded@clock.socket cascaded@clock.service
  dpkg --install /tmp/99.0.0.deb
  [[ $(state cascaded@clock.service) == inactive ]]
  [[ $(state cascaded@music.service) == active ]]
}
