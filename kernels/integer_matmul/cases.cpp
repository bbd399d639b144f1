#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/integer_matmul/problem.hpp"

namespace stoker::kernels::integer_matmul {
namespace {

/// Zero points of an operand.
enum class Zeros { none, one, each };

struct Setup {
  std::string label;
  Shape a;
  Shape b;
  bool transpose_a = false;
  bool transpose_b = false;
  bool heavy = false;
  bool extreme = false;  ///< numbers near one end: sums that f32 cannot hold
};

std::vector<Setup> setups() {
  return {
      {"one", Shape{1, 1}, Shape{1, 1}},
      {"primes", Shape{7, 13}, Shape{13, 31}},
      {"primes_ta", Shape{13, 7}, Shape{13, 31}, true},
      {"primes_tb", Shape{7, 13}, Shape{31, 13}, false, true},
      {"primes_ta_tb", Shape{13, 7}, Shape{31, 13}, true, true},
      {"past_a_tile", Shape{67, 130}, Shape{130, 71}},
      {"past_a_tile_ta_tb", Shape{130, 67}, Shape{71, 130}, true, true},
      {"row", Shape{1, 259}, Shape{259, 301}},
      {"column", Shape{77, 260}, Shape{260, 1}},
      {"column_ta", Shape{260, 77}, Shape{260, 1}, true},
      {"no_terms", Shape{3, 0}, Shape{0, 5}},
      {"no_rows", Shape{0, 4}, Shape{4, 5}},
      {"batch", Shape{3, 5, 7}, Shape{3, 7, 11}},
      {"batch_shares_b", Shape{4, 9, 50}, Shape{50, 60}},
      {"batch_shares_a", Shape{9, 50}, Shape{4, 50, 60}},
      {"batch_broadcasts_both", Shape{2, 1, 7, 63}, Shape{3, 63, 35}},
      {"long_sum", Shape{3, 40000}, Shape{40000, 5}},
      {.label = "extreme",
       .a = Shape{3, 1477},
       .b = Shape{50, 1477},
       .transpose_b = true,
       .extreme = true},
      {.label = "extreme_ta",
       .a = Shape{2530, 33},
       .b = Shape{2530, 39},
       .transpose_a = true,
       .extreme = true},
      {.label = "extreme_batch", .a = Shape{3, 2, 35000}, .b = Shape{35000, 4}, .extreme = true},
      {"large", Shape{300, 700}, Shape{700, 500}, false, false, true},
  };
}

Fill fill_of(const TensorSpec& input, bool extreme) {
  const double most = input.dtype == DType::s8 ? 127 : 255;
  return {extreme ? most - 2 : most - 255, most};
}

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  std::size_t at = 0;
  for (const DType a : {DType::s8, DType::u8})
    for (const DType b : {DType::s8, DType::u8})
      for (const Setup& setup : setups()) {
        const std::string label =
            std::string{to_string(a)} + "_" + std::string{to_string(b)} + "_" + setup.label;
        const Shape& of_a = setup.a;
        const Shape& of_b = setup.b;
        const std::int64_t rows = of_a[of_a.rank() - (setup.transpose_a ? 1 : 2)];
        const std::int64_t columns = of_b[of_b.rank() - (setup.transpose_b ? 2 : 1)];
        // Each of the nine ways that zero points are given comes with each mixture of dtypes.
        const Zeros zeros[] = {static_cast<Zeros>(at % 3), static_cast<Zeros>(at / 3 % 3)};
        ++at;
        KernelCase one{
            .label = label,
            .inputs = {{a, of_a}, {b, of_b}},
            .params = {{"transpose_a", setup.transpose_a}, {"transpose_b", setup.transpose_b}},
            .heavy = setup.heavy};
        const auto zero_spec = [](DType dtype, Zeros of, std::int64_t lines) {
          return TensorSpec{dtype, of == Zeros::each ? Shape{lines} : Shape{}};
        };
        if (zeros[0] != Zeros::none || zeros[1] != Zeros::none)
          one.inputs.push_back(zero_spec(a, zeros[0], rows));
        if (zeros[1] != Zeros::none) one.inputs.push_back(zero_spec(b, zeros[1], columns));
        for (const TensorSpec& input : one.inputs)
          one.fills.push_back(fill_of(input, setup.extreme && one.fills.size() < 2));
        cases.push_back(std::move(one));
      }
  return cases;
}

/// Straight from the definition; operands are matrices, or batches of them.
std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const Shape& c = outputs[0].shape;
  const bool ta = call.params.flag("transpose_a"), tb = call.params.flag("transpose_b");
  const std::int64_t m = c[c.rank() - 2], n = c[c.rank() - 1];
  const Shape& a = call.shape(0);
  const std::int64_t k = a[a.rank() - (ta ? 2 : 1)];
  const auto zero = [&](std::size_t input, std::int64_t line) {
    if (input >= inputs.size()) return 0.0;
    return inputs[input][inputs[input].size() == 1 ? 0 : static_cast<std::size_t>(line)];
  };
  // Which matrix of an operand makes a batch of the output.
  const auto matrix = [&](const Shape& shape, std::int64_t batch) {
    std::int64_t index = 0, step = 1;
    for (std::size_t back = 3; back <= c.rank(); ++back) {
      const std::int64_t extent = c[c.rank() - back];
      const std::int64_t own = back <= shape.rank() ? shape[shape.rank() - back] : 1;
      if (own != 1) index += batch % extent * step;
      step *= own;
      batch /= extent;
    }
    return index;
  };
  std::vector<double> result(outputs[0].elements());
  for (std::size_t at = 0; at < result.size(); ++at) {
    const auto place = static_cast<std::int64_t>(at);
    const std::int64_t j = place % n, i = place / n % m, batch = place / (m * n);
    const std::int64_t of_a = matrix(a, batch) * m * k, of_b = matrix(call.shape(1), batch) * k * n;
    for (std::int64_t t = 0; t < k; ++t)
      result[at] +=
          (inputs[0][static_cast<std::size_t>(of_a + (ta ? t * m + i : i * k + t))] - zero(2, i)) *
          (inputs[1][static_cast<std::size_t>(of_b + (tb ? j * k + t : t * n + j))] - zero(3, j));
    result[at] = cases::wrapped(result[at], DType::s32);
  }
  return {std::move(result)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "integer_matmul";
  suite.cases = all_cases();
  suite.reference = reference;
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::integer_matmul
