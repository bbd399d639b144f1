#include "stoker/api/onnx/core/operator.hpp"

#include <algorithm>

#include "stoker/api/onnx/core/operator_list.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::onnx {
namespace {

std::string plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string{} : std::string{domain};
}

[[noreturn]] void refuse(const Operator& definition, ErrorCode code, std::string reason) {
  throw Error{"onnx",
              code,
              "operator '" + definition.name + "': " + std::move(reason),
              {{"operator", definition.name}, {"domain", definition.domain}}};
}

}  // namespace

void OperatorTable::add(Operator definition) {
  if (definition.name.empty() || !definition.lower)
    refuse(definition, ErrorCode::invalid_argument, "it has no name or no rule");
  if (definition.since.empty() || !std::ranges::is_sorted(definition.since))
    refuse(definition, ErrorCode::invalid_argument, "its versions are not ascending");
  if (!is_sound(definition.types))
    refuse(definition, ErrorCode::invalid_argument, "an operand's type is that of none before it");
  definition.domain = plain_domain(definition.domain);
  const std::pair key{definition.domain, definition.name};
  if (operators_.contains(key)) refuse(definition, ErrorCode::already_exists, "it is defined");
  operators_.emplace(key, std::make_shared<const Operator>(std::move(definition)));
}

std::shared_ptr<const Operator> OperatorTable::find(std::string_view domain,
                                                    std::string_view name) const {
  const auto found = operators_.find(std::pair{plain_domain(domain), std::string{name}});
  return found == operators_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const Operator>> OperatorTable::list() const {
  std::vector<std::shared_ptr<const Operator>> all;
  for (const auto& [key, definition] : operators_) all.push_back(definition);
  return all;
}

bool OperatorTable::has_domain(std::string_view domain) const {
  const std::string wanted = plain_domain(domain);
  return std::ranges::any_of(operators_,
                             [&](const auto& one) { return one.first.first == wanted; });
}

const OperatorTable& OperatorTable::standard() {
  static constinit NeverDestroyed<OperatorTable> table;
  return table.get([] {
    OperatorTable made;
    operators::define_all(made);
    return made;
  });
}

int version_of(const Operator& definition, std::int64_t opset) noexcept {
  int version = 0;
  for (const int since : definition.since)
    if (since <= opset) version = since;
  return version;
}

}  // namespace stoker::onnx
