// The functions of tensors that are made of several operations, as scripts call them: what they give is what the
// functions of C++ give, whose values tests/tensor checks.
#include <sstream>

#include "stoker/api/script/functions/function_table.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/tensor_script.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class Functions : public Scripts {
 protected:
  [[nodiscard]] Outcome run_with_functions(std::string code) {
    ScriptOptions options;
    options.extension = script_functions();
    return run(std::move(code), options);
  }
  /// Shape, dtype and elements of what an expression of the script's gives.
  [[nodiscard]] std::string values(const std::string& expression) {
    return run_with_functions("local y = " + expression +
                              " print('[' .. table.concat(y.shape, ',') .. ']', y.dtype, "
                              "table.concat(read(y), ' '))")
        .text();
  }
  [[nodiscard]] std::string truth(const std::string& expression) {
    return run_with_functions("print(" + expression + ")").text();
  }
};

/// The same of a tensor, numbers as Lua prints them.
template <class T> std::string text_of(const Tensor& tensor) {
  std::string shape;
  for (std::size_t i = 0; i < tensor.rank(); ++i)
    shape += (i == 0 ? "" : ",") + std::to_string(tensor.shape()[i]);
  std::string elements;
  for (const T value : tensor.to_vector<T>()) {
    char text[32];
    std::snprintf(text, sizeof text, "%.14g", static_cast<double>(value));
    std::string one{text};
    if (std::is_floating_point_v<T> && one.find_first_not_of("-0123456789") == std::string::npos)
      one += ".0";
    elements += (elements.empty() ? "" : " ") + one;
  }
  return "[" + shape + "]\t" + std::string{to_string(tensor.dtype())} + "\t" + elements + "\n";
}

TEST_F(Functions, make_buffers) {
  EXPECT_EQ(values("full{value = 1.5, shape = {2}}"), "[2]\tf32\t1.5 1.5\n");
  EXPECT_EQ(values("full{value = 7, dtype = 'u8'}"), "[]\tu8\t7\n");
  EXPECT_EQ(values("zeros{shape = {2, 2}}"), "[2,2]\tf32\t0.0 0.0 0.0 0.0\n");
  EXPECT_EQ(values("ones{shape = {2}, dtype = 's32'}"), "[2]\ts32\t1 1\n");
  EXPECT_EQ(values("zeros_like(buffer({1, 2}, {dtype = 'u8'}))"), "[2]\tu8\t0 0\n");
  EXPECT_EQ(values("buffer{1, 2}:ones_like()"), "[2]\tf32\t1.0 1.0\n");
  EXPECT_EQ(values("full_like(buffer({1, 2}, {dtype = 's32'}), 7)"), "[2]\ts32\t7 7\n");
  EXPECT_EQ(values("eye{shape = {2, 2}}"), "[2,2]\tf32\t1.0 0.0 0.0 1.0\n");
  EXPECT_EQ(values("tri{rows = 2, columns = 3}"), text_of<std::uint8_t>(tri(2, 3)));
  EXPECT_EQ(values("linspace(0, 1, {n = 5})"), "[5]\tf32\t0.0 0.25 0.5 0.75 1.0\n");
}

TEST_F(Functions, join_and_cut) {
  EXPECT_EQ(values("stack(buffer{1, 2}, buffer{3, 4}, {axis = 1})"),
            "[2,2]\tf32\t1.0 3.0 2.0 4.0\n");
  EXPECT_EQ(truth("(function() local a, b = split(buffer{1, 2, 3}, {size = 1}) "
                  "return a.size, b.size end)()"),
            "1\t2\n");
  EXPECT_EQ(truth("select('#', to_batched(iota{shape = {5}}, {size = 2}))"), "3\n");
  EXPECT_EQ(truth("select('#', to_batched(iota{shape = {5}}, {size = 2, leftover = 'discard'}))"),
            "2\n");
  EXPECT_EQ(values("tile(buffer{1, 2}, {repetitions = {2, 1}})"), "[2,2]\tf32\t1.0 2.0 1.0 2.0\n");
  EXPECT_EQ(values("squeeze(buffer{{1, 2}})"), "[2]\tf32\t1.0 2.0\n");
  EXPECT_EQ(values("buffer{1, 2}:new_axis{axis = -1}"), "[2,1]\tf32\t1.0 2.0\n");
  EXPECT_EQ(values("flatten(buffer{{1}, {2}})"), "[2]\tf32\t1.0 2.0\n");
  EXPECT_EQ(values("slice_along_axis(iota{shape = {6}}, {start = 1, length = 4, stride = 2})"),
            "[2]\tf32\t1.0 3.0\n");
  EXPECT_EQ(values("reflect(buffer{1, 2, 3}, {high = {3}})"),
            "[6]\tf32\t1.0 2.0 3.0 2.0 1.0 2.0\n");
  EXPECT_EQ(values("tril(ones{shape = {2, 2}})"), "[2,2]\tf32\t1.0 0.0 1.0 1.0\n");
  EXPECT_EQ(values("take_diagonal(buffer{{1, 2}, {3, 4}}, {offset = 1})"), "[1]\tf32\t2.0\n");
}

