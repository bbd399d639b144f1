#!/usr/bin/env bash
# Packs what was built here for one run on a machine that has a GPU and no compiler, none of our
# libraries and no network: the programs, the Debian libraries they need, and a Vulkan loader.
#
#     bench/h200.sh [PROGRAM…]     programs in build/bin; stoker_bench always comes along
#
# Leaves one folder in the checkout, ignored by git, and prints the command to run there from the
# checkout's root, with $OUT a folder for results. The programs run with the C++ library of whichever
# machine has the newer one, and always with that machine's C library, which must not be older than
# ours.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

folder=.h200bench
programs=(stoker_bench "$@")
[[ -x build/bin/bench_caf_actors ]] && programs+=(bench_caf_actors)

for program in "${programs[@]}"; do
  [[ -x build/bin/$program ]] || { echo "h200.sh: build/bin/$program is not built" >&2; exit 1; }
done
mkdir -p "$folder/loaders"
exclude=$(git rev-parse --git-path info/exclude)
mkdir -p "$(dirname "$exclude")"
grep -sqxF "/$folder/" "$exclude" || echo "/$folder/" >>"$exclude"

# --- programs and libraries -----------------------------------------------------------------------
# The C library belongs to its machine, as does its loader. The C++ run-time goes apart: it is used
# only if the other machine has none.
is_c_library() { [[ $1 =~ /(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util))\.so ]]; }
is_cxx_library() { [[ $1 =~ /lib(stdc\+\+|gcc_s)\.so ]]; }

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/bin" "$stage/lib" "$stage/cxx"
for program in "${programs[@]}"; do
  strip -o "$stage/bin/$program" "build/bin/$program"
  ldd "build/bin/$program" | awk '$3 ~ /^\// { print $3 }'
done | sort -u | while read -r library; do
  is_c_library "$library" && continue
  if is_cxx_library "$library"; then cp -L "$library" "$stage/cxx/"; else cp -L "$library" "$stage/lib/"; fi
done
# The BEAM finds its files by its own place; its benchmark is compiled where it runs.
mkdir "$stage/beam"
if [[ -d /usr/lib/erlang ]]; then
  cp -r /usr/lib/erlang "$stage/beam/"
  cp bench/peers/actors.erl "$stage/beam/"
  ldd /usr/lib/erlang/erts-*/bin/beam.smp | awk '$3 ~ /^\// { print $3 }' | while read -r library; do
    is_c_library "$library" || is_cxx_library "$library" || cp -L "$library" "$stage/lib/"
  done
fi
# The programs are alike in most of what they hold: a dictionary as large as all of them says it once.
tar -C "$stage" -cf - bin lib cxx beam | xz -T1 --lzma2=preset=3,dict=256MiB >"$folder/programs.txz"

# For programs that crash there once in a while.
cp bench/h200/repeat.sh "$folder/"
g++ -std=c++20 -O1 -shared -fPIC -static-libgcc bench/h200/crash_trace.cpp -o "$folder/crash_trace.so"

# --- Vulkan loader --------------------------------------------------------------------------------
# In lists of their own, so that this machine's are not touched.
packages=(libvulkan1 libegl1 libglvnd0 libgl1 libglx0)
if ! ls "$folder"/loaders/libvulkan1_*.deb >/dev/null 2>&1; then
  lists=/tmp/h200-lists
  mkdir -p "$lists/partial"
  options=(-oAPT::Architecture=amd64 -oAPT::Architectures=amd64 "-oDir::State::Lists=$lists")
  apt-get -qq "${options[@]}" update
  (cd "$folder/loaders" && apt-get -qq "${options[@]}" download "${packages[@]}")
fi

# --- what runs there ------------------------------------------------------------------------------
cat >"$folder/run.sh" <<'RUN'
# bash run.sh PROGRAM [ARGUMENT…]: unpacks on first use, then runs the program. Others that begin meanwhile wait for
# that.
here=$(dirname "$(readlink -f "$0")")
home=${STOKER_HOME:-/tmp/stoker}
mkdir -p "$home/lib" || exit
exec 9>"$home/lock"
flock 9
if [[ ! -d $home/bin ]]; then
  { xz -dc "$here/programs.txz" 2>/dev/null ||
    python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' \
      "$here/programs.txz"; } | tar -C "$home" -xf - || exit
  if ! ldconfig -p | grep -q libvulkan.so.1; then
    for package in "$here"/loaders/*.deb; do dpkg -x "$package" "$home/loaders"; done
    find "$home/loaders" -name '*.so*' -exec cp -P {} "$home/lib/" \;
  fi
  ldconfig -p | grep -q 'libstdc++.so.6' || cp "$home"/cxx/* "$home/lib/"
fi
exec 9>&-
export LD_LIBRARY_PATH=$home/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# The driver's own description, where the loader does not look for it.
for icd in /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json; do
  [[ -z ${VK_DRIVER_FILES:-} && -r $icd ]] && export VK_DRIVER_FILES=$icd
done
egl=/usr/local/nvidia/share/glvnd/egl_vendor.d/10_nvidia.json
[[ -r $egl ]] && export __EGL_VENDOR_LIBRARY_FILENAMES=$egl
[[ -d /usr/local/nvidia/lib64 ]] && export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/usr/local/nvidia/lib64
# Its scripts look for themselves where Debian puts them.
[[ -d $home/beam/erlang && ! -e /usr/lib/erlang ]] && ln -s "$home/beam/erlang" /usr/lib/erlang
[[ -d $home/beam/erlang ]] && export PATH=$home/beam/erlang/bin:$PATH
export STOKER_BENCH_ERL=$home/beam/actors.erl
export STOKER_CACHE_DIR=${STOKER_CACHE_DIR:-$home/cache}
[[ -n ${STOKER_PRELOAD:-} ]] && export LD_PRELOAD=$STOKER_PRELOAD
program=$1
shift
exec "$home/bin/$program" "$@"
RUN

groups="overhead actors vulkan_latency gpu_kernels gpu_tensors tensors_first_call server memory"
cat <<END
Packed $(du -sh "$folder" | cut -f1) into $folder. Carry that folder; from the checkout's root run there:

nvidia-smi -L; timeout 540 bash $folder/run.sh stoker_bench $groups --json 2>&1 >\$OUT/h200.json | tee \$OUT/h200.txt

or, 200 processes, 8 side by side: bash $folder/repeat.sh 200 8 bash $folder/run.sh PROGRAM
END
