#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/matmul/problem.hpp"

namespace stoker::kernels::matmul {
namespace {

struct Pair {
  std::string label;
  Shape lhs;
  Shape rhs;
  bool transpose_a = false;
  bool transpose_b = false;
  bool every_dtype = false;
  bool heavy = false;
};

std::vector<Pair> pairs() {
  return {
      {"one", Shape{1, 1}, Shape{1, 1}},
      {"primes", Shape{7, 13}, Shape{13, 31}, false, false, true},
      {"primes_ta", Shape{13, 7}, Shape{13, 31}, true, false, true},
      {"primes_tb", Shape{7, 13}, Shape{31, 13}, false, true, true},
      {"primes_ta_tb", Shape{13, 7}, Shape{31, 13}, true, true, true},
      {"square_of_127", Shape{127, 127}, Shape{127, 127}},
      {"square_of_128", Shape{128, 128}, Shape{128, 128}, false, false, true},
      {"aligned", Shape{64, 32}, Shape{32, 96}, false, false, true},
      {"aligned_ta", Shape{32, 64}, Shape{32, 96}, true},
      {"aligned_tb", Shape{64, 32}, Shape{96, 32}, false, true},
      {"aligned_ta_tb", Shape{32, 64}, Shape{96, 32}, true, true},
      {"few_rows", Shape{5, 300}, Shape{300, 515}, false, false, true},
      {"few_columns", Shape{300, 129}, Shape{129, 3}},
      {"past_a_block", Shape{259, 391}, Shape{391, 485}},
      {"past_a_block_ta_tb", Shape{391, 259}, Shape{485, 391}, true, true},
      {"deep", Shape{20, 523}, Shape{523, 19}},
      {"deep_ta", Shape{523, 20}, Shape{523, 19}, true},
      {"deep_tb", Shape{20, 523}, Shape{19, 523}, false, true},
      {"deep_aligned", Shape{32, 784}, Shape{784, 32}},
      {"deep_aligned_ta_tb", Shape{784, 32}, Shape{32, 784}, true, true},
      {"deep_batch", Shape{3, 20, 100}, Shape{100, 8}},
      {"one_term", Shape{37, 1}, Shape{1, 53}},
      {"one_term_ta_tb", Shape{1, 37}, Shape{53, 1}, true, true},
      {"no_terms", Shape{3, 0}, Shape{0, 5}},
      {"no_rows", Shape{0, 4}, Shape{4, 5}},
      {"no_batches", Shape{0, 3, 4}, Shape{4, 5}},
      {"row_times_matrix", Shape{1, 259}, Shape{259, 1037}, false, false, true},
      {"row_times_transposed", Shape{1, 259}, Shape{77, 259}, false, true, true},
      {"matrix_times_column", Shape{77, 260}, Shape{260, 1}},
      {"transposed_times_column", Shape{260, 77}, Shape{260, 1}, true},
      {"vector_vector", Shape{515}, Shape{515}, false, false, true},
      {"vector_matrix", Shape{31}, Shape{31, 7}},
      {"matrix_vector", Shape{7, 31}, Shape{31}},
      {"vectors_ignore_transposes", Shape{31}, Shape{7, 31}, true, true},
      {"batch", Shape{3, 5, 7}, Shape{3, 7, 11}, false, false, true},
      {"batch_shares_rhs", Shape{4, 9, 5}, Shape{5, 6}, false, false, true},
      {"batch_shares_rhs_ta", Shape{4, 5, 9}, Shape{5, 6}, true},
      {"batch_shares_lhs", Shape{9, 5}, Shape{4, 5, 6}},
      {"batch_broadcasts_both", Shape{2, 1, 7, 13}, Shape{3, 13, 5}, false, false, true},
      {"batch_of_rows", Shape{3, 1, 65}, Shape{3, 65, 129}},
      {"batch_of_columns", Shape{2, 33, 65}, Shape{2, 65, 1}},
      {"batch_matrix_vector", Shape{2, 3, 5, 7}, Shape{7}},
      {"batch_broadcast_columns", Shape{2, 1, 33, 20}, Shape{3, 20, 1}},
      {"many_small", Shape{300, 4, 4}, Shape{300, 4, 4}},
      {"tall_batch", Shape{3, 200, 160}, Shape{3, 160, 230}},
      {"rank_8", Shape{2, 1, 2, 1, 2, 1, 4, 5}, Shape{1, 2, 1, 2, 1, 2, 5, 3}},
      {"long_k", Shape{3, 9001}, Shape{9001, 5}},
      {"cut_sums", Shape{41, 1033}, Shape{1033, 77}, false, false, true},
      {"cut_sums_ta", Shape{1033, 41}, Shape{1033, 77}, true},
      {"cut_dots", Shape{1, 262900}, Shape{3, 262900}, false, true, true},
      {"cut_dots_odd", Shape{262901}, Shape{262901}},
      {"cut_row", Shape{2, 1, 262901}, Shape{2, 262901, 5}, false, false, true},
      {"cut_tiles", Shape{3, 262901}, Shape{262901, 5}, false, false, true},
      {"cut_tiles_ta_tb", Shape{262900, 4}, Shape{8, 262900}, true, true},
      {"past_65535_groups", Shape{70000, 2, 3}, Shape{70000, 3, 2}, false, false, false, true},
      {"large", Shape{1024, 700}, Shape{700, 1100}, false, false, false, true},
  };
}

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::bf16, DType::s32, DType::s64, DType::u32})
    for (const Pair& pair : pairs())
      if (dtype == DType::f32 || pair.every_dtype) {
        // A software GPU compiles a shader for each way to cut a product: it sees all of them in three dtypes.
        const bool seen = dtype == DType::f32 || dtype == DType::f16 || dtype == DType::s64 ||
                          pair.label == "primes" || pair.label == "few_rows" ||
                          pair.label == "row_times_matrix" || pair.label == "vector_vector";
        cases.push_back(
            {.label = std::string{to_string(dtype)} + "_" + pair.label,
             .inputs = {{dtype, pair.lhs}, {dtype, pair.rhs}},
             .params = {{"transpose_a", pair.transpose_a}, {"transpose_b", pair.transpose_b}},
             .heavy = pair.heavy || !seen});
      }
  for (const DType dtype : {DType::s32, DType::u32})
    cases.push_back({.label = std::string{to_string(dtype)} + "_overflow_wraps",
                     .inputs = {{dtype, Shape{17, 33}}, {dtype, Shape{33, 18}}},
                     .fills = {{dtype == DType::s32 ? -30000.0 : 0.0, 60000}}});
  return cases;
}

