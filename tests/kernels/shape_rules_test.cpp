// Shape rules of all kernels, given more than any memory holds: what they say is a shape whose elements
// and bytes can be counted, or an error.
#include <gtest/gtest.h>

#include <limits>

#include "stoker/kernels/kernel.hpp"

namespace stoker {
namespace {

constexpr std::int64_t two_to(int power) { return std::int64_t{1} << power; }

/// Shapes with nothing or little in them beside extents that have no product, and very long ones.
std::vector<Shape> large_shapes() {
  std::vector<Shape> shapes{Shape{}};
  for (std::size_t i = 0; i < shapes.size() && shapes[i].rank() < 4; ++i)
    for (const std::int64_t extent :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, two_to(31), two_to(57)}) {
      std::vector<std::int64_t> longer(shapes[i].begin(), shapes[i].end());
      longer.push_back(extent);
      if (const auto shape = Shape::try_make(longer)) shapes.push_back(*shape);
    }
  shapes.push_back({1, 1, 1, 1, 1, 1, 1, 1});
  shapes.push_back({2, 0, 3, 1, 1, 1, 1, two_to(40)});
  return shapes;
}

/// What a call may be given: the kernel's defaults, and each parameter at its ends.
std::vector<Params> parameters_of(const Kernel& kernel, std::size_t rank) {
  Params needed;
  for (const ParamSpec& spec : kernel.params)
    if (!spec.fallback) {
      if (spec.type == ParamType::integers)
        needed.set(spec.name, std::vector<std::int64_t>(rank, 1));
      else if (spec.type == ParamType::text && !spec.choices.empty())
        needed.set(spec.name, spec.choices[0]);
      else if (spec.type == ParamType::integer)
        needed.set(spec.name, std::int64_t{1});
    }
  std::vector<Params> all{needed};
  for (const ParamSpec& spec : kernel.params) {
    const auto with = [&](ParamValue value) {
      Params changed = needed;
      changed.set(spec.name, std::move(value));
      all.push_back(std::move(changed));
    };
    if (spec.type == ParamType::boolean) {
      with(true);
      with(false);
    }
    for (const std::string& choice : spec.choices) with(choice);
    std::vector<std::int64_t> numbers{two_to(31), two_to(40), two_to(62),
                                      std::numeric_limits<std::int64_t>::max(),
                                      std::numeric_limits<std::int64_t>::min()};
    for (const auto& end : {spec.min, spec.max})
      if (end && std::abs(*end) < 9e18) numbers.push_back(static_cast<std::int64_t>(*end));
    for (const std::int64_t number : numbers) {
      if (spec.type == ParamType::integer) with(number);
      if (spec.type == ParamType::integers) with(std::vector<std::int64_t>(rank, number));
    }
  }
  return all;
}

/// Whether each extent is one, and the elements' bytes are a number, also beside extents of 0.
bool can_be_counted(const TensorSpec& spec) {
  std::uint64_t bytes = size_of(spec.dtype);
  for (const std::int64_t extent : spec.shape) {
    if (extent < 0) return false;
    if (extent > 0 && __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
      return false;
  }
  return bytes <= std::uint64_t{1} << 62;
}

TEST(BuiltinKernels, infer_what_can_be_counted_or_refuse) {
  const std::vector<Shape> shapes = large_shapes();
  std::size_t accepted = 0;
  for (const auto& kernel : KernelRegistry::builtin().list()) {
    if (kernel->inputs.max == 0) continue;
    std::vector<std::size_t> counts{std::max<std::size_t>(kernel->inputs.min, 1)};
    if (kernel->inputs.max > counts[0]) counts.push_back(counts[0] + 1);
    for (const Shape& shape : shapes)
      for (const Params& params : parameters_of(*kernel, shape.rank())) {
        const auto set = ParamSet::resolve(kernel->name, kernel->params, params);
        if (!set) continue;
        for (const std::size_t count : counts)
          for (const bool second_is_index : {false, true}) {
            std::vector<TensorSpec> inputs(count, {kernel->dtypes[0], shape});
            if (second_is_index && count > 1) inputs[1].dtype = DType::s32;
            if (second_is_index && count == 1) continue;
            const auto outputs = kernel->check(inputs, *set);
            if (!outputs) continue;
            ++accepted;
            for (const TensorSpec& output : *outputs)
              EXPECT_TRUE(can_be_counted(output))
                  << kernel->name << " of " << inputs[0].to_string() << ": " << output.to_string();
          }
      }
  }
  EXPECT_GT(accepted, 1000U);
}

TEST(BuiltinKernels, factors_of_a_matrix_without_columns_are_refused_where_they_cannot_be) {
  const TensorSpec tall{DType::f32, {two_to(31), 0}};
  for (const auto& [name, params] : std::initializer_list<std::pair<const char*, Params>>{
           {"svd", {{"full_matrices", true}}}, {"qr", {{"mode", "complete"}}}}) {
    const auto kernel = KernelRegistry::builtin().find(name).value();
    const ParamSet set = ParamSet::resolve(name, kernel->params, params).value();
    const auto outputs = kernel->check({&tall, 1}, set);
    ASSERT_TRUE(outputs.has_error()) << name;
    EXPECT_EQ(outputs.error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(outputs.error().op(), name);
  }
}

TEST(BuiltinKernels, sizes_in_proportion_are_refused_where_they_cannot_be) {
  const auto kernel = KernelRegistry::builtin().find("resize").value();
  const ParamSet set = ParamSet::resolve("resize", kernel->params, {{"height", 1 << 30}}).value();
  const TensorSpec wide{DType::u8, {1, two_to(57), 1}};
  EXPECT_TRUE(kernel->check({&wide, 1}, set).has_error());
}

TEST(BuiltinKernels, windows_over_more_places_than_a_gpu_counts_are_refused_there) {
  const auto kernel = KernelRegistry::builtin().find("window_sum").value();
  const TensorSpec line{DType::f32, {65537}};
  for (const std::int64_t base : {two_to(15) - 1, two_to(15)}) {
    const ParamSet set = ParamSet::resolve("window_sum", kernel->params,
                                           {{"window", std::vector<std::int64_t>{1}},
                                            {"strides", std::vector{base}},
                                            {"base_dilations", std::vector{base}}})
                             .value();
    const std::vector<TensorSpec> outputs = kernel->check({&line, 1}, set).value();
    EXPECT_EQ(outputs[0], line);
    const auto plan = kernel->gpu({{&line, 1}, set}, outputs, {});
    EXPECT_EQ(plan.has_value(), base < two_to(15));
    if (!plan) {
      EXPECT_EQ(plan.error().code(), ErrorCode::unsupported);
    }
  }
}

TEST(BuiltinKernels, a_scalar_has_no_largest_ones) {
  const auto kernel = KernelRegistry::builtin().find("top_k").value();
  const ParamSet set = ParamSet::resolve("top_k", kernel->params, {}).value();
  const TensorSpec scalar{DType::f32, {}};
  EXPECT_EQ(kernel->check({&scalar, 1}, set).error().code(), ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace stoker
