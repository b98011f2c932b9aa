# shellcheck shell=bash disable=SC2154  # watchdog.sh sets the path of the large store
# A newer package, while it works.

# As it would be built from the next release.
make_newer_package() {
  dpkg-deb --raw-extract /systest/cascaded.deb /tmp/newer
  sed -i 's/^Version: .*/&+newer/' /tmp/newer/DEBIAN/control
  dpkg-deb --build --root-owner-group -Znone /tmp/newer /tmp/newer.deb
}

check_is_upgraded_in_the_middle_of_a_sweep() {
  local before
  make_newer_package
  before=$(property MainPID cascaded@music.service)
  begin_sweep 50000
  dpkg --install /tmp/newer.deb
  [[ $(property MainPID cascaded@music.service) != "$before" ]]
  [[ $(state cascaded@music.service) == active ]]
  dpkg-query --show --showformat '${Version}' cascaded | grep newer
  ends_sweep
}

check_leaves_stopped_instances_stopped() {
  systemctl stop cascaded@clock.socket cascaded@clock.service
  dpkg --install /tmp/newer.deb
  [[ $(state cascaded@clock.service) == inactive ]]
  [[ $(state cascaded@music.service) == active ]]
}
