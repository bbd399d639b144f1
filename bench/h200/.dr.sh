#!/usr/bin/env bash
# Packs this Debian's compilers, libraries and tools as a root for chroot: for the sanitizers and fuzzers on a
# machine with many cores, none of our packages and no network.
#
#     bench/h200/debian_root.sh FOLDER      needs the packages of ./dev test and ./dev fuzz; 7 minutes, one core
#
# Leaves root.part.* in FOLDER, of at most 50 MB each, since a call carries 64 MiB, and run.sh. Carry the parts
# one call after the other to /tmp of that machine, then there, as root, from the checkout:
#
#     bash FOLDER/run.sh tsan asan          unpacks, builds and tests in the background; out/status tells
#
# A machine that is lent goes back soon after a call, so ask again before: tail /tmp/root/out/status.
set -euo pipefail
folder=$1
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- files: of these packages and all that they depend on -------------------------------------------
eval "$(sed -n '/^packages_to_build=(/,/^packages_to_compare=(/p' dev | sed '$d')"
seeds=("${packages_to_build[@]}" "${packages_boost_12[@]}" "${packages_to_run[@]}" clang-19 libclang-rt-19-dev
       llvm-19 bash coreutils sed gawk grep findutils tar gzip xz-utils diffutils procps util-linux perl-base
       mawk hostname git libc-bin base-files debianutils python3 libblas3 liblapack3)
apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks \
  --no-replaces --no-enhances "${seeds[@]}" 2>/dev/null | grep -E '^[a-z0-9]' | sort -u >"$work/closure"
dpkg-query -W -f='${db:Status-Status} ${Package}:${Architecture}\n' | awk '$1 == "installed" { print $2 }' |
  awk -F: 'NR == FNR { want[$1] = 1; next } $1 in want' "$work/closure" - |
  grep -vE '^(clang-(14|tidy|tools|format)|clangd|openjdk|adduser|apt|systemd|dbus)' >"$work/packages"
{
  xargs dpkg -L <"$work/packages" 2>/dev/null
  printf '%s\n' /etc/alternatives/* /etc/passwd /etc/group /etc/ld.so.conf /etc/ld.so.conf.d/* /etc/os-release
  printf '%s\n' /usr/bin/{cc,c++,awk} /usr/lib/x86_64-linux-gnu/lib{blas,lapack}.so.3
} | sed -E 's#^/(bin|sbin|lib|lib64)/#/usr/\1/#' | sort -u >"$work/all"
# What no build and no test reads.
grep -vE '^/usr/share/(doc|man|locale|info|lintian|bash-completion|icons|bug|perl|zoneinfo|i18n|vim|gdb)(/|$)' "$work/all" |
  grep -vE '/include/boost/(geometry|spirit|phoenix|python|units|msm|polygon|gil|hana|compute|wave|log)(/|$)' |
  grep -vE '^/usr/lib/llvm-(14|19/include|19/share|19/lib/.*Polly)|/(libLLVM-14|libclang-19)|^/usr/lib(x?32)/' |
  grep -vE '/(lto1|cc1|dri/.*|libvulkan_(intel|radeon|gfx|virtio).*|vulkan/registry/.*)$|/vulkan_?[a-z_]*\.hpp$' |
  grep -vE '/numpy/.*/tests/|/python3\.11/dist-packages/|/gconv/|^/usr/lib/git-core/|/perl5?/|i386|^/lib32/' |
  grep -vE '^/usr/share/cmake-[0-9.]+/(Help|Templates)/|/usr/bin/(cpack|scalar|git-shell|spirv-(reduce|link|lint))$' |
  grep -vE '/(msan|dfsan|memprof|hwasan|scudo|xray|orc|gwp|nsan|rtsan)[^/]*$|rt\.(msan|dfsan|tsan|memprof|hwasan)' |
  while read -r file; do
    [[ -L $file || ( -e $file && ! -d $file ) ]] || continue
    case $file in
      /usr/lib/llvm-19/bin/*)
        [[ ${file##*/} =~ ^(clang|clang\+\+|clang-19|llvm-symbolizer|llvm-ar|llvm-nm|llvm-objcopy)$ ]] || continue ;;
      *libprotobuf*.a | *.o.a | /usr/bin/*-lto-dump* | /usr/bin/*gold) continue ;;
    esac
    echo "${file#/}"
  done >"$work/files"
tar -C / --no-recursion -cf - -T "$work/files" | xz -T2 -2 | split -b 50000000 - "$folder/root.part."

# --- what runs there --------------------------------------------------------------------------------
cat >"$folder/run.sh" <<'RUN'
# bash run.sh PRESET…: unpacks /tmp/root.part.*, copies the checkout into it, starts the presets' builds and tests.
set -e
root=/tmp/root
mkdir -p $root/usr/{bin,sbin,lib,lib64} $root/{proc,sys,dev,tmp,root,run,out,work/main}
for name in bin sbin lib lib64; do ln -sfn usr/$name $root/$name; done
cat /tmp/root.part.* | xz -dc | tar -C $root -xf -
ln -sf bash $root/usr/bin/sh
tar -cf - --exclude=./.git --exclude='root.part.*' . | tar -C $root/work/main -xf -
mount --bind /proc $root/proc
mount --bind /dev $root/dev
mkdir -p $root/dev/shm
mount -t tmpfs tmpfs $root/dev/shm
chmod 1777 $root/tmp
cat >$root/tmp/inside.sh <<'INSIDE'
cd /work/main
export HOME=/root CCACHE_DISABLE=1 LC_ALL=C.UTF-8 PATH=/usr/bin:/usr/sbin TMPDIR=/tmp
unset CXX CC LD_LIBRARY_PATH LD_PRELOAD VK_DRIVER_FILES
ldconfig
export ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=0
export LSAN_OPTIONS=suppressions=$PWD/tests/suppressions/lsan.txt
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=suppressions=$PWD/tests/suppressions/tsan.txt:halt_on_error=1
for preset in "$@"; do
  cmake --preset $preset --log-level=WARNING >/out/$preset.build 2>&1
  ninja -C build-$preset -k 5 >>/out/$preset.build 2>&1
  echo "$(date +%T) $preset: $(tail -1 /out/$preset.build)" >>/out/status
  # GCC 12's sanitizers want addresses that newer kernels do not give without -R.
  setarch x86_64 -R ctest --preset $preset -j "$(nproc)" -E 'format|install' >/out/$preset.tests 2>&1
  echo "$(date +%T) $preset: $(grep 'tests passed' /out/$preset.tests)" >>/out/status
done
echo "$(date +%T) done" >>/out/status
INSIDE
setsid chroot $root bash /tmp/inside.sh "$@" >/tmp/inside.log 2>&1 </dev/null &
RUN
ls -la "$folder"
