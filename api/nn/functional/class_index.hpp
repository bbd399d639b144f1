// Targets that name the class of each row by its index.
//
// Beside predictions [rows…, classes] they are integers of shape [rows…] or [rows…, 1]. Anything of the
// prediction's own shape is one number for each class instead ("one-hot").
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, dtype_mismatch.
#pragma once

#include <string_view>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

/// The extents but for the last.
[[nodiscard]] Shape rows_of(const Shape& shape);

/// Whether the target is to be read by index: it has not the prediction's shape.
[[nodiscard]] inline bool names_classes(const Tensor& target, const Tensor& prediction) {
  return target.shape() != prediction.shape();
}

/// Of shape [rows…], as s32, or as s64 where s32 would wrap. Refuses what names no classes.
[[nodiscard]] Tensor class_index(std::string_view op, const Tensor& target,
                                 const Tensor& prediction);

/// u8 of the index's shape: whether there is such a class.
[[nodiscard]] Tensor is_class(const Tensor& index, std::int64_t classes);

}  // namespace stoker::nn
