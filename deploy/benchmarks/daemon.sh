# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# The daemon

# What the model of the next daemon says: limits.lock, limits.patience (empty: the defaults), trash.
lock='' patience='' trash=0

# start STORE [MODEL]: a daemon for it, in the background, ready for work.
start() {
  local spool=$1.cascade
  mkdir -p "$spool"
  cat >"$spool/model.json" <<END
{
  limits: { ${lock:+lock: \"$lock\",} ${patience:+patience: \"$patience\",}
    hold: { deletes: 100000000, share: 1 } },
  trash: "$trash",
  ${2-}
}
END
  "$BIN/cascaded" "$1" >"$work/daemon.log" 2>&1 &
  daemon=$!
  for ((i = 0; i < 30000; i++)); do
    [[ -S $spool/control && -d $spool/new ]] && return
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.01
  done
  die "cascaded did not start"
}

# peak: the most memory that the daemon ever had, in MB.
peak() { awk '/^VmHWM/ { printf "%.0f\n", $2 / 1024 }' "/proc/$daemon/status"; }

stop() {
  kill -TERM "$daemon"
  wait "$daemon" || die "cascaded ended with status $?"
  daemon=''
}

# submit STORE FILE SQL: the seconds from the rename of a copy of FILE to the result.
submit() {
  local copy
  copy=$1.cascade/tmp/$(basename "$2")
  cp "$2" "$copy"
  settle
  "$work/client" submit "$daemon" "$1" "$copy" "$3" || not_applied "$1"
}

applied() { printf "SELECT count(*) FROM cascade_ledger WHERE id = '%s'" "$1"; }

# not_applied STORE: ends the program with the first reasons that the daemon gave.
not_applied() {
  local reason
  for reason in "$1".cascade/rejected/*.reason.json; do
    [[ -e $reason ]] || break
    head -c 2000 "$reason" >&2
    break
  done
  die "cascaded did not do what it was given"
}

ctl() { "$BIN/cascadectl" --store "$1" --json "${@:2}"; }

# ready STORE: waits until the daemon answers, which it does when it has attached the tables.
ready() { ctl "$1" status >/dev/null || die "cascaded does not answer"; }

# sweep STORE COUNT KIND…: the seconds from the call to the reply; it must delete COUNT nodes.
sweep() {
  local start=$EPOCHREALTIME reply
  reply=$(ctl "$1" sweep "${@:3}") || die "the sweep failed: $reply"
  seconds_since "$start"
  [[ $reply == *"\"deletedCount\":$2,"* ]] || die "the sweep did not delete $2 nodes: $reply"
}

seconds_since() { awk "BEGIN { printf \"%.4f\\n\", $EPOCHREALTIME - $1 }"; }
