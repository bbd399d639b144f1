// What is wrong with a model, all of it, until it is one error.
//
// A value. Threads: one at a time. At most `most_kept` are kept; the rest is counted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/pipeline/onnx/graph/shown.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker::onnx {

class Findings {
 public:
  static constexpr std::size_t most_kept = 64;

  /// `place` is where in the file ("node 'a' (Add)"), `text` what is wrong there. Both are escaped already.
  void add(std::string place, std::string text);
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// Those from number `first` on are in what `outer` names, too, if there are any: the place of one in the
  /// attribute of a node becomes "node …, attribute …".
  template <class Outer> void within(std::size_t first, Outer&& outer) {
    if (first < kept_.size()) put_before(first, outer());  // else nothing shows it
  }
  /// invalid_argument: the only finding, or their number; each is a detail, from its place to its text.
  [[nodiscard]] Error error(const std::string& file) const;

 private:
  void put_before(std::size_t first, const std::string& outer);

  std::vector<Detail> kept_;
  std::size_t count_ = 0;
};

}  // namespace stoker::onnx
