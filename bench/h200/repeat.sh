#!/usr/bin/env bash
# Runs a program many times, several side by side, and tells how the runs ended: for what goes wrong in
# one process of ten, as ends of processes do.
#
#     [PARTS=n] bench/h200/repeat.sh TIMES JOBS PROGRAM [ARGUMENT…]
#
# With PARTS, each run of a GoogleTest program runs one part of n of its tests, in turns.
# Prints one line with the counts, then the last lines of each run that ended with another status than 0.
# A crash_trace.so beside this script is loaded into each run, and prints a backtrace of a crash.
# Ends with 0 if all runs did.
set -uo pipefail
times=$1 jobs=$2
shift 2
here=$(dirname "$(readlink -f "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

one() {
  local number=$1
  shift
  local output=$folder/$number status=0
  [[ -r $here/crash_trace.so ]] && export STOKER_PRELOAD=$here/crash_trace.so
  [[ -n ${PARTS:-} ]] && export GTEST_TOTAL_SHARDS=$PARTS GTEST_SHARD_INDEX=$((number % PARTS))
  timeout 120 "$@" >"$output" 2>&1 || status=$?
  if [[ $status == 0 ]]; then rm "$output"; else echo "ended with $status" >>"$output"; fi
}
export -f one
export folder here
seq "$times" | xargs -P "$jobs" -I{} bash -c 'one "$@"' _ {} "$@"
failed=$(find "$folder" -type f | wc -l)
echo "repeat: $* : $times runs, $failed failed"
find "$folder" -type f | sort | head -8 | while read -r output; do
  echo "--- run ${output##*/}"
  tail -n 40 "$output"
done
[[ $failed == 0 ]]
