# shellcheck shell=bash disable=SC2154  # library.sh sets the paths
# Who may command it, and what it tells.

prometheus=/var/lib/prometheus/node-exporter

check_refuses_users_outside_of_the_group() {
  expect 77 as nobody cascadectl --instance music status
}

check_serves_members_of_the_group() {
  adduser --quiet --system --ingroup cascade operator
  as operator cascadectl --instance music status
}

check_answers_varlink() {
  printf '{"method":"org.varlink.service.GetInfo"}\0' |
    socat -t 2 - UNIX-CONNECT:/run/cascaded/music/io.cascaded.Control | tr '\0' '\n' |
    jq --exit-status '.parameters.interfaces | index("io.cascaded.Control")'
}

check_is_found_in_the_journal_by_its_store() {
  journal_has 'deleted [0-9]+ node' "CASCADE_STORE=$store"
  journalctl --no-pager -o json "CASCADE_STORE=$store" MESSAGE_ID=1d9a6e5c3b7f4d2ea8c4f0b6d3e5a744 |
    jq --exit-status --slurp 'map(select(.CASCADE_SWEEP and .CASCADE_DELETED)) | length > 0'
}

check_is_explained_in_the_journal() {
  journalctl --sync
  journal_has "It deleted what the rules delete" -x "CASCADE_STORE=$store"
  journal_has "A sweep of $store has ended" -x "CASCADE_STORE=$store"
}

# As bash would, with the cursor behind the last word.
complete_line() {
  # shellcheck disable=SC2034
  local COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT
  COMP_POINT=${#COMP_LINE}
  _cascadectl
  echo "${COMPREPLY[*]}"
}

# shellcheck disable=SC2034,SC2317  # the completion calls these, and reads what they set
check_completes_what_the_daemon_knows() {
  # shellcheck source=/dev/null
  source /usr/share/bash-completion/completions/cascadectl
  compopt() { true; }
  _get_comp_words_by_ref() {
    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
  }
  __ltrim_colon_completions() { true; }
  complete_line cascadectl --instance mu | grep music
  complete_line cascadectl --instance music --store '' | grep "$store"
  complete_line cascadectl --instance music --store "$store" nodes al | grep albums
  complete_line cascadectl --instance music --store "$store" why albums/ | grep albums/best-of-jazz
  [[ -z $(complete_line cascadectl --instance nobody nodes '') ]]
}

check_pauses_and_resumes() {
  ctl music --store "$store" pause
  ctl music --json status | jq --exit-status \
    ".stores[] | select(.store == \"$store\") | .state == \"paused\""
  sql music "$store" "INSERT INTO album VALUES('paused', 'nobody', NULL);
    DELETE FROM album WHERE id = 'paused'"
  ctl music --store "$store" resume
  wait_for 10 eval "ctl music --json status | jq --exit-status 'all(.stores[]; .state == \"ok\")'"
}

check_tells_events_as_they_happen() {
  local events
  events=$(mktemp)
  timeout 10 cascadectl --instance music --store "$store" --json events --follow >"$events" &
  sleep 1
  sql music "$store" "INSERT INTO album VALUES('seen', 'ella', NULL), ('gone', 'nobody', NULL);
    DELETE FROM album WHERE id = 'seen'; INSERT INTO artist VALUES('x', 'x');
    INSERT INTO album VALUES('follows', 'x', NULL); DELETE FROM artist WHERE id = 'x'"
  wait_for 8 grep -q sweep "$events"
  kill %1
}

check_writes_metrics() {
  local file=$prometheus/cascade-music.prom name
  mkdir -p "$prometheus"
  systemctl start cascaded-metrics@music.service
  for name in lock_hold_seconds_bucket oldest_change_seconds last_sweep_seconds deletions_total \
    held_plans rejected_files spool_files journal_entries store_up; do
    grep -E "^cascaded_$name\{.*store=\"$store\"" "$file"
  done
  [[ $(stat -c '%U %a' "$file") == 'root 644' && ! -e $file.new ]]
}

# node_exporter reads the text format of Prometheus, which knows fewer types than OpenMetrics.
check_writes_metrics_that_node_exporter_takes() {
  systemctl start cascaded-metrics@music.service
  grep '^# TYPE' "$prometheus/cascade-music.prom" |
    expect 1 grep -vE ' (counter|gauge|histogram|summary|untyped)$'
  grep -q '^# TYPE cascaded_deletions_total counter$' "$prometheus/cascade-music.prom"
}

check_removes_metrics_of_a_silent_daemon() {
  systemctl stop cascaded@music.socket cascaded@music.service
  expect 1 systemctl start cascaded-metrics@music.service
  [[ -z $(ls "$prometheus") ]]
  systemctl start cascaded@music
}
