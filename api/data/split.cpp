#include "stoker/api/data/split.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "stoker/api/data/row_order.hpp"
#include "stoker/runtime/base/random_seed.hpp"

namespace stoker::nn {

Split split(const Dataset& data, const SplitOptions& options) {
  if (!(options.val_split >= 0 && options.val_split <= 1))
    throw Error{"split",
                ErrorCode::invalid_parameter,
                "val_split must be in [0, 1], got " + std::to_string(options.val_split),
                {{"val_split", std::to_string(options.val_split)}}};
  // No epoch of a loader with the same seed has this number.
  constexpr auto purpose = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::int64_t> order =
      options.shuffle ? shuffled_rows(data.size(), options.seed.value_or(random_seed()), purpose)
                      : rows_in_order(data.size());
  const auto held = std::llround(static_cast<double>(data.size()) * options.val_split);
  const auto border = order.end() - held;
  return {data.subset({order.begin(), border}), data.subset({border, order.end()})};
}

}  // namespace stoker::nn
