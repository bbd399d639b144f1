// Tensors from and to Eigen's matrices (component Stoker::tensor; the program finds Eigen).
#pragma once

#include "stoker/api/tensor/io/eigen.hpp"
