#include "stoker/api/nn/graph/layer_kinds.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::nn {
namespace {

/// A kind of the program's, and those that were added before it.
struct Added {
  LayerDefinition definition;
  const Added* before;
};

/// Nothing is taken away from the list, so whoever reads it needs no lock, also after a fork.
constinit std::atomic<const Added*> latest{nullptr};

const LayerDefinition* find_added(const Added* from, std::string_view name) {
  for (; from != nullptr; from = from->before)
    if (from->definition.name == name) return &from->definition;
  return nullptr;
}

void check_word(const std::string& name) {
  if (is_word(name)) return;
  throw Error{
      "add_layer_kind",
      ErrorCode::invalid_argument,
      "expected a name of letters, digits and _ that begins with no digit, got '" + name + "'",
      {{"name", name}}};
}

}  // namespace

void add_layer_kind(LayerDefinition definition) {
  check(definition);
  check_word(definition.name);
  auto added = std::make_unique<Added>(Added{std::move(definition), latest.load()});
  const std::string& name = added->definition.name;
  do {
    if (find_added(added->before, name) != nullptr || layer_table().find(name) != nullptr)
      throw Error{"add_layer_kind",
                  ErrorCode::already_exists,
                  "there is a kind of layers '" + name + "'",
                  {{"name", name}}};
  } while (!latest.compare_exchange_weak(added->before, added.get()));
  (void)added.release();
}

const LayerDefinition& layer_kind(std::string_view name) {
  if (const LayerDefinition* const added = find_added(latest.load(), name)) return *added;
  if (const LayerDefinition* const there = layer_table().find(name)) return *there;
  std::vector<std::string_view> known;
  for (const LayerDefinition* kind : layer_kinds()) known.push_back(kind->name);
  throw Error{"layer",
              ErrorCode::not_found,
              "there is no layer '" + std::string{name} + "'" + did_you_mean(name, known),
              {{"name", std::string{name}}}};
}

std::vector<const LayerDefinition*> layer_kinds() {
  std::vector<const LayerDefinition*> all = layer_table().list();
  for (const Added* one = latest.load(); one != nullptr; one = one->before)
    all.push_back(&one->definition);
  std::ranges::sort(all, {}, &LayerDefinition::name);
  return all;
}

}  // namespace stoker::nn
