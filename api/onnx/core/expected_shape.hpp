// Checks the shapes that a rule expects of its operands.
//
// Pure functions; called while a model is traced. Errors are thrown, with the operator of the call as op.
#pragma once

#include <initializer_list>
#include <string_view>

#include "stoker/api/onnx/core/call.hpp"

namespace stoker::onnx {

/// In expect_shape(): any extent.
inline constexpr std::int64_t any_extent = -1;

/// Throws shape_mismatch unless operand i, called `name`, has these extents or is omitted.
void expect_shape(const Call& call, std::size_t i, std::string_view name, const Axes& extents);
/// The same for an operand that may have one of several shapes.
void expect_shape(const Call& call, std::size_t i, std::string_view name,
                  std::initializer_list<Axes> either);

}  // namespace stoker::onnx
