// How each operation is made of others where an operand is complex. Used by complex.cpp only.
//
// Pure functions; any thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "stoker/pipeline/tensor/complex/complex.hpp"

namespace stoker::expr::complex_rules {

/// What a rule sees.
struct Call {
  const Op& op;
  const Values& inputs;
  const Attributes& attributes;
  [[nodiscard]] const Value& x(std::size_t i = 0) const noexcept { return inputs[i]; }
};
using Rule = std::function<Value(const Call&)>;
using Rules = std::map<std::string, Rule, std::less<>>;

/// Functions of single elements.
void add_functions(Rules& rules);
/// Orders, shapes, positions, sums and products.
void add_structure(Rules& rules);

}  // namespace stoker::expr::complex_rules
