// What training changes: tensors by name.
//
// Names are paths, "dense_0.kernel"; a map keeps them in order, so that a program that was traced
// for some parameters finds them in the same places again.
//
// A value; thread-safe as values are.
#pragma once

#include <map>
#include <string>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

using Parameters = std::map<std::string, Tensor>;

}  // namespace stoker::nn
