// The text form of what has a name and options: layers, losses, optimizers. Text that was read, written
// and read again means the same; what the tables make of it is made or refused.
#include <bit>
#include <cmath>

#include "fuzz.hpp"
#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/graph/layer_kinds.hpp"
#include "stoker/api/train/optim/optimizer.hpp"

namespace stoker::fuzz::named {
namespace {

bool same(const ParamValue& a, const ParamValue& b) {
  const auto* const x = std::get_if<double>(&a);
  const auto* const y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return (std::isnan(*x) && std::isnan(*y)) ||
         std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
}

}  // namespace

void run(Bytes bytes) {
  const auto read = accepted([&] { return nn::Named{std::string{text_of(bytes)}}; });
  if (!read) return;
  const nn::Named again{read->text()};
  require(again.name == read->name, "a name that is written is the same: " + read->text());
  const auto before = read->options.entries();
  const auto after = again.options.entries();
  require(after.size() == before.size(), "as many options are written: " + read->text());
  for (std::size_t i = 0; i < before.size(); ++i)
    require(after[i].name == before[i].name && same(after[i].value, before[i].value),
            "an option that is written is the same: " + read->text());

  static_cast<void>(accepted([&] { return nn::optimizer(*read).text; }));
  static_cast<void>(accepted([&] { return nn::activation(*read); }));
  static_cast<void>(accepted([&] {
    const nn::LayerDefinition& layer = nn::layer_kind(read->name);
    return ParamSet::resolve(layer.name, layer.options, read->options).value();
  }));
}

}  // namespace stoker::fuzz::named
