// Where the rows of a model's inputs and outputs lie, and requests that are checked against it.
//
//     RowLayout layout = RowLayout::of(model.inputs());
//     CheckedRequest request = layout.check(model, inputs);      // throws what is wrong with it
//     request.rows;                                              // 3, if its inputs have three rows
//
// Rows lie along the dimension that all inputs leave free: the first one, or where the symbol of the first input's
// first dimension stands again. The outputs' axes are not taken from the declaration, which exporters often write
// differently on the two sides: row_check.hpp finds them by runs.
//
// Immutable once it is complete; then any thread may read it. Errors are thrown.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/model/core/model.hpp"

namespace stoker::serve {

/// Types and extents of a request but for its rows, if it has any: requests with equal ones may share a batch.
class Signature {
 public:
  Signature() = default;
  void add(std::int64_t word) { words_.push_back(word); }
  void reserve(std::size_t words) { words_.reserve(words); }
  friend auto operator<=>(const Signature&, const Signature&) = default;

 private:
  std::vector<std::int64_t> words_;
};

struct CheckedRequest {
  onnx::Values values = {};  ///< one for each input of the model; one that is omitted is not given
  std::int64_t rows = 1;     ///< 1 for a request that is apart
  /// It runs in a batch of its own: because of the model, or because it gives other inputs than those that were shown
  /// to join.
  bool apart = false;
  std::uint64_t bytes = 0;
  Signature signature = {};
  std::size_t key = 0;    ///< position among the batch keys
  std::size_t level = 0;  ///< of priority; 0 is served first
};

class RowLayout {
 public:
  /// Of a model with these inputs, before its outputs are known.
  [[nodiscard]] static RowLayout of(std::span<const onnx::ValueInfo> inputs);

  /// Whether requests may share a batch.
  [[nodiscard]] bool joins() const noexcept { return why_apart_.empty(); }
  /// Why they may not; empty if they may.
  [[nodiscard]] const std::string& why_apart() const noexcept { return why_apart_; }
  void keep_apart(std::string why) { why_apart_ = std::move(why); }

  /// The rows' axis of an input, by its position. Precondition: joins().
  [[nodiscard]] std::size_t input_axis(std::size_t input) const { return inputs_.at(input); }
  /// The rows' axis of an output.
  [[nodiscard]] std::size_t output_axis(const std::string& name) const { return outputs_.at(name); }
  void set_output_axis(const std::string& name, std::size_t axis) { outputs_[name] = axis; }
  /// Whether it has the axes of all outputs of the other one.
  [[nodiscard]] bool has_axes_of(const RowLayout& other) const {
    return std::ranges::includes(outputs_, other.outputs_);
  }
  /// Requests that give these inputs and omit the others may join. Until this is called, all may.
  void add_joining(std::vector<bool> given) { joining_.push_back(std::move(given)); }

  /// Throws not_found for a name that no input has (with the nearest one), invalid_argument for an input that is
  /// missing or of another kind, dtype_mismatch, and shape_mismatch, also if inputs differ in their rows or have none.
  [[nodiscard]] CheckedRequest check(const AnyModel& model, const NamedValues& given) const;

 private:
  [[nodiscard]] bool joins(const onnx::Values& values) const;

  std::string why_apart_;
  std::vector<std::size_t> inputs_;
  std::map<std::string, std::size_t> outputs_;
  std::vector<std::vector<bool>> joining_;
};

}  // namespace stoker::serve
