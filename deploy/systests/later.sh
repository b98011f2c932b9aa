# shellcheck shell=bash
# What was begun before, and takes its time.

check_sweeps_by_cron() {
  wait_for 75 is nightly /var/lib/nightly/library.db 'SELECT count(*) FROM album' 1
  rm /etc/cron.d/cascade
  systemctl stop cron
}

# A minute may have five.
check_sleeps_while_nothing_happens() {
  wait_for 110 test -s /tmp/wakeups
  cat /tmp/wakeups
  (($(</tmp/wakeups) <= 5))
}

check_is_small_while_nothing_happens() {
  local kilobytes
  kilobytes=$(awk '/^VmRSS/ { print $2 }' "/proc/$(property MainPID cascaded@quiet.service)/status")
  echo "$kilobytes"
  ((kilobytes < 16384))
}
