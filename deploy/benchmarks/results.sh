# shellcheck shell=bash disable=SC2034,SC2154  # deploy/bench has the options and sources this

# Results: NAME.ours and NAME.c have the seconds of one run in a line.

median() {
  sort -n "$1" | awk '
    { seconds[NR] = $1 }
    END { printf "%.3f", (seconds[int((NR + 1) / 2)] + seconds[int(NR / 2) + 1]) / 2 }'
}

missed=''

# report NAME WHAT OTHER GOAL [REMARK]: prints the result; OTHER is what the C side is called, and
# NAME.remark, if there is one, what else is to be said.
report() {
  local ours theirs ratio verdict=ok remark=${5-}
  [[ ! -e $work/$1.remark ]] || remark+="   ($(<"$work/$1.remark"))"
  theirs=$(median "$work/$1.c")
  if [[ $only_c ]]; then
    printf '%-44s %s %s s%s\n' "$2" "$3" "$theirs" "$remark"
    return
  fi
  ours=$(median "$work/$1.ours")
  ratio=$(awk "BEGIN { printf \"%.2f\", $ours / $theirs }")
  if awk "BEGIN { exit !($ours > $theirs * $4) }"; then
    verdict=MISSED missed=yes
  fi
  printf '%-44s cascaded %s s   %s %s s   ratio %s   goal ≤ %s   %s%s\n' \
    "$2" "$ours" "$3" "$theirs" "$ratio" "$4" "$verdict" "$remark"
}

# bound WHAT VALUE UNIT GOAL [REMARK]: prints a value, and whether it is within the goal.
bound() {
  local verdict=ok
  if awk "BEGIN { exit !($2 > $4) }"; then
    verdict=MISSED missed=yes
  fi
  printf '%-44s %s%s   goal ≤ %s   %s%s\n' "$1" "$2" "${3:+ $3}" "$4" "$verdict" "${5-}"
}

# a_row NAME ROWS: the microseconds for each row.
a_row() { awk "BEGIN { printf \"%.2f\", $(median "$work/$1.ours") * 1000000 / $2 }"; }

# report_each NAME ROWS WHAT: the seconds, and the time for each row.
report_each() {
  printf '%-44s cascaded %s s   %s µs a row   (%s)\n' "$3" "$(median "$work/$1.ours")" \
    "$(a_row "$1" "$2")" "$(<"$work/$1.remark")"
}

# growth NAME ROWS NAME ROWS: how much more a row of the second costs than one of the first.
growth() { awk "BEGIN { printf \"%.2f\", $(a_row "$3" "$4") / $(a_row "$1" "$2") }"; }
