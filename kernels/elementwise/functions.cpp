#include "stoker/kernels/elementwise/functions.hpp"

#include <algorithm>

#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/scalar/families.hpp"

namespace stoker::kernels::elementwise {

std::vector<Group> groups() {
  std::vector<Group> all;
  for (const scalar::Family& family : scalar::families()) {
    if (family.name == "conversion") continue;
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    for (const ScalarFunction& function : family.functions) {
      if (function.arity > 2) continue;
      const auto alike = std::find_if(all.begin() + first, all.end(), [&](const Group& group) {
        return group[0]->arity == function.arity && group[0]->result == function.result &&
               group[0]->ulps == 0 && function.ulps == 0;
      });
      if (alike == all.end())
        all.push_back({&function});
      else
        alike->push_back(&function);
    }
  }
  return all;
}

std::vector<Elementwise> kernels_of(const Group& group) {
  std::vector<Elementwise> kernels;
  const auto named = [&](std::string_view name) {
    const auto found = std::ranges::find(group, name, &ScalarFunction::name);
    return found == group.end() ? nullptr : *found;
  };
  for (const ScalarFunction* function : group)
    kernels.push_back({function->name, function, function});
  if (named("divide") && named("quotient"))
    kernels.push_back({"elementwise_div", named("divide"), named("quotient")});
  return kernels;
}

std::vector<DType> Elementwise::dtypes() const {
  std::vector<DType> dtypes = rules::all_dtypes();
  std::erase_if(dtypes, [&](DType dtype) { return !takes(function(dtype), dtype); });
  return dtypes;
}

}  // namespace stoker::kernels::elementwise
