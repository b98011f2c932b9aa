# shellcheck shell=bash disable=SC2154  # sweeps.sh sets up the instance
# Models that change while they are served.

check_reloads_a_model() {
  model clock library "$clock" 'sweeps: { cascade: "immediate", refcount: "immediate" }'
  systemctl reload cascaded@clock
  sql clock "$clock" "INSERT INTO artist VALUES('x', 'x'); INSERT INTO album VALUES('y', 'x', NULL);
    DELETE FROM artist WHERE id = 'x'"
  wait_for 10 is clock "$clock" 'SELECT count(*) FROM album' 0
}

check_refuses_a_bad_model_and_says_so() {
  local before
  before=$(property MainPID cascaded@clock.service)
  cp /etc/cascade/clock/library.json /tmp/good.json
  sed -i 's/deleteSourceIfDestinationDeleted/deleteSourceIfDestinationDeletet/' \
    /etc/cascade/clock/library.json
  expect 1 systemctl reload cascaded@clock
  expect 78 ctl clock reload
  (ctl clock reload || true) 2>&1 | grep 'did you mean "deleteSourceIfDestinationDeleted"'
  journal_has 'did you mean' -u cascaded@clock
  [[ $(property MainPID cascaded@clock.service) == "$before" ]]
}

check_keeps_the_model_that_was_good() {
  sql clock "$clock" "INSERT INTO artist VALUES('x', 'x'); INSERT INTO album VALUES('y', 'x', NULL);
    DELETE FROM artist WHERE id = 'x'"
  wait_for 10 is clock "$clock" 'SELECT count(*) FROM album' 0
  cp /tmp/good.json /etc/cascade/clock/library.json
  systemctl reload cascaded@clock
}

check_does_not_start_with_a_bad_model_again_and_again() {
  account bad
  echo '{ store: "/var/lib/bad/a.db", colections: {} }' >/etc/cascade/bad/a.json
  systemctl start cascaded@bad || true
  sleep 4
  [[ $(property NRestarts cascaded@bad.service) -eq 0 ]]
  journal_has 'did you mean "collections"' -u cascaded@bad
  systemctl stop cascaded@bad.socket cascaded@bad.service
  systemctl reset-failed
}
