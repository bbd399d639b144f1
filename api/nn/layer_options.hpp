// Options that many kinds of layers have, with the names and defaults of Axon.
//
// Pure functions; any thread.
#pragma once

#include <vector>

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

inline void append(std::vector<ParamSpec>& to, std::vector<ParamSpec> more) {
  for (ParamSpec& one : more) to.push_back(std::move(one));
}

}  // namespace stoker::nn::layers
