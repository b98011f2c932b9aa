# shellcheck shell=bash
# What was begun before, and takes its time.

check_sweeps_by_cron() {
  wait_for 75 is nightly /var/lib/nightly/library.db 'SELECT count(*) FROM album' 1
  rm /etc/cron.d/cascade
  systemctl stop cron
}

# A minute may have five; it is at rest since the checks of reloads. Less than a whole minute tells
# nothing: the watchdog is fed now and then.
check_sleeps_while_nothing_happens() {
  local before begin after now
  read -r before begin </tmp/wakeups
  sleep "$(awk "BEGIN { left = $begin + 60 - $EPOCHREALTIME; print (left > 0 ? left : 0) }")"
  read -r after now < <(wakeups cascaded@quiet.service)
  awk "BEGIN { rate = ($after - $before) * 60 / ($now - $begin); print rate, $now - $begin
    exit rate > 5 }"
}

check_is_small_while_nothing_happens() {
  local kilobytes
  kilobytes=$(awk '/^VmRSS/ { print $2 }' "/proc/$(property MainPID cascaded@quiet.service)/status")
  echo "$kilobytes"
  ((kilobytes < 16384))
}
