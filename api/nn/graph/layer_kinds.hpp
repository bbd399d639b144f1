// The kinds of layers that names stand for: Stoker's, and those that a program adds.
//
//     struct Scale {
//       static constexpr const char* kind = "scale";
//       double factor = 1;
//       std::string name = {};
//     };
//     template <class V> void visit_options(Scale& o, V&& visit) {
//       visit("factor", o.factor, within(-10, 10), "of each element");
//     }
//     add_layer_kind<Scale>({.summary = "x · factor", .apply = …});
//     Node y = Layer{Scale{.factor = 2}}(x);
//
// A kind that was added is one like Stoker's from then on: Layer{"scale(factor=2)"}, nn.scale(x, {factor = 2}) in
// scripts that begin later, and files. Who loads a file adds the same kind first. In scripts a kind that is called as
// another function of `nn` (model, csv, …) is reached by nn.layer(kind, options) only.
//
// Threads:  any; they take no lock.
// Lifetime: a kind stays for as long as the process.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn {

/// Throws what check() throws; invalid_argument for a name that is no word of letters, digits and _; already_exists if
/// the name is taken, by Stoker or by an earlier call.
void add_layer_kind(LayerDefinition definition);
template <class O> void add_layer_kind(KindOf<O> kind) {
  add_layer_kind(std::move(kind).definition());
}

/// Throws not_found, with the nearest name that there is.
[[nodiscard]] const LayerDefinition& layer_kind(std::string_view name);
/// All, by name.
[[nodiscard]] std::vector<const LayerDefinition*> layer_kinds();

}  // namespace stoker::nn