TEST_F(Functions, give_what_those_of_tensors_give) {
  const DeviceScope scope{device};
  const Tensor x = tensor({{1.0, 2.0, 4.0}, {0.5, -1.0, 3.0}});
  const std::string written = "buffer{{1, 2, 4}, {0.5, -1, 3}}";
  EXPECT_EQ(values("variance(" + written + ", {axes = {1}, ddof = 1})"),
            text_of<float>(variance(x, {Axes{1}}, 1)));
  EXPECT_EQ(values("standard_deviation(" + written + ", {keepdims = true})"),
            text_of<float>(standard_deviation(x, {.keepdims = true})));
  EXPECT_EQ(values("logsumexp(" + written + ", {axes = {0}})"),
            text_of<float>(logsumexp(x, {Axes{0}})));
  EXPECT_EQ(values("log_softmax(" + written + ")"), text_of<float>(log_softmax(x)));
  EXPECT_EQ(values("reduce_median(" + written + ", {axis = {1}})"), text_of<float>(median(x, 1)));
  EXPECT_EQ(values("reduce_median(" + written + ")"), text_of<float>(median(x)));
  EXPECT_EQ(values("clip(" + written + ", 0, 2)"), text_of<float>(clip(x, 0, 2)));
  EXPECT_EQ(values("log2(" + written + " + 2)"), text_of<float>(log2(x + 2)));
  EXPECT_EQ(values("norm(" + written + ", {ord = 'fro'})"),
            text_of<float>(linalg::norm(x, linalg::MatrixNorm::fro)));
  EXPECT_EQ(values("norm(" + written + ", {ord = '3', axes = {1}})"),
            text_of<float>(linalg::norm(x, 3, {Axes{1}})));
  using linalg::NormOrder;
  const std::vector<std::pair<std::string, NormOrder>> orders{
      {"2", 2}, {"1", 1}, {"2.0", 2}, {"math.huge", linalg::inf}, {"-math.huge", -linalg::inf}};
  for (const auto& [ord, same] : orders)
    EXPECT_EQ(values("norm(" + written + ", {ord = " + ord + "})"),
              text_of<float>(linalg::norm(x, same)))
        << ord;
  EXPECT_EQ(values("norm(" + written + ", {ord = 0.5, axes = {1}})"),
            text_of<float>(linalg::norm(x, 0.5, {Axes{1}})));
  EXPECT_EQ(values("dot(" + written + ", buffer{1, 2, 3})"),
            text_of<float>(dot(x, tensor({1.0, 2.0, 3.0}))));
  EXPECT_EQ(values("dot(" + written + ", " + written + ", {contract_a = {0}, contract_b = {0}})"),
            text_of<float>(dot(x, {Axes{0}}, x, {Axes{0}})));
  EXPECT_EQ(values("outer(buffer{1, 2}, buffer{3, 4})"),
            text_of<float>(outer(tensor({1.0, 2.0}), tensor({3.0, 4.0}))));
  EXPECT_EQ(values("diff(" + written + ")"), text_of<float>(diff(x)));
  EXPECT_EQ(values("window_mean(" + written + ", {window = {1, 2}})"),
            text_of<float>(window_mean(x, {Axes{1, 2}})));
  EXPECT_EQ(values("covariance(" + written + ")"), text_of<float>(covariance(x)));
  EXPECT_EQ(values("invert(buffer{{2, 0}, {0, 4}})"), "[2,2]\tf32\t0.5 0.0 0.0 0.25\n");
  EXPECT_EQ(values("all_close(buffer{1}, buffer{1.000001})"), "[]\tu8\t1\n");
  EXPECT_EQ(values("irfft(rfft(buffer{1, 2, 3, 4}))"),
            text_of<float>(irfft(rfft(tensor({1.0, 2.0, 3.0, 4.0})))));
}

