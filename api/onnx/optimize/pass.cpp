#include "stoker/api/onnx/optimize/pass.hpp"

#include <algorithm>
#include <tuple>

#include "stoker/api/onnx/optimize/pass_list.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::onnx {

void PassTable::add(Pass definition) {
  const auto refuse = [&](ErrorCode code, const char* reason) {
    throw Error{
        "onnx", code, "pass '" + definition.name + "': " + reason, {{"pass", definition.name}}};
  };
  if (definition.name.empty() || definition.summary.empty() ||
      (!definition.run && !definition.choose))
    refuse(ErrorCode::invalid_argument, "it has no name, no words or no rule");
  if (std::ranges::find(passes_, definition.name, &Pass::name) != passes_.end())
    refuse(ErrorCode::already_exists, "it is defined");
  const auto place = [](const Pass& pass) { return std::tie(pass.stage, pass.name); };
  passes_.insert(std::ranges::upper_bound(passes_, place(definition), {}, place),
                 std::move(definition));
}

const PassTable& PassTable::standard() {
  static constinit NeverDestroyed<PassTable> table;
  return table.get([] {
    PassTable made;
    passes::define_all(made);
    return made;
  });
}

std::vector<const Pass*> chosen_passes(Optimize level, std::span<const std::string> without) {
  const std::vector<Pass>& all = PassTable::standard().list();
  for (const std::string& name : without) {
    if (std::ranges::find(all, name, &Pass::name) != all.end()) continue;
    std::vector<std::string_view> known;
    for (const Pass& pass : all) known.push_back(pass.name);
    throw Error{"onnx.load",
                ErrorCode::not_found,
                "there is no pass '" + name + "'" + did_you_mean(name, known),
                {{"pass", name}}};
  }
  std::vector<const Pass*> chosen;
  for (const Pass& pass : all)
    if (level != Optimize::none && pass.level <= level &&
        std::ranges::find(without, pass.name) == without.end())
      chosen.push_back(&pass);
  return chosen;
}

std::vector<std::string> names_of_rewriting_passes() {
  std::vector<std::string> names;
  for (const Pass& pass : PassTable::standard().list())
    if (pass.run) names.push_back(pass.name);
  return names;
}

}  // namespace stoker::onnx
