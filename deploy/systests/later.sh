# shellcheck shell=bash
# What was begun before, and takes its time.

check_sweeps_by_cron() {
  wait_for 75 is nightly /var/lib/nightly/library.db 'SELECT count(*) FROM album' 1
  rm /etc/cron.d/cascade
  systemctl stop cron
}

# In half a minute or so; a minute may have five. It is at rest since the checks of reloads.
check_sleeps_while_nothing_happens() {
  local before begin after now
  read -r before begin </tmp/wakeups
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