TEST_F(Functions, draw_the_numbers_that_tensors_draw) {
  const DeviceScope scope{device};
  const Tensor key = random::key(42);
  const auto [uniform, next] = random::uniform(key, Shape{3});
  EXPECT_EQ(values("(random_uniform(random_key{seed = 42}, {shape = {3}}))"),
            text_of<float>(uniform));
  EXPECT_EQ(values("select(2, random_key{seed = 42}:random_uniform{shape = {3}})"),
            text_of<std::uint32_t>(next));
  EXPECT_EQ(values("(random_normal(random_key{seed = 1}, {shape = {2}, mean = 3}))"),
            text_of<float>(random::normal(random::key(1), Shape{2}, 3).values));
  EXPECT_EQ(values("(random_randint(random_key{seed = 1}, {low = 0, high = 10, shape = {4}}))"),
            text_of<std::int32_t>(random::randint(random::key(1), 0, 10, Shape{4}).values));
  EXPECT_EQ(values("random_split(random_key{seed = 1}, {parts = 3})"),
            text_of<std::uint32_t>(random::split(random::key(1), 3)));
}

TEST_F(Functions, refuse_what_they_cannot_take_with_the_line) {
  const auto error = [&](const std::string& code) {
    return run_with_functions("\n" + code).error();
  };
  const Error arity = error("stack()");
  EXPECT_EQ(arity.code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(arity.op(), "stack");
  EXPECT_EQ(arity.detail("line"), "2");
  EXPECT_EQ(error("variance(buffer{1}, buffer{2})").detail("expected"), "1 input");
  EXPECT_EQ(error("split(buffer{1, 2})").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error("split(buffer{1, 2}, {size = 5})").detail("line"), "2");
  EXPECT_EQ(error("stack(buffer{1}, buffer{1, 2})").code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error("zeros{shape = {2}, dtype = 'f31'}").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error("reduce_median(buffer{1}, {axis = {0, 0}})").code(),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(error("norm(buffer{1}, {ord = 'two'})").reason(),
            "parameter 'ord' is \"two\", expected a number, inf, -inf, fro or nuc");
  EXPECT_EQ(error("norm(buffer{1}, {ord = 0 / 0})").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error("zeros{shape = {2}, dtype = 32}").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error("clip('a', 1, 2)").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error("eye{shape = {2}}").code(), ErrorCode::shape_mismatch);
}

TEST_F(Functions, are_suggested_for_names_that_are_nearly_theirs) {
  EXPECT_NE(std::string{run_with_functions("varience(buffer{1})").error().reason()}.find(
                "did you mean 'variance'?"),
            std::string::npos);
}

TEST_F(Functions, are_all_there_and_hide_no_operation) {
  for (const script::TensorFunction& one : script::FunctionTable::builtin().list()) {
    const std::string& name = one.operation.name;
    EXPECT_EQ(truth("type(" + name + ")"), "function\n") << name;
    EXPECT_EQ(run("print(" + name + ")").text(), "nil\n") << name << " is an operation already";
    EXPECT_FALSE(one.summary.empty()) << name;
    for (const ParamSpec& option : one.operation.params)
      EXPECT_FALSE(option.doc.empty()) << name << ' ' << option.name;
  }
}

TEST_F(Functions, of_a_random_buffer_are_one_evaluation) {
  const Outcome outcome = run_with_functions(
      "local x = random_normal(random_key{seed = 1}, {shape = {64}})\n"
      "local y = (x - mean(x)) / standard_deviation(x)\n"
      "print(clip(y, -1, 1).size) wait(clip(y, -1, 1))");
  EXPECT_EQ(outcome.text(), "64\n");
  EXPECT_EQ(outcome.result->evaluations, 1U);
}

}  // namespace
}  // namespace stoker
