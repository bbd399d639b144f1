// Layers and networks, and the tensors that they compute with (component Stoker::nn); see
// docs/training.md. For models and training include api/train.hpp.
#pragma once

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/attention.hpp"
#include "stoker/api/nn/functional/losses.hpp"
#include "stoker/api/nn/functional/metrics.hpp"
#include "stoker/api/nn/functional/recurrent_cells.hpp"
#include "stoker/api/nn/functional/resampling.hpp"
#include "stoker/api/nn/graph/block.hpp"
#include "stoker/api/nn/graph/initializer.hpp"
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/nn/graph/layer_kinds.hpp"
#include "stoker/api/nn/graph/network.hpp"
#include "stoker/api/nn/graph/node.hpp"
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor.hpp"
