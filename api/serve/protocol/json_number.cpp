#include "stoker/api/serve/protocol/json_number.hpp"

namespace stoker::serve::protocol::detail {

bool is_small(const char* first, const char* last) noexcept {
  const char* const begin = *first == '-' ? first + 1 : first;
  WrittenNumber written;
  const char* end = first;
  static_cast<void>(scan(end, last, written));
  const auto is_part = [](char c) { return c == '.' || (c >= '0' && c <= '9'); };
  const char* const digits_end = std::find_if_not(begin, last, is_part);
  const char* const point = std::find(begin, digits_end, '.');
  const char* const leading =
      std::find_if(begin, digits_end, [](char c) { return c >= '1' && c <= '9'; });
  // The exponent of the leading digit, without the written one.
  const std::ptrdiff_t place = leading < point ? point - leading - 1 : point - leading;
  const std::ptrdiff_t fraction = point == digits_end ? 0 : digits_end - point - 1;
  return written.exponent + fraction + place < 0;
}

}  // namespace stoker::serve::protocol::detail
