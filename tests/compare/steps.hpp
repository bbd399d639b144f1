// Random programs: steps over what is there already, run by Stoker here and described for compare.py.
//
// Not for several threads.
#pragma once

#include "draw.hpp"
#include "record.hpp"

namespace stoker::compare {

struct Step {
  const char* op;
  std::vector<std::size_t> from;  ///< of the inputs, then of the steps before
};

class Steps {
 public:
  /// Of so many inputs of one shape, [rows, columns]. `smooth`: all of it has derivatives everywhere.
  Steps(Draw& draw, std::size_t inputs, std::size_t count, bool smooth);

  /// The last step's result; each by itself if `apart`.
  [[nodiscard]] Tensor run(const Tensors& inputs, bool apart) const;
  [[nodiscard]] Json json() const;

 private:
  std::vector<Step> steps_;
};

}  // namespace stoker::compare
