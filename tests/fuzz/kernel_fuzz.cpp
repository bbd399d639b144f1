// Kernels that are asked for outputs, plans and memory for any inputs and parameters, without running:
// what a kernel accepts has outputs whose sizes are numbers.
#include "fuzz.hpp"
#include "stoker/kernels/kernel.hpp"

namespace stoker::fuzz::kernel {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 58;

/// Inputs that often have a dtype and extents in common, as kernels want them.
class Inputs {
 public:
  explicit Inputs(Decisions& decide) : decide_{decide} {}

  /// Nothing if there is no such shape.
  std::optional<TensorSpec> next() {
    if (dtypes_.empty() || decide_.below(4) == 0)
      dtypes_.push_back(static_cast<DType>(decide_.below(dtype_count)));
    std::vector<std::int64_t> extents(decide_.below(6));
    for (std::int64_t& one : extents) {
      if (extents_.empty() || decide_.flag()) extents_.push_back(decide_.integer());
      one = extents_[decide_.below(extents_.size())];
    }
    const Result<Shape> shape = Shape::try_make(extents);
    if (shape.has_error()) return {};
    return TensorSpec{dtypes_.back(), *shape};
  }

 private:
  Decisions& decide_;
  std::vector<DType> dtypes_;
  std::vector<std::int64_t> extents_;
};

ParamValue value_of(const ParamSpec& spec, Decisions& decide) {
  switch (spec.type) {
    case ParamType::boolean: return decide.flag();
    case ParamType::integer: return decide.integer();
    case ParamType::real: return static_cast<double>(decide.integer()) / 4;
    case ParamType::text:
      if (!spec.choices.empty()) return spec.choices[decide.below(spec.choices.size())];
      return std::string{decide.text()};
    case ParamType::integers: break;
  }
  std::vector<std::int64_t> list(decide.below(6));
  for (std::int64_t& one : list) one = decide.integer();
  return list;
}

Params params_of(const Kernel& kernel, Decisions& decide) {
  Params params;
  for (const ParamSpec& spec : kernel.params)
    if (!spec.fallback || decide.flag()) params.set(spec.name, value_of(spec, decide));
  return params;
}

/// The product of the extents, or nothing if it is beyond what a shape may have.
std::optional<std::int64_t> elements_of(const Shape& shape) {
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return {};
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, extent, &product) || product > most_elements) {
      return {};
    }
  }
  return empty ? 0 : product;
}

}  // namespace

void run(Bytes bytes) {
  static const auto kernels = KernelRegistry::builtin().list();
  Decisions decide{bytes};
  const Kernel& kernel = *kernels[decide.below(kernels.size())];
  std::vector<TensorSpec> inputs(decide.below(4));
  const Result<ParamSet> params =
      ParamSet::resolve(kernel.name, kernel.params, params_of(kernel, decide));
  if (params.has_error()) return require_refusal(params.error());
  for (Inputs all{decide}; TensorSpec & one : inputs) {
    const auto spec = all.next();
    if (!spec) return;
    one = *spec;
  }
  const auto outputs = kernel.check(inputs, *params);
  if (outputs.has_error()) return require_refusal(outputs.error());
  for (const TensorSpec& output : *outputs)
    require(elements_of(output.shape).has_value(),
            kernel.name + " refuses outputs that are too large: " + output.to_string());
}

}  // namespace stoker::fuzz::kernel
