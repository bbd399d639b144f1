#include "stoker/kernels/kernel.hpp"

#include <algorithm>

#include "stoker/kernels/kernel_rules.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker {
namespace {

Error arity_error(const Kernel& kernel, std::size_t got) {
  const auto [min, max] = kernel.inputs;
  const std::string expected =
      std::to_string(min) + (min == max ? "" : " to " + std::to_string(max));
  return {kernel.name,
          ErrorCode::arity_mismatch,
          "takes " + expected + (max == 1 ? " input" : " inputs") + ", got " + std::to_string(got),
          {{"expected", expected}, {"got", std::to_string(got)}}};
}

Error dtype_error(const Kernel& kernel, DType got) {
  std::string expected;
  for (const DType dtype : kernel.dtypes)
    expected.append(expected.empty() ? "" : ", ").append(to_string(dtype));
  return {kernel.name,
          ErrorCode::dtype_mismatch,
          "input 0 is " + std::string{to_string(got)} + ", expected one of " + expected,
          {{"expected", expected}, {"got", std::string{to_string(got)}}}};
}

/// `error` as the kernel's own.
Error attributed(const Kernel& kernel, const Error& error) {
  if (error.op() == kernel.name) return error;
  return {kernel.name,
          error.code(),
          std::string{error.reason()},
          {error.details().begin(), error.details().end()}};
}

}  // namespace

Result<std::vector<TensorSpec>> Kernel::check(std::span<const TensorSpec> given,
                                              const ParamSet& set) const try {
  if (given.size() < inputs.min || given.size() > inputs.max)
    return arity_error(*this, given.size());
  if (!given.empty() && std::ranges::find(dtypes, given[0].dtype) == dtypes.end())
    return dtype_error(*this, given[0].dtype);
  if (set.values().size() != params.size())
    return Error{name,
                 ErrorCode::invalid_parameter,
                 "parameters of another kernel",
                 {{"expected", std::to_string(params.size())},
                  {"got", std::to_string(set.values().size())}}};
  auto outputs = infer(KernelCall{given, set});
  if (outputs.has_error()) return attributed(*this, outputs.error());
  return outputs;
} catch (...) {
  return attributed(*this, error_from_current_exception(name));
}

Result<void> KernelRegistry::add(Kernel kernel) {
  STOKER_TRY(check_definition(kernel));
  std::vector<std::string> names{kernel.name};
  names.insert(names.end(), kernel.aliases.begin(), kernel.aliases.end());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (by_name_.contains(names[i]) ||
        std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
            names.begin() + static_cast<std::ptrdiff_t>(i))
      return Error{kernel.name,
                   ErrorCode::already_exists,
                   "the name '" + names[i] + "' is taken",
                   {{"name", names[i]}}};
  const auto shared = std::make_shared<const Kernel>(std::move(kernel));
  decltype(by_name_) fresh;
  for (std::string& name : names) fresh.emplace(std::move(name), shared);
  by_name_.merge(fresh);  // takes no memory: all of its names are there, or none
  return {};
}

Result<std::shared_ptr<const Kernel>> KernelRegistry::find(std::string_view name) const {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  std::vector<std::string_view> known;
  for (const auto& [key, kernel] : by_name_) known.emplace_back(key);
  std::string reason = "no kernel is named '" + std::string{name} + "'";
  std::vector<Detail> details{{"kernel", std::string{name}}};
  reason += did_you_mean(name, known);
  if (const auto nearest = nearest_name(name, known))
    details.push_back({"nearest", std::string{*nearest}});
  return Error{"kernels", ErrorCode::unknown_kernel, std::move(reason), std::move(details)};
}

std::vector<std::shared_ptr<const Kernel>> KernelRegistry::list() const {
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (const auto& [name, kernel] : by_name_)
    if (name == kernel->name) kernels.push_back(kernel);  // an alias is a second key
  return kernels;
}

}  // namespace stoker
