// Options that many kinds of layers have, with the names and defaults of Axon, and the variables that
// they speak of.
//
// Pure functions; any thread.
#pragma once

#include <vector>

#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/kernels/params.hpp"

namespace stoker::nn::layers {

[[nodiscard]] inline ParamSpec units_option() {
  return {.name = "units",
          .type = ParamType::integer,
          .fallback = {},
          .doc = "extent of the last axis of the output",
          .min = 1};
}

[[nodiscard]] inline ParamSpec activation_option(const char* fallback = "linear") {
  return {.name = "activation",
          .type = ParamType::text,
          .fallback = ParamValue{std::string{fallback}},
          .doc = "see activation.hpp"};
}

/// use_bias, kernel_initializer, bias_initializer.
[[nodiscard]] inline std::vector<ParamSpec> kernel_options() {
  return {{.name = "use_bias", .type = ParamType::boolean, .fallback = true, .doc = "adds a bias"},
          {.name = "kernel_initializer",
           .type = ParamType::text,
           .fallback = ParamValue{std::string{"glorot_uniform"}},
           .doc = "see initializer.hpp"},
          {.name = "bias_initializer",
           .type = ParamType::text,
           .fallback = ParamValue{std::string{"zeros"}},
           .doc = "see initializer.hpp"}};
}

/// A kernel and, unless use_bias says otherwise, a bias of so many units.
[[nodiscard]] inline std::vector<VariableSpec> kernel_and_bias(const Shape& kernel,
                                                               std::int64_t units,
                                                               const ParamSet& options) {
  std::vector<VariableSpec> all{{"kernel", kernel, options.text("kernel_initializer")}};
  if (options.flag("use_bias"))
    all.push_back({"bias", Shape{units}, options.text("bias_initializer")});
  return all;
}

inline void append(std::vector<ParamSpec>& to, std::vector<ParamSpec> more) {
  for (ParamSpec& one : more) to.push_back(std::move(one));
}

/// Of a layer that multiplies by a kernel: units, those of kernel_options(), activation.
[[nodiscard]] inline std::vector<ParamSpec> product_options() {
  std::vector<ParamSpec> all{units_option()};
  append(all, kernel_options());
  all.push_back(activation_option());
  return all;
}

}  // namespace stoker::nn::layers
