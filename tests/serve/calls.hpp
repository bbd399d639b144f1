// Calls without a model or a batcher, for tests of what holds them.
#pragma once

#include "stoker/api/serve/batch_queue.hpp"

namespace stoker::serve {

inline const auto unlimited =
    std::make_shared<Admission>(1'000'000, 1U << 30U, std::chrono::milliseconds{50});

/// The key and the level of a call.
struct Place {
  std::size_t key = 0;
  std::size_t level = 0;
};

/// A call of some rows; `signature` distinguishes it from others.
inline CallHolder call_of(std::int64_t rows, std::int64_t signature = 0,
                          Admission::Ticket ticket = {}, Place place = {}) {
  CheckedRequest request{.rows = rows, .key = place.key, .level = place.level};
  request.signature.add(signature);
  return CallHolder{CallPtr{new ServedCall{
      std::move(request), Clock::time_point::max(), std::move(ticket), unlimited, {}, nullptr}}};
}

}  // namespace stoker::serve
