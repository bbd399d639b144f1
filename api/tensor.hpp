// Tensors: everything of api/tensor. Component Stoker::tensor.
#pragma once

#include "stoker/api/tensor/convolution.hpp"
#include "stoker/api/tensor/creation.hpp"
#include "stoker/api/tensor/elementwise.hpp"
#include "stoker/api/tensor/grad.hpp"
#include "stoker/api/tensor/indexing.hpp"
#include "stoker/api/tensor/jit.hpp"
#include "stoker/api/tensor/linear_algebra.hpp"
#include "stoker/api/tensor/ordering.hpp"
#include "stoker/api/tensor/products.hpp"
#include "stoker/api/tensor/random.hpp"
#include "stoker/api/tensor/reductions.hpp"
#include "stoker/api/tensor/shapes.hpp"
#include "stoker/api/tensor/tensor.hpp"
#include "stoker/api/tensor/windows.hpp"
