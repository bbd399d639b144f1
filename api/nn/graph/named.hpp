// Something chosen by name, with options: a layer, an activation, a loss, an optimizer.
//
//     Named{"adam"}   Named{"adam", {{"b1", 0.8}}}   Named{"leaky_relu(alpha=0.2)"}
//
// The text form is what scripts and saved models hold: a name, then options in parentheses, each
// `key=value`, with values true, false, 3, -1.5e-3, a word or "quoted text", [1, 2]. What a name means
// and which options it has is known to the table that it is looked up in (named_table.hpp).
//
// A value; thread-safe as values are. Errors are thrown: invalid_argument for text that has another form.
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
  /// What, read again, gives an equal one: "leaky_relu(alpha=0.2)".
  [[nodiscard]] std::string text() const;

  std::string name;
  Params options;
};

/// What a name may be: one of a family, as pages and lists show it.
struct NamedKind {
  std::string name;
  std::string summary;  ///< one line: what it is or computes
  std::vector<ParamSpec> options = {};
};

}  // namespace stoker::nn
