// Tensors with Asio's completion tokens (component Stoker::tensor).
#pragma once

#include "stoker/api/tensor/core/async.hpp"
