# The packages Stoker stands on; all are Debian's. `dev` installs them.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS context fiber)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(StokerDnnl REQUIRED)
find_package(StokerGlslang REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(TURBOJPEG REQUIRED IMPORTED_TARGET libturbojpeg)
# Not by libzip's own CMake package: on Debian it names tools of packages that need not be there.
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
# It asks for -pthread, which the C library needs no more, and which defines a macro: Stoker::onnx could not use
# the headers that another library has precompiled.
set_target_properties(PkgConfig::RE2 PROPERTIES INTERFACE_COMPILE_OPTIONS "")
# Without it there is no component Stoker::serve_grpc.
pkg_check_modules(STOKER_GRPC IMPORTED_TARGET grpc++)
if(STOKER_GRPC_FOUND)
  set_target_properties(PkgConfig::STOKER_GRPC PROPERTIES INTERFACE_COMPILE_OPTIONS "")  # it defines a macro, too
endif()
# Lua compiled as C++: its errors are exceptions and run destructors.
pkg_check_modules(LUA REQUIRED IMPORTED_TARGET lua5.4-c++)

# Stoker opens the Vulkan loader at run time, so only the headers are needed.
find_path(STOKER_VULKAN_INCLUDE vulkan/vulkan.h REQUIRED)
find_path(STOKER_DLPACK_INCLUDE dlpack/dlpack.h REQUIRED)
find_path(STOKER_CONCURRENTQUEUE_INCLUDE concurrentqueue/concurrentqueue.h REQUIRED)
