#include <numeric>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/packed_matmul/problem.hpp"

namespace stoker::kernels::packed_matmul {
namespace {

struct Setup {
  std::string label;
  Shape a;  ///< its last extent is k
  std::int64_t n;
  std::int64_t bits = 4;
  std::int64_t block = 32;
  bool heavy = false;
};

std::vector<Setup> setups() {
  return {
      {"one", Shape{1, 1}, 1},
      {"row", Shape{1, 256}, 37},
      {"vector", Shape{96}, 11},
      {"partial_block", Shape{1, 131}, 29},
      {"partial_block_few", Shape{5, 77}, 13, 4, 16},
      {"few", Shape{8, 160}, 9},
      {"nine", Shape{9, 64}, 70},
      {"past_a_tile", Shape{67, 130}, 71},
      {"small_blocks", Shape{3, 100}, 19, 4, 16},
      {"odd_blocks", Shape{2, 200}, 10, 4, 48},
      {"one_block", Shape{4, 90}, 17, 4, 96},
      {"block_past_k", Shape{2, 20}, 6, 4, 2048},
      {"batch", Shape{2, 3, 64}, 12},
      {"batch_of_many", Shape{3, 11, 50}, 33, 4, 16},
      {"no_rows", Shape{0, 32}, 5},
      {"no_terms", Shape{3, 0}, 5},
      {"no_columns", Shape{2, 32}, 0},
      {"bytes", Shape{1, 300}, 21, 8},
      {"bytes_few", Shape{6, 53}, 14, 8, 16},
      {"bytes_many", Shape{40, 70}, 66, 8, 64},
      {"pairs", Shape{1, 130}, 22, 2, 16},
      {"pairs_few", Shape{3, 260}, 7, 2, 128},
      {"pairs_many", Shape{21, 90}, 30, 2},
      {"long_sum", Shape{2, 20000}, 5, 4, 128},
      {"two", Shape{2, 300}, 9},
      {"three", Shape{3, 170}, 6, 4, 64},
      {"seven", Shape{7, 140}, 11},
      {"strips", Shape{35, 700}, 50, 4, 48},
      {"strips_of_pairs", Shape{20, 600}, 31, 2, 48},
      {"strips_of_bytes", Shape{13, 520}, 10, 8, 16},
      {"one_scale", Shape{12, 1200}, 20, 4, 1200},
      {"panels", Shape{10, 300}, 210, 4, 64},
      {"rows_past_a_panel", Shape{400, 70}, 5},
      {"large", Shape{70, 1500}, 300, 4, 32, true},
      {"large_row", Shape{1, 2050}, 1100, 4, 32, true},
  };
}

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  std::size_t at = 0;
  for (const DType left : {DType::f32, DType::f16, DType::bf16})
    for (const DType scales : {DType::f32, DType::f16})
      for (const Setup& setup : setups()) {
        // Zero points, where they are given, are bytes of all bits.
        const bool has_zeros = at++ % 2 == 0;
        const std::int64_t k = setup.a[setup.a.rank() - 1];
        const std::int64_t blocks = (k + setup.block - 1) / setup.block;
        KernelCase one{.label = std::string{to_string(left)} + "_" +
                                std::string{to_string(scales)} + "_" + setup.label,
                       .inputs = {{left, setup.a},
                                  {DType::u8, Shape{setup.n, blocks, setup.block * setup.bits / 8}},
                                  {scales, Shape{setup.n, blocks}}},
                       .params = {{"bits", setup.bits},
                                  {"block_size", setup.block},
                                  {"zero_point", (std::int64_t{1} << setup.bits) / 2}},
                       .fills = {{-2, 2}, {0, 255}, {-0.25, 0.5}, {0, 255}},
                       .heavy = setup.heavy || left == DType::bf16};
        if (has_zeros)
          one.inputs.push_back({DType::u8, Shape{setup.n, (blocks * setup.bits + 7) / 8}});
        cases.push_back(std::move(one));
      }
  return cases;
}

/// Straight from the definition: a number's bits are found one by one.
std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const std::int64_t bits = call.params.integer("bits");
  const std::int64_t block = call.params.integer("block_size");
  const Shape& a = call.shape(0);
  const std::int64_t k = a[a.rank() - 1], n = call.shape(1)[0];
  const std::int64_t blocks = call.shape(1)[1];
  const auto number = [&](std::size_t input, std::int64_t first_byte, std::int64_t index) {
    double value = 0;
    for (std::int64_t bit = 0; bit < bits; ++bit) {
      const std::int64_t place = index * bits + bit;
      const auto byte =
          static_cast<int>(inputs[input][static_cast<std::size_t>(first_byte + place / 8)]);
      if ((byte >> (place % 8) & 1) != 0) value += static_cast<double>(1 << bit);
    }
    return value;
  };
  std::vector<double> weights(static_cast<std::size_t>(n * k));
  for (std::size_t at = 0; at < weights.size(); ++at) {
    const std::int64_t j = static_cast<std::int64_t>(at) / k, t = static_cast<std::int64_t>(at) % k;
    const double zero = inputs.size() > 3 ? number(3, j * ((blocks * bits + 7) / 8), t / block)
                                          : static_cast<double>(call.params.integer("zero_point"));
    weights[at] = inputs[2][static_cast<std::size_t>(j * blocks + t / block)] *
                  (number(1, j * blocks * block * bits / 8, t) - zero);
  }
  std::vector<double> result(outputs[0].elements());
  for (std::size_t at = 0; at < result.size(); ++at) {
    const double* const row = inputs[0].data() + static_cast<std::int64_t>(at) / n * k;
    const double* const column = weights.data() + static_cast<std::int64_t>(at) % n * k;
    result[at] = std::inner_product(row, row + k, column, 0.0);
  }
  return {std::move(result)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "packed_matmul";
  suite.cases = all_cases();
  suite.reference = reference;
  // Products are below 2 · 2^bits / 2, and a number, its zero point and its scale are put together with two
  // roundings of numbers of that size. Roundings of a sum partly cancel: the root of their count, with room.
  suite.bound = [](const KernelCall& call) {
    const Problem p = describe(call);
    const double greatest = std::ldexp(1.0, static_cast<int>(p.bits));
    const double terms = static_cast<double>(p.k + 1);
    return ErrorBound{greatest * std::sqrt(terms) * 16 * cases::compute_rounding(call.dtype()) +
                          cases::subnormal(call.dtype()),
                      2 * cases::rounding(call.dtype())};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::packed_matmul
