// Graphs put together at random from what passes look for: all passes together, and each alone, keep the numbers.
#include <random>

#include "stoker/api/onnx/optimize/narrowing.hpp"
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

/// Every value is float[1,2,4,4].
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_{seed} {
    for (int i = 0; i < 14; ++i) add_some();
    for (int i = 0; i < 3; ++i) outputs_ += ' ' + some();
  }
  [[nodiscard]] std::string text() const { return head_ + body_ + "out" + unique_outputs() + '\n'; }

 private:
  /// Each output once, and not the input.
  [[nodiscard]] std::string unique_outputs() const {
    std::string unique = ' ' + values_.back();
    std::istringstream names{outputs_};
    for (std::string name; names >> name;)
      if (name != "x" && (unique + ' ').find(' ' + name + ' ') == std::string::npos)
        unique += ' ' + name;
    return unique;
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string some() {
    // Mostly the last ones, so that chains come about.
    const auto back = static_cast<std::size_t>(
        below(3) == 0 ? below(static_cast<int>(values_.size())) : below(2));
    return values_[values_.size() - 1 - std::min(back, values_.size() - 1)];
  }
  std::string name() { return "v" + std::to_string(count_++); }
  std::string constant(const std::string& type, const std::string& numbers) {
    std::string made = "k" + std::to_string(count_++);
    head_ += "const " + made + ' ' + type + " = " + numbers + '\n';
    return made;
  }
  std::string number() { return std::to_string(0.5 + 0.25 * below(5)); }
  std::string two() { return number() + ' ' + number(); }
  std::string four() { return two() + ' ' + two(); }
  std::string square() {
    return constant("float[4,4]", four() + " -" + four() + ' ' + four() + " -" + four());
  }
  std::string last_axis() { return constant("int64[1]", "-1"); }
  std::string node(const std::string& call) {
    std::string made = name();
    body_ += made + " = " + call + '\n';
    return made;
  }
  std::string weights() {
    std::string numbers;
    for (int i = 0; i < 4; ++i) numbers += (i == 1 ? " -" : " ") + number();
    return constant("float[2,2,1,1]", numbers);
  }

  /// With an epsilon that keeps roundings small.
  std::string written_norm(const std::string& x) {
    std::string apart = x;
    if (below(2) == 0)
      apart = node("Sub(" + x + ", " + node("ReduceMean(" + x + ", " + last_axis() + ')') + ')');
    const std::string squares = node("Mul(" + apart + ", " + apart + ')');
    const std::string mean = node("ReduceMean(" + squares + ", " + last_axis() + ')');
    const std::string root =
        node("Sqrt(" + node("Add(" + mean + ", " + constant("float[]", "0.5") + ')') + ')');
    const std::string scaled = node("Mul(" + node("Div(" + apart + ", " + root + ')') + ", " +
                                    constant("float[4]", four()) + ')');
    return below(2) == 0 ? scaled
                         : node("Add(" + scaled + ", " + constant("float[4]", four()) + ')');
  }
  std::string written_gelu(const std::string& x) {
    const std::string erf =
        node("Erf(" + node("Div(" + x + ", " + constant("float[]", "1.41421356") + ')') + ')');
    const std::string sum = node("Add(" + erf + ", " + constant("float[]", "1") + ')');
    return node("Mul(" + node("Mul(" + x + ", " + sum + ')') + ", " + constant("float[]", "0.5") +
                ')');
  }

  void add_some() {
    const std::string x = some();
    const auto of = [&](const std::string& op, const std::string& rest = {}) {
      return node(op + '(' + x + rest + ')');
    };
    std::string made;
    switch (below(26)) {
      case 0: made = of("Relu"); break;
      case 1:
        made = of("Clip", ", " + constant("float[]", below(2) == 0 ? "-1" : "0.25") + ", " +
                              constant("float[]", "2"));
        break;
      case 2: made = of("Identity"); break;
      case 3: made = of("Dropout"); break;
      case 4:
        made = of(below(2) == 0 ? "Mul" : "Div", ", " + constant("float[2,1,1]", two()));
        break;
      case 5:
        made = of(below(2) == 0 ? "Add" : "Sub", ", " + constant("float[1,2,1,1]", two()));
        break;
      case 6: made = node("Sub(" + constant("float[]", number()) + ", " + x + ')'); break;
      case 7: made = node("Add(" + x + ", " + some() + ')'); break;
      case 8:
      case 9: made = of("Conv", ", " + weights()); break;
      case 10:
        made = of("BatchNormalization",
                  ", " + constant("float[2]", two()) + ", " + constant("float[2]", two()) + ", " +
                      constant("float[2]", two()) + ", " + constant("float[2]", two()));
        break;
      case 11: made = node("Transpose(" + x + ") {perm: [0,1,3,2]}"); break;
      case 12:
        made = node("Reshape(" + of("Reshape", ", " + constant("int64[2]", "2 16")) + ", " +
                    constant("int64[4]", "1 2 4 4") + ')');
        break;
      case 13: made = node("Cast(" + node("Cast(" + x + ") {to: 11}") + ") {to: 1}"); break;
      case 14: {
        const std::string parts = name();
        body_ += parts + "a, " + parts + "b = Split(" + x + ") {axis: 1, num_outputs: 2}\n";
        made = node("Concat(" + parts + (below(2) == 0 ? "a, " : "b, ") + parts + "b) {axis: 1}");
        break;
      }
      case 15: {
        const std::string around = constant("int64[8]", "0 0 1 1 0 0 0 0");
        made = node("AveragePool(" + of("Pad", ", " + around) + ") {kernel_shape: [2,2]}");
        break;
      }
      case 16: made = node("Mul(" + of("Sigmoid") + ", " + x + ')'); break;
      case 17: made = written_norm(x); break;
      case 18: made = written_gelu(x); break;
      case 19: {
        const std::string shifted =
            node("Sub(" + x + ", " + of("ReduceMax", ", " + last_axis()) + ')');
        const std::string power = node("Exp(" + shifted + ')');
        made = node("Div(" + power + ", " + node("ReduceSum(" + power + ", " + last_axis() + ')') +
                    ')');
        break;
      }
      case 20: {
        const std::string scale = below(2) == 0 ? "" : ", " + constant("float[2]", two());
        made = node((below(2) == 0 ? "Conv(" : "ConvTranspose(") + x + ", " +
                    constant("float[2,1,1,1]", two()) + scale + ") {group: 2}");
        break;
      }
      case 21: {
        const std::string rows = of("Reshape", ", " + constant("int64[2]", "8 4"));
        const std::string product =
            node("Gemm(" + rows + ", " + square() + ", " + constant("float[4]", four()) +
                 ") {alpha: 0.5, beta: 1.5, transB: " + (below(2) == 0 ? "0}" : "1}"));
        made =
            node("Reshape(" + node("Mul(" + product + ", " + constant("float[4]", four()) + ')') +
                 ", " + constant("int64[4]", "1 2 4 4") + ')');
        break;
      }
      case 22: {
        const bool biased = below(2) == 0;
        std::string sum;
        for (int i = 0; i < 3; ++i) {
          std::string part = of("MatMul", ", " + square());
          if (biased) part = node("Add(" + part + ", " + constant("float[4]", four()) + ')');
          sum += (i == 0 ? "" : ", ") + part;
        }
        made = node("Mean(" + sum + ')');
        break;
      }
      case 23: {
        // To blocks and back, in both orders of channels.
        const std::string apart = of("Reshape", ", " + constant("int64[6]", "1 2 2 2 2 2"));
        const std::string deep =
            node("Reshape(" + node("Transpose(" + apart + ") {perm: [0,3,5,1,2,4]}") + ", " +
                 constant("int64[4]", "1 8 2 2") + ')');
        const bool columns_first = below(2) == 0;
        const std::string blocks =
            node("Reshape(" + deep + ", " + constant("int64[6]", "1 2 2 2 2 2") + ')');
        made = node("Reshape(" +
                    node("Transpose(" + blocks +
                         ") {perm: " + (columns_first ? "[0,1,4,2,5,3]}" : "[0,3,4,1,5,2]}")) +
                    ", " + constant("int64[4]", "1 2 4 4") + ')');
        break;
      }
      case 24: {
        const std::string joined = node("Concat(" + x + ", " + some() + ") {axis: 1}");
        const std::string parts = name();
        body_ += parts + "a, " + parts + "b = Split(" + joined + ", " +
                 constant("int64[2]", "2 2") + ") {axis: 1}\n";
        made = node("Sub(" + parts + "a, " + parts + "b)");
        break;
      }
      default:
        made = node("Mul(" + x + ", " + node("Neg(" + constant("float[]", number()) + ')') + ')');
        break;
    }
    values_.push_back(made);
  }

  std::mt19937 random_;
  int count_ = 0;
  std::string head_ = "in x float[1,2,4,4]\n";
  std::string body_;
  std::string outputs_;
  std::vector<std::string> values_{"x"};
};

