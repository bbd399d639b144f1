// Where the sources that a test reads lie, and what was built of them. Only checkout.cpp is compiled with the paths,
// so that ccache takes all other tests from another checkout. Any thread.
#pragma once

#include <filesystem>

namespace stoker {

// The root of the sources.
std::filesystem::path checkout_folder();

// What CMake was told to build in: build/, build-asan/, …
std::filesystem::path build_folder();

}  // namespace stoker
