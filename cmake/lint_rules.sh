#!/usr/bin/env bash
# Rules that no formatter knows. Prints each finding as file:line: text; exits 1 if there is any.
#
#   - includes point one way: api → pipeline → actors → device → kernels → runtime; the tests of a layer
#     include that layer and those below it; nothing but tests, bench and examples includes those three
#   - within a layer, headers of a room include those of the same room and of rooms listed before it
#   - a folder's names stand in the namespace that CONTRIBUTING.md gives it, or in stoker itself
#   - examples and the tests of guides include public headers only, as a user's program does
#   - an include names a file from the root, or one beside the file (tests, bench, the command)
#   - no file of more than 500 lines
#   - no folder of more than 36 files but those with one pair for each kind of a thing
#   - nothing in a library ends the host process
#   - comments and documents name only files and functions that exist
#   - nothing refers to notes that are not in the tree
#   - what a program calls throws: in public headers, functions that return Result are called try_…
#   - shaders ask isnan(): a driver may take x != x for false
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

libraries=(runtime kernels device actors pipeline api)
status=0

find "${libraries[@]}" tests bench examples -name '*.?pp' -print0 | sort -z |
  xargs -0 awk '
    BEGIN {
      split("runtime kernels device actors pipeline api tests bench examples", names, " ")
      for (i in names) rank[names[i]] = i
      # Rooms within a layer, lowest first. Headers of a folder that is not listed are free.
      split("runtime/base runtime/observe runtime/execution runtime/futures runtime/queue runtime/process runtime/asio " \
            "device device/memory device/commands device/fault device/vulkan/instance device/vulkan/memory device/vulkan/pipelines " \
            "device/vulkan/submission device/vulkan " \
            "actors actors/supervisor actors/device " \
            "pipeline/kernel_graph pipeline/image " \
            "pipeline/tensor/graph pipeline/tensor/complex pipeline/tensor/program pipeline/tensor/passes " \
            "pipeline/tensor/fusion pipeline/tensor/lowering pipeline/tensor/control pipeline/tensor/files " \
            "pipeline/protobuf pipeline/onnx/graph pipeline/onnx/reading pipeline/onnx/writing " \
            "pipeline/script/lua pipeline/script/operations pipeline/script/run pipeline/script/library " \
            "api/observe api/script api/tensor/core api/tensor/views api/tensor/math api/tensor/transforms api/tensor/io " \
            "api/onnx/types api/onnx/core api/onnx/loops api/onnx/times api/onnx/tabular api/onnx/optimize api/onnx/run api/onnx/exporting api/onnx/exports api/onnx/passes api/onnx/operators " \
            "api/nn/graph api/nn/functional api/nn/layers api/data api/train/optim api/train/model api/train/loop " \
            "api/script/functions api/train/script api/model/core api/model/script api/serve api/serve/protocol api/serve/models api/serve/repository api/serve/calls api/serve/http api/serve/http/watch api/serve/http/page api/serve/http/security api/serve/http/encoding api/serve/http/server api/serve/grpc api/command_line api/command_line/words api/command_line/onnx api/command_line/predict api/command_line/serve api/command_line/verbs", names, " ")
      for (i in names) order[names[i]] = i + 0
      while ((getline path_of_header < "cmake/public_headers.txt") > 0) public[path_of_header] = 1
      # Namespaces within stoker, of a folder and those below it.
      split("runtime/base=sanitizers kernels=kernels,cases,rules,processor kernels/image=kernels,image " \
            "kernels/indexing=indexing,cases kernels/glsl=glsl kernels/shader_tool=shader_tool device=device " \
            "pipeline/image=codecs pipeline/tensor=expr pipeline/tensor/files=files pipeline/onnx=onnx,files pipeline/protobuf=protobuf " \
            "pipeline/script=script api=image,script,onnx api/tensor/core=constants api/tensor/math=linalg,random api/onnx=onnx " \
            "api/nn=nn api/train=nn api/data=nn api/command_line=command_line api/model=models,onnx api/serve=serve", names, " ")
      for (i in names) {
        split(names[i], pair, "=")
        spaces[pair[1]] = "," pair[2] ",detail,"
      }
    }
    function spaces_of(path) {
      while (!(path in spaces) && sub(/\/[^\/]*$/, "", path)) {}
      return path in spaces ? spaces[path] : ",detail,"
    }
    function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
    function finding(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; found = 1 }
    FNR == 1 {
      split(FILENAME, path, "/")
      layer = path[1]
      is_library = rank[layer] <= rank["api"]
      room = layer == "tests" && path[2] in rank ? path[2] : layer
      folder = FILENAME
      sub(/[^\/]*$/, "", folder)
    }
    FNR == 501 { finding("more than 500 lines") }
    is_library && /^namespace stoker::/ {
      split($2, parts, "::")
      if (!index(spaces_of(folder_of(FILENAME)), "," parts[2] ","))
        finding("the namespace stoker::" parts[2] " is not that of this folder")
    }
    /^#include "stoker\// {
      split($0, parts, "/")
      # Kernels are tried on a GPU through a system.
      allowed = room == "kernels" && !is_library ? "api" : room
      outside = rank[parts[2]] > rank["api"]
      split($0, quoted, "\"")
      other = folder_of(substr(quoted[2], 8))
      own = folder_of(FILENAME)
      if (FILENAME ~ /^(examples|tests\/guides)\// && !(substr(quoted[2], 8) in public) &&
          quoted[2] !~ /^stoker\/(api\/nn\/layers(\/[^\/]*)?|kernels\/builtin_kernels|kernels\/[^\/]*\/options)\.hpp$/ && parts[2] != "tests")
        finding(quoted[2] " is not a public header")
      if (FILENAME ~ /\.hpp$/ && parts[2] == layer && order[own] && order[other] > order[own])
        finding(own " must not include " other)
      if (!(parts[2] in rank) || (is_library || room != layer) && !outside && rank[parts[2]] > rank[allowed] ||
          is_library && outside)
        finding(room " must not include " parts[2])
    }
    /^#include "/ && !/^#include "stoker\// {
      split($0, quoted, "\"")
      is_beside = !is_library || FILENAME ~ /^api\/command_line\//
      if (!is_beside)
        finding("include as \"stoker/<layer>/<file>\"")
      else if (quoted[2] ~ /\//)
        finding("include as \"stoker/<folder>/<file>\", or a file of this folder by its name")
      else if (system("test -f " folder quoted[2]) != 0)
        finding("there is no " folder quoted[2])
    }
    {
      code = $0
      sub(/\/\/.*/, "", code)
      if (!is_library || FILENAME ~ /^api\/command_line\/|^kernels\/shader_tool\// || code ~ /static_assert/) next
      if (code ~ /(^|[;{}(]|return|std::|[ (]::)[ ]*(abort|terminate|exit|_exit|quick_exit|assert)[ ]*\(/)
        finding("a library must not end the process: " $0)
    }
    END { exit found }' || status=1

# Public headers: docs/errors.md has the rule and its reasons. Whoever writes a kernel or a backend, and what
# lies below messages, has Result; so has what is private.
grep -vE '^(actors/strand|device/backend|kernels/(kernel|params)|runtime/base/fork_guard)\.hpp$|\*' \
  cmake/public_headers.txt |
  xargs awk '
    FNR == 1 { hidden = 0 }
    /^ *(private|protected):/ || /^namespace detail/ { hidden = 1 }
    /^ *public:/ || /^}/ { hidden = 0 }
    /^ *\/\// || hidden { next }
    match($0, /Result<.*> [A-Za-z_]+\(/) {
      name = substr($0, RSTART, RLENGTH - 1)
      sub(/.* /, "", name)
      if (name !~ /^(try_.*|wait|wait_for|cast|cast_next)$/) {
        printf "%s:%d: %s() returns Result: throw, or call it try_%s()\n", FILENAME, FNR, name, name
        found = 1
      }
    }
    END { exit found }' || status=1

# A folder that one can take in holds some thirty files.
crowded=$(find "${libraries[@]}" tests bench examples docs -type f -not -path '*/corpus/*' -not -path '*/golden/*' \
  -printf '%h\n' | sort | uniq -c | awk '$1 > 36 && $2 != "api" && $2 != "api/nn/layers" && $2 != "api/onnx/operators"')
if [[ -n $crowded ]]; then
  printf 'too many files in a folder:\n%s\n' "$crowded"
  status=1
fi

# Comments and documents: a name with () is one that some code calls or defines, a file is there. Lines that
# are indented by four spaces are examples.
mapfile -t sources < <(find "${libraries[@]}" tests bench examples -name '*.?pp' -o -name '*.inc' -o -name '*.glsl' | sort)
mapfile -t documents < <(find . -maxdepth 1 -name '*.md' -printf '%f\n'; find docs bench -name '*.md' | sort)
find . -path './.*' -prune -o -path './build*' -prune -o -type f -printf '%P\n' |
  awk '
    function finding(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; found = 1 }
    BEGIN {
      # Functions of C, Lua and the C++ library that no code of ours calls.
      split("gsub warn __cxa_atexit", elsewhere, " ")
      for (i in elsewhere) is_function[elsewhere[i]] = 1
    }
    FILENAME == "-" {  # files: by each end of their path
      for (path = $0; ; path = substr(path, index(path, "/") + 1)) {
        is_file[path] = 1
        if (!index(path, "/")) next
      }
    }
    FILENAME ~ /\.cmake$/ { generated = generated $0 "\n"; next }
    pass == 1 {
      sub(/\/\/.*/, "")
      while (match($0, /[A-Za-z_][A-Za-z0-9_]*(<[^;{}()]*>)?[ ]*[({]/)) {
        $0 = substr($0, RSTART)
        match($0, /^[A-Za-z_][A-Za-z0-9_]*/)
        is_function[substr($0, 1, RLENGTH)] = 1
        $0 = substr($0, RLENGTH + 1)
      }
      next
    }
    {
      text = $0
      if (FILENAME !~ /\.md$/ && !sub(/^.*\/\//, "", text)) next
      if (text ~ /^    /) next
      rest = text
      while (FILENAME !~ /\.md$/ && match(rest, /[A-Za-z_][A-Za-z0-9_]*\(\)/)) {
        name = substr(rest, RSTART, RLENGTH - 2)
        if (!(name in is_function)) finding("there is no " name "()")
        rest = substr(rest, RSTART + RLENGTH)
      }
      while (match(text, /[A-Za-z0-9_.\/<>*-]+\.(hpp|cpp|glsl|inc|md|cmake)/)) {
        name = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (name ~ /[<>*]|^\.|NAME/ && name !~ /^\.\.?\//) continue
        gsub(/^(\.\.?\/)+/, "", name)
        sub(/^stoker\//, "", name)
        if (!(name in is_file) && !index(generated, name)) finding("there is no " name)
      }
    }
    END { exit found }' - cmake/*.cmake pass=1 "${sources[@]}" pass=2 "${sources[@]}" "${documents[@]}" || status=1

# clang-format breaks no comment that it could not put together again.
if LC_ALL=C.UTF-8 grep -rnE --include='*.[ch]pp' --include='*.glsl' '^.{121,}$' "${libraries[@]}" tests bench examples |
  grep -E '^[^:]*:[0-9]+: *//'; then
  echo "comments have at most 120 columns" >&2
  status=1
fi

# A reader of the tree has the tree only: no path out of it, and no row of a list kept elsewhere.
if grep -rnIE '\.\./[s]hared|[c]hecklist|(^|[^A-Za-z0-9_-])[A-Z]-[0-9]{3}($|[^A-Za-z0-9_-])' \
  "${libraries[@]}" tests bench examples docs cmake dev CMakeLists.txt ./*.md; then
  echo "these refer to notes that are not in the tree" >&2
  status=1
fi

if grep -rnE '\b([a-z_]+) [!=]= \1\b' --include='*.glsl' --include='*shader.cpp' kernels; then status=1; fi
exit $status
