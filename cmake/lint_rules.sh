#!/usr/bin/env bash
# Rules that no formatter knows. Prints each finding as file:line: text; exits 1 if there is any.
#
#   - includes point one way: api → pipeline → actors → device → kernels → runtime
#   - nothing in a library ends the host process
#   - no file of more than 500 lines
#   - shaders ask isnan(): a driver may take x != x for false
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

find runtime kernels device actors pipeline api -name '*.?pp' -print0 | sort -z |
  xargs -0 awk '
    BEGIN {
      split("runtime kernels device actors pipeline api", names, " ")
      for (i in names) rank[names[i]] = i
    }
    function finding(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; found = 1 }
    FNR == 1 { split(FILENAME, path, "/"); layer = path[1] }
    FNR == 501 { finding("more than 500 lines") }
    match($0, /^#include "stoker\/[a-z]+\//) {
      split($0, parts, "/")
      if (rank[parts[2]] > rank[layer]) finding(layer " must not include " parts[2])
    }
    /^#include "/ && !/^#include "stoker\// && FILENAME !~ /^api\/command_line\// { finding("include as \"stoker/<layer>/<file>\"") }
    {
      code = $0
      sub(/\/\/.*/, "", code)
      if (FILENAME ~ /^api\/command_line\/|^kernels\/shader_tool\// || code ~ /static_assert/) next
      if (code ~ /(^|[;{}(]|return|std::|[ (]::)[ ]*(abort|terminate|exit|_exit|quick_exit|assert)[ ]*\(/)
        finding("a library must not end the process: " $0)
    }
    END { exit found }'

if grep -rnE '\b([a-z_]+) [!=]= \1\b' --include='*.glsl' --include='*shader.cpp' kernels; then exit 1; fi
