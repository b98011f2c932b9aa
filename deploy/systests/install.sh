# shellcheck shell=bash disable=SC2154  # library.sh sets the paths
# The package, and what it brings.

units=(cascaded@ cascaded-sweep@ cascaded-metrics@)

check_installs() {
  dpkg --install /systest/cascaded.deb
  [[ $(cascaded --version) == "cascaded $(dpkg-query --show --showformat '${Version}' cascaded)" ]]
  cascadectl --version
}

check_needs_no_swift() {
  local program
  expect 1 command -v swift
  for program in /usr/sbin/cascaded /usr/bin/cascadectl; do
    ldd "$program"
    [[ $(ldd "$program") != *@(swift|not found)* ]]
  done
}

check_starts_nothing_by_itself() {
  [[ -z $(systemctl list-units --all --no-legend 'cascaded*') ]]
  getent group cascade
  [[ -d /etc/cascade && -z $(ls /etc/cascade) ]]
}

# With the programs and the manual pages in their places.
check_has_good_units() {
  local complaints
  complaints=$(systemd-analyze verify "${units[@]/%/music.service}" cascaded@music.socket \
    cascaded-sweep@music.timer cascaded-metrics@music.timer 2>&1) || true
  [[ -z $complaints ]] || fail "$complaints"
}

# In tenths.
check_exposes_little() {
  local unit
  for unit in "${units[@]}"; do
    systemd-analyze security --offline=true --threshold=5 "/lib/systemd/system/$unit.service"
  done
}

check_explains_itself() {
  local page
  for page in cascaded.8 cascadectl.1 cascade-model.5 cascade-change.5 cascade-overview.7; do
    man --warnings -E UTF-8 "${page#*.}" "${page%.*}" 2>&1 >/dev/null | tee /dev/stderr |
      expect 1 grep .
    man "${page#*.}" "${page%.*}" | grep -q EXAMPLES || [[ $page == *.7 ]]
  done
}

check_has_a_good_example() { cascaded --check-config "$examples/library.json"; }
