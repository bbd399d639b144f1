#include "stoker/tests/checkout/checkout.hpp"

namespace stoker {

std::filesystem::path checkout_folder() { return STOKER_SOURCE_DIR; }

std::filesystem::path build_folder() { return STOKER_BINARY_DIR; }

}  // namespace stoker
