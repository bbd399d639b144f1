// The CPU version of an image kernel for each dtype of images. Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "stoker/kernels/cpu_plan.hpp"

namespace stoker::image::STOKER_ISA {

/// What plan.operator()<T>() gives for the type T of the dtype, which is one of image::dtypes().
template <class Plan> [[nodiscard]] Result<CpuPlan> by_dtype(DType dtype, const Plan& plan) {
  switch (dtype) {
    case DType::f32: return plan.template operator()<float>();
    case DType::f16: return plan.template operator()<Half>();
    default: return plan.template operator()<std::uint8_t>();
  }
}

}  // namespace stoker::image::STOKER_ISA
