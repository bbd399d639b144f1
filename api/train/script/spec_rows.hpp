// The inputs and outputs of a model as scripts see them: m.inputs is a list of {name =, dtype =, shape =, optional =}.
//
// Threads: the script's process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/pipeline/script/lua/lua_glue.hpp"

namespace stoker::nn::script {

struct SpecRow {
  struct Extent {
    std::optional<std::int64_t> extent = {};
    std::string name = {};  ///< of one that is not known: "batch", "?"
  };
  std::string name;
  std::string dtype = {};                         ///< empty: any
  std::optional<std::vector<Extent>> shape = {};  ///< nothing: any
  bool optional = false;
};

/// Pushes the list.
void push_spec_rows(lua_State* L, std::span<const SpecRow> rows);

}  // namespace stoker::nn::script