class RandomGraphs : public PassTest, public testing::WithParamInterface<unsigned> {};

TEST_P(RandomGraphs, give_the_same_numbers) {
  std::vector<std::string> all;
  for (const Pass& one : PassTable::standard().list()) all.push_back(one.name);
  std::size_t before = 0;
  std::size_t after = 0;
  for (unsigned i = 0; i < 10; ++i) {
    const std::string text = RandomGraph{GetParam() * 10 + i}.text();
    SCOPED_TRACE(text);
    const Graph graph = GraphText::parse(text, opset);
    expect_equal_numbers(graph, all);
    expect_equal_numbers(graph, {all[(GetParam() * 10 + i) % all.size()]});
    if (HasFatalFailure()) return;
    before += rewritten(graph, {}).nodes.size();
    after += rewritten(graph, all).nodes.size();
  }
  EXPECT_LT(after, before * 3 / 4);
}

/// Which roundings of 16 bits are large beside a result depends on what cancels: nearly all numbers are near.
TEST_P(RandomGraphs, give_near_numbers_in_16_bits) {
  const OperatorTable& operators = OperatorTable::standard();
  const auto evaluate = node_evaluation(operators, device_);
  DeviceInfo gpu;
  gpu.dtypes = {DType::f16};
  std::size_t numbers = 0;
  std::size_t near = 0;
  std::size_t narrowed = 0;
  for (unsigned i = 0; i < 10; ++i) {
    const std::string text = RandomGraph{GetParam() * 10 + i}.text();
    SCOPED_TRACE(text);
    const auto file = file_of(GraphText::parse(text, opset));
    const NamedValues inputs{{"x", some(file->graph.inputs[0].type)}};
    const NamedValues expected = load(file, here()).run(inputs).get();
    for (const Optimize level : {Optimize::none, Optimize::all}) {
      const auto passes = chosen_passes(level, {});
      const Narrowed made = with_precision(optimized(file, passes, operators, evaluate),
                                           Precision::f16, operators, evaluate, gpu);
      narrowed += made.report.narrowed;
      const NamedValues got = load(made.file, here()).run(inputs).get();
      for (const auto& [name, value] : expected) {
        ASSERT_EQ(got.at(name).type(), value.type()) << name;
        ASSERT_EQ(got.at(name).shape(), value.shape()) << name;
        const auto a = got.at(name).tensor().to_vector<double>();
        const auto b = value.tensor().to_vector<double>();
        for (std::size_t k = 0; k < a.size(); ++k) {
          ++numbers;
          near += std::abs(a[k] - b[k]) <= 0.02 + 0.02 * std::abs(b[k]) ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(narrowed, 10U);
  EXPECT_GT(near, numbers * 95 / 100) << near << " of " << numbers;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Range(0U, 8U));

}  // namespace
}  // namespace stoker::onnx