/// The matrices of an operand as the definition of matmul names them, without any rearrangement.
struct Matrices {
  const std::vector<double>& values;
  std::vector<std::int64_t> batch;  ///< padded to the output's batch axes with 1
  std::int64_t rows;
  std::int64_t columns;
  bool transposed;

  [[nodiscard]] double at(std::int64_t matrix, std::int64_t row, std::int64_t column) const {
    const std::int64_t inside = transposed ? column * rows + row : row * columns + column;
    return values[static_cast<std::size_t>(matrix * rows * columns + inside)];
  }
  [[nodiscard]] std::int64_t matrix(const std::vector<std::int64_t>& at) const {
    std::int64_t index = 0;
    for (std::size_t axis = 0; axis < batch.size(); ++axis)
      index = index * batch[axis] + (batch[axis] == 1 ? 0 : at[axis]);
    return index;
  }
};

Matrices matrices(const Shape& shape, bool transpose, bool left, std::size_t batch_rank,
                  const std::vector<double>& values) {
  std::vector<std::int64_t> extents(shape.begin(), shape.end());
  const bool transposed = transpose && extents.size() > 1;
  if (extents.size() == 1) extents.insert(left ? extents.begin() : extents.end(), 1);
  Matrices result{values,
                  {extents.begin(), extents.end() - 2},
                  *(extents.end() - 2),
                  extents.back(),
                  transposed};
  if (transposed) std::swap(result.rows, result.columns);
  result.batch.insert(result.batch.begin(), batch_rank - result.batch.size(), 1);
  return result;
}

std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const auto axes = [](const Shape& shape) { return shape.rank() < 2 ? 0 : shape.rank() - 2; };
  const std::size_t rank = std::max(axes(call.shape(0)), axes(call.shape(1)));
  const Matrices a =
      matrices(call.shape(0), call.params.flag("transpose_a"), true, rank, inputs[0]);
  const Matrices b =
      matrices(call.shape(1), call.params.flag("transpose_b"), false, rank, inputs[1]);
  std::vector<double> result(outputs[0].elements());
  std::vector<std::int64_t> at(rank);
  for (std::size_t i = 0; i < result.size();) {
    auto rest = static_cast<std::int64_t>(i) / (a.rows * b.columns);
    for (std::size_t axis = rank; axis-- > 0;) {
      const std::int64_t extent = std::max(a.batch[axis], b.batch[axis]);
      at[axis] = rest % extent;
      rest /= extent;
    }
    const std::int64_t from_a = a.matrix(at), from_b = b.matrix(at);
    for (std::int64_t row = 0; row < a.rows; ++row)
      for (std::int64_t column = 0; column < b.columns; ++column) {
        double sum = 0;
        for (std::int64_t t = 0; t < a.columns; ++t)
          sum += a.at(from_a, row, t) * b.at(from_b, t, column);
        result[i++] = cases::wrapped(sum, call.dtype());
      }
  }
  return {std::move(result)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "matmul";
  suite.cases = all_cases();
  suite.reference = reference;
  // Each of k additions may round the sum so far. Products of values up to 2 with random signs keep
  // that sum near 1.3·sqrt(k), so k units in the last place of their greatest, 4, leave room for any
  // order of summing. The 16-bit floats round once more, to their own precision.
  suite.bound = [](const KernelCall& call) {
    const DType dtype = call.dtype();
    if (is_integer(dtype)) return ErrorBound{};
    const Problem p = describe(call);
    const double absolute = 8 * static_cast<double>(p.k + 1) * cases::compute_rounding(dtype);
    return ErrorBound{absolute + cases::subnormal(dtype), 2 * cases::rounding(dtype)};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::matmul
