#include "stoker/pipeline/tensor/graph/attributes.hpp"

#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::expr {

void Attributes::missing(std::string_view name) {
  throw Error{"attributes",
              ErrorCode::internal,
              "an attribute is missing or of another type",
              {{"name", std::string{name}}}};
}

namespace {

const Params& no_params() {
  static constinit NeverDestroyed<Params> made;
  return made.get([] { return Params{}; });
}
[[maybe_unused]] const Params& made_in_time = no_params();  // that takes memory

}  // namespace

const Params& Attributes::params() const noexcept { return params_ ? *params_ : no_params(); }

TensorSpec Attributes::spec() const {
  const auto dtype = parse_dtype(text("dtype"));
  if (!dtype) missing("dtype");
  return {*dtype, Shape::make(integers("shape"))};
}

std::string Attributes::to_string() const {
  std::string text;
  for (const Params::Entry& entry : params().entries())
    text += (text.empty() ? "" : " ") + entry.name + "=" + stoker::to_string(entry.value);
  return text;
}

bool operator==(const Attributes& a, const Attributes& b) {
  if (a.params_ == b.params_) return true;
  const auto left = a.params().entries();
  const auto right = b.params().entries();
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i].name != right[i].name || left[i].value != right[i].value) return false;
  return true;
}

Attributes spec_attributes(const TensorSpec& spec) {
  return {{"dtype", std::string{to_string(spec.dtype)}}, {"shape", as_list(spec.shape.extents())}};
}

}  // namespace stoker::expr
