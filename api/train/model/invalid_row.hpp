// Finds the row that makes a loss NaN or infinite, so that an error can name it.
//
// Looks for non-finite numbers in inputs and targets and, if the loss reads classes by index, for
// classes that do not exist. The loss may be non-finite although no such row is found: if the
// learning rate is too high, or if the network itself divides by 0.
//
// Threads: any but a host's event loop: waits. Throws the errors of the source of rows.
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

/// The first invalid row of the data, or nothing.
[[nodiscard]] std::optional<InvalidRow> find_bad_row(const Model& model, const Dataset& data);
/// The first invalid row of a batch of an epoch, both counted from 0; the result names the row of
/// the data.
[[nodiscard]] std::optional<InvalidRow> find_bad_row(const Model& model, const Loader& loader,
                                                     std::int64_t epoch, std::int64_t batch);

}  // namespace stoker::nn
