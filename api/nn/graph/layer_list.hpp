// Every file of api/nn/layers; the definition is generated (cmake/generated_lists.cmake).
#pragma once

#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn::layers {

void define_all(LayerTable& table);

}  // namespace stoker::nn::layers
