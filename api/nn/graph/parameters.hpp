// The tensors that training changes, by name.
//
// Names are paths, "dense_0.kernel". A map keeps them in order, so that a traced program finds the
// parameters in the same positions again.
//
// A value; thread-safe as values are.
#pragma once

#include <map>
#include <string>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

using Parameters = std::map<std::string, Tensor>;

}  // namespace stoker::nn
