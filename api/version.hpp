// The version of Stoker that these headers belong to.
#pragma once

#include <string_view>

namespace stoker {

/// "major.minor.patch", as in CMakeLists.txt.
inline constexpr std::string_view version = "0.1.0";

}  // namespace stoker
