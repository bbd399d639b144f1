// Layer kinds by name: Stoker's own, and those that a program adds.
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
// From then on the added kind works like Stoker's own: as Layer{"scale(factor=2)"}, as nn.scale(x,
// {factor = 2}) in scripts that start later, and in files. A program that loads such a file must
// add the kind first. If the kind has the name of another function of `nn` (model, csv, …), scripts
// reach it only by nn.layer(kind, options).
//
// Threads: any; lock-free. Lifetime: a kind stays registered until the process ends.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn {

/// Throws the errors of check(); invalid_argument for a name that is not a word of letters, digits
/// and _; already_exists if the name is taken by Stoker or an earlier call.
void add_layer_kind(LayerDefinition definition);
template <class O> void add_layer_kind(KindOf<O> kind) {
  add_layer_kind(std::move(kind).definition());
}

/// Throws not_found, with the nearest existing name.
[[nodiscard]] const LayerDefinition& layer_kind(std::string_view name);
/// All kinds, sorted by name.
[[nodiscard]] std::vector<const LayerDefinition*> layer_kinds();

}  // namespace stoker::nn
