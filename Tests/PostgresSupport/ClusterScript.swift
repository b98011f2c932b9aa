extension Cluster {
  /// Starts a server, and does what it is told by a line on its input: one word, a node and what
  /// belongs to it. Says one byte when that is done. All servers end when its input is closed. A server
  /// refuses to run as root.
  static let script = """
    set -eu
    directory=$1 programs=$2 settings=$3
    as=()
    if ((EUID == 0)); then as=(setpriv --reuid=nobody --regid=nogroup --clear-groups); fi
    exec 2>"$directory.log"
    mkdir -m 700 "$directory"
    ((EUID)) || chown nobody:nogroup "$directory"
    cd "$directory"
    declare -A server receiver
    port() { [[ $1 == first ]] && echo 5432 || echo 5433; }
    "${as[@]}" "$programs/initdb" -D first -U postgres -A trust -E UTF8 --locale=C.UTF-8 \\
      --no-sync --no-instructions >&2

    # Processes of a server that was killed may not have ended yet, so it is tried again.
    start() {
      local tries
      for ((tries = 0; tries < 500; tries++)); do
        # shellcheck disable=SC2086
        "${as[@]}" "$programs/postgres" -D "$1" -p "$(port "$1")" \\
          -k "$directory" -c listen_addresses= -c fsync=off \\
          -c full_page_writes=off -c max_connections=60 -c autovacuum=off \\
          -c shared_buffers=16MB $settings </dev/null >/dev/null 2>&2 &
        server[$1]=$!
        while kill -0 "${server[$1]}"; do
          "$programs/pg_isready" -q -h "$directory" -p "$(port "$1")" && return
          sleep 0.02
        done
        sleep 0.02
      done
      return 1
    }

    # The first process forks no more when it has stopped.
    signal() {
      [[ $2 != STOP ]] || kill -STOP "${server[$1]}"
      pkill "-$2" -P "${server[$1]}" || true
      [[ $2 == STOP ]] || kill "-$2" "${server[$1]}"
    }

    end() {
      kill "-$2" "${server[$1]}" || true
      # One that was stopped gets no other signal before this.
      pkill -CONT -P "${server[$1]}" || true
      kill -CONT "${server[$1]}" || true
      wait "${server[$1]}" || true
    }

    # All at once, as a machine does.
    crash() {
      kill -STOP "${server[$1]}"
      pkill -KILL -P "${server[$1]}" || true
      kill -KILL "${server[$1]}"
      wait "${server[$1]}" || true
    }

    # A standby of which a process was killed starts anew first. When it has become a primary, it has
    # no such file.
    promote() {
      local tries
      for ((tries = 0; tries < 20; tries++)); do
        "${as[@]}" "$programs/pg_ctl" -D "$1" -w -t 5 promote </dev/null >&2 && return
        [[ -e $1/standby.signal ]] || return 0
      done
      return 1
    }

    # A node begins anew, as a standby of another one.
    join() {
      rm -rf "$1"
      "${as[@]}" "$programs/pg_basebackup" -h "$directory" -p "$(port "$2")" -U postgres -D "$1" \\
        -d "application_name=$1" -R -c fast </dev/null >&2
      start "$1"
    }

    # Receives the log as an archiver does, under a name of its own.
    receive() {
      mkdir -p "archive-$2"
      ((EUID)) || chown nobody:nogroup "archive-$2"
      "${as[@]}" "$programs/pg_receivewal" -d "application_name=$2" -h "$directory" \\
        -p "$(port "$1")" -U postgres -D "archive-$2" ${3:+--synchronous} </dev/null >&2 &
      receiver[$2]=$!
    }

    start first
    printf .
    while read -r word node more; do
      # shellcheck disable=SC2086
      case $word in
        start) start "$node" ;;
        signal) signal "$node" "$more" ;;
        end) end "$node" "$more" ;;
        crash) crash "$node" ;;
        promote) promote "$node" ;;
        join) join "$node" "$more" ;;
        receive) receive "$node" $more ;;
      esac && printf . || printf x
    done
    for node in "${!receiver[@]}"; do kill -KILL "${receiver[$node]}" || true; done
    for node in "${!server[@]}"; do end "$node" KILL; done
    cd /
    rm -rf "$directory" "$directory.log"
    """
}
