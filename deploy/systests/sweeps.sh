# shellcheck shell=bash
# Sweeps that a timer or cron begins. The model of this instance begins none by itself but one.

clock=/var/lib/clock/library.db

# patient USER: an instance that sweeps when it is told to.
patient() {
  account "$1"
  library "$1" "/var/lib/$1/library.db"
  model "$1" library "/var/lib/$1/library.db" 'sweeps: { trash: "@daily" }'
  systemctl start "cascaded@$1"
  sql "$1" "/var/lib/$1/library.db" "DELETE FROM artist WHERE id = 'nina'"
}

# Cron comes once a minute, so it is looked after it at the end.
begin_cron() {
  patient nightly
  echo '* * * * * nightly cascadectl --instance nightly --quiet sweep' >/etc/cron.d/cascade
  systemctl start cron
}

# One that nothing happens to, as far as others see.
begin_quiet() {
  account quiet
  library quiet /var/lib/quiet/library.db
  model quiet library /var/lib/quiet/library.db
  systemctl start cascaded@quiet
}

check_sweeps_nothing_that_the_model_leaves_out() {
  patient clock
  begin_cron
  begin_quiet
  sleep 2
  is clock "$clock" 'SELECT count(*) FROM album' 2
}

check_sweeps_by_its_timer() {
  drop_in cascaded-sweep@clock.timer \
    '[Timer]\nOnCalendar=\nOnCalendar=*:*:0/2\nRandomizedDelaySec=0\nAccuracySec=1ms'
  systemctl enable --now cascaded-sweep@clock.timer
  wait_for 15 is clock "$clock" 'SELECT count(*) FROM album' 1
  wait_for 15 has cascaded-sweep@clock.service Result success
  systemctl disable --now cascaded-sweep@clock.timer
}

check_fails_a_sweep_that_is_held() {
  model clock library "$clock" 'sweeps: {}, limits: { hold: { deletes: 0, share: 0 } }'
  systemctl reload cascaded@clock
  sql clock "$clock" "DELETE FROM artist WHERE id = 'ella'"
  expect 1 systemctl start cascaded-sweep@clock.service
  [[ $(property ExecMainStatus cascaded-sweep@clock.service) == 3 ]]
  ctl clock --json status | jq --exit-status '.stores[0].state == "held"'
  ctl clock approve "$(ctl clock --json status | jq '.stores[0].heldPlans[0].plan')"
  wait_for 5 is clock "$clock" 'SELECT count(*) FROM album' 0
  model clock library "$clock" 'sweeps: {}'
  systemctl reload cascaded@clock
}

