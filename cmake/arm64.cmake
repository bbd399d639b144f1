# Toolchain: Debian's cross compiler for arm64 and, in STOKER_SYSROOT, the libraries that `./dev arm64` has
# unpacked for it. What is built runs under qemu, stoker-shaders during the build among it.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES STOKER_SYSROOT)
set(CMAKE_SYSROOT "${STOKER_SYSROOT}")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L "${STOKER_SYSROOT}")

# Programs are this machine's, all else is the other's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${STOKER_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${STOKER_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${STOKER_SYSROOT}/usr/share/pkgconfig")
