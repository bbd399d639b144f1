#include <algorithm>
#include <cstring>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::bitcast {
namespace {

template <class T> double number(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

/// A double that holds an element of S, as the element of D with its bits.
double reread(double x, DType from, DType to) {
  std::array<std::byte, 8> bits{};
  visit_dtype(from, [&]<class S>() {
    S element{};
    if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>)
      element = S{static_cast<float>(x)};
    else
      element = static_cast<S>(x);
    std::memcpy(bits.data(), &element, sizeof(S));
  });
  return visit_dtype(to, [&]<class D>() {
    D element{};
    std::memcpy(&element, bits.data(), sizeof(D));
    return number(element);
  });
}

/// Numbers of which many bits are set, as far as a double holds them.
Fill telling(DType from) {
  if (from == DType::boolean) return {0, 1};
  if (is_float(from)) return {-1e4, 1e4};
  const double most = std::ldexp(1.0, std::min(8 * static_cast<int>(size_of(from)), 52) - 1) - 1;
  return {is_signed(from) ? -most : 0, most};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "bitcast";
  for (const DType from : rules::all_dtypes())
    for (const DType to : rules::all_dtypes()) {
      if (size_of(from) != size_of(to) || (to == DType::boolean && from != to)) continue;
      const std::string pair = std::string{to_string(from)} + "_as_" + std::string{to_string(to)};
      suite.cases.push_back({.label = pair,
                             .inputs = {{from, Shape{7, 151}}},
                             .params = {{"dtype", std::string{to_string(to)}}},
                             .fills = {telling(from)}});
    }
  for (const auto& [label, shape] : cases::awkward_shapes())
    suite.cases.push_back(
        {.label = label, .inputs = {{DType::f32, shape}}, .params = {{"dtype", "u32"}}});
  suite.cases.push_back({.label = "large",
                         .inputs = {{DType::u16, Shape{(1 << 23) + 13}}},
                         .params = {{"dtype", "f16"}},
                         .heavy = true});
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    std::vector<double> result(inputs[0].size());
    std::ranges::transform(inputs[0], result.begin(),
                           [&](double x) { return reread(x, call.dtype(), outputs[0].dtype); });
    return std::vector<std::vector<double>>{std::move(result)};
  };
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::bitcast
