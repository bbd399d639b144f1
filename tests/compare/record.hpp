// What was computed, for compare.py: a line of JSON for each case in cases.jsonl, whose tensors are
// pieces of data.bin.
//
// Not for several threads. Errors of the device are thrown; files that cannot be written end the run.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "stoker/api/tensor.hpp"

namespace stoker::compare {

using Json = nlohmann::json;
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

/// How a function is run.
enum class Way : std::uint8_t {
  together,  ///< asked for as a whole, so that parts of it fuse
  apart,     ///< each operation by itself: the function evaluates what it makes
  traced,    ///< by jit()
};

class Record {
 public:
  explicit Record(const std::filesystem::path& folder);

  /// Runs it and writes what went in and came out. What the device refuses is written as refused.
  void add(std::string_view op, Json attributes, const Tensors& inputs, const Function& function,
           Way way = Way::together);
  /// Values so far, of results.
  [[nodiscard]] std::size_t values() const noexcept { return values_; }

 private:
  Json written(const Tensor& tensor);

  std::ofstream cases_;
  std::ofstream data_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
  std::size_t number_ = 0;
};

}  // namespace stoker::compare
