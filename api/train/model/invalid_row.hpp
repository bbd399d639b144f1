// Which row makes a loss NaN or infinite, so that an error can name it.
//
// Looks for numbers that are not finite, in inputs and targets, and, where the loss reads classes
// by index, for those that do not exist. Rows that it finds nothing in may still have no finite
// loss: a learning rate was too high, or the network itself divides by 0.
//
// Threads: any but a host's event loop: waits. Throws what a source of rows throws.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/api/train/model/model.hpp"

namespace stoker::nn {

struct InvalidRow {
  std::string text;             ///< "input 'pixels' of row 9 holds nan"
  std::vector<Detail> details;  ///< row, and input or target
};

/// The first one of all, in their order; none if there is none.
[[nodiscard]] std::optional<InvalidRow> find_bad_row(const Model& model, const Dataset& data);
/// The first one of a batch of an epoch, counted from 0; it is the data's row that is named.
[[nodiscard]] std::optional<InvalidRow> find_bad_row(const Model& model, const Loader& loader,
                                                     std::int64_t epoch, std::int64_t batch);

}  // namespace stoker::nn
