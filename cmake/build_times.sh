#!/usr/bin/env bash
# What a build took, by target, from Ninja's log: `cmake/build_times.sh [--files N] [BUILD]`, BUILD being
# `build`. With --files also the N files that took longest. Markdown, for bench/README.md.
#
# Ninja notes when each step began and ended. With as many jobs as cores and nothing else running that is
# nearly what it took of the processor. Of a step that ran again, the last time counts; what ccache had
# counts nothing, so measure with an empty cache (CCACHE_DIR=$(mktemp -d) ./dev build).
set -euo pipefail
files=0
if [[ ${1:-} == --files ]]; then
  files=$2
  shift 2
fi
log=${1:-build}/.ninja_log
last=$(awk '!/^#/ { last[$4] = $0 } END { for (i in last) print last[i] }' "$log" |
  awk '!seen[$1, $2, $5]++ { print ($2 - $1) / 1000, $4 }')  # a step of many outputs counts once
echo "| target | steps | seconds | each |"
echo "|---|---:|---:|---:|"
awk '{
       target = $2
       if (!sub(/^.*CMakeFiles\//, "", target) || !sub(/\.dir\/.*/, "", target)) target = "links and the rest"
       if ($2 ~ /spirv_pack|spirv_index/) target = "built-in shaders"
       steps[target]++; seconds[target] += $1; all += $1; count++
     }
     END {
       for (t in steps) printf "| %s | %d | %.0f | %.1f |\n", t, steps[t], seconds[t], seconds[t] / steps[t] | "sort -t\\| -k4,4 -rn"
       close("sort -t\\| -k4,4 -rn")
       printf "| all | %d | %.0f | %.1f |\n", count, all, all / count
     }' <<<"$last"
if ((files > 0)); then
  echo
  echo "| file | seconds |"
  echo "|---|---:|"
  sort -rn <<<"$last" | head -n "$files" |
    awk '{ sub(/^.*CMakeFiles\//, "", $2); sub(/\.dir\//, ": ", $2); sub(/\.o$/, "", $2); printf "| %s | %.1f |\n", $2 $3, $1 }' || true
fi
