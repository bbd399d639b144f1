// A choice by name, with options: a layer, an activation, a loss, an optimizer.
//
//     Named{"adam"}   Named{"adam", {{"b1", 0.8}}}   Named{"leaky_relu(alpha=0.2)"}
//
// Scripts and saved models contain the text form: a name, then options in parentheses, each
// `key=value`, with values true, false, 3, -1.5e-3, a word or "quoted text", [1, 2]. The table in
// which a name is looked up defines its meaning and its options.
//
// A value; thread-safe as values are. Errors are thrown: invalid_argument for malformed text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/kernels/params.hpp"

namespace stoker::nn {

struct Named {
  Named() = default;
  Named(const char* text);         // NOLINT(google-explicit-constructor): "relu" is one
  Named(const std::string& text);  // NOLINT(google-explicit-constructor)
  Named(std::string its_name, Params its_options)
      : name{std::move(its_name)}, options{std::move(its_options)} {}

  [[nodiscard]] bool empty() const noexcept { return name.empty(); }
  /// Text that parses to an equal value: "leaky_relu(alpha=0.2)".
  [[nodiscard]] std::string text() const;

  std::string name;
  Params options;
};

/// One possible name of a family, for documentation and lists.
struct NamedKind {
  std::string name;
  std::string summary;  ///< one line: what it is or computes
  std::vector<ParamSpec> options = {};
};

}  // namespace stoker::nn
