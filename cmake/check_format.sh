#!/usr/bin/env bash
# Names every source that clang-format would write otherwise; exits 1 if there is any, and 77 without
# clang-format 14, Debian 12's: others break lines elsewhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v clang-format >/dev/null && [[ $(clang-format --version) == *" version 14."* ]] || exit 77
find runtime kernels device actors pipeline api tests bench examples -name '*.[ch]pp' -print0 |
  xargs -0 -n 100 clang-format --dry-run -Werror
