// Graphs put together by choices from what passes look for. Every value is of one type and shape, [1,2,4,4].
//
// Threads: one. The choices are random numbers of a test, or bytes of a fuzzer.
#pragma once

#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace stoker::onnx {

class RandomGraph {
 public:
  struct Options {
    int nodes = 14;              ///< calls of what it knows, each of a node or some
    std::string type = "float";  ///< of all values, "float" or "double"
    std::string batch = "1";     ///< how the input declares its first dimension
    bool has_faults = false;     ///< some nodes that no run accepts
  };
  /// `below(n)` chooses a number from 0 to n - 1.
  explicit RandomGraph(std::function<int(int n)> below)
      : RandomGraph{std::move(below), Options{}} {}
  RandomGraph(std::function<int(int n)> below, Options options)
      : below_{std::move(below)}, options_{std::move(options)} {
    for (int i = 0; i < options_.nodes; ++i) add_some();
    for (int i = 0; i < 3; ++i) outputs_ += ' ' + some();
  }
  /// All values that nodes give.
  [[nodiscard]] const std::vector<std::string>& values() const noexcept { return values_; }
  /// As GraphText reads it.
  [[nodiscard]] std::string text() const {
    return "in x " + options_.type + '[' + options_.batch + ",2,4,4]\n" + head_ + body_ + "out" +
           unique_outputs() + '\n';
  }

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
  int below(int n) { return below_(n); }
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
  [[nodiscard]] std::string real(const std::string& dims) const { return options_.type + dims; }
  std::string number() { return std::to_string(0.5 + 0.25 * below(5)); }
  std::string two() { return number() + ' ' + number(); }
  std::string four() { return two() + ' ' + two(); }
  std::string square() {
    return constant(real("[4,4]"), four() + " -" + four() + ' ' + four() + " -" + four());
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
    return constant(real("[2,2,1,1]"), numbers);
  }

  /// With an epsilon that keeps roundings small.
  std::string written_norm(const std::string& x) {
    std::string apart = x;
    if (below(2) == 0)
      apart = node("Sub(" + x + ", " + node("ReduceMean(" + x + ", " + last_axis() + ')') + ')');
    const std::string squares = node("Mul(" + apart + ", " + apart + ')');
    const std::string mean = node("ReduceMean(" + squares + ", " + last_axis() + ')');
    const std::string root =
        node("Sqrt(" + node("Add(" + mean + ", " + constant(real("[]"), "0.5") + ')') + ')');
    const std::string scaled = node("Mul(" + node("Div(" + apart + ", " + root + ')') + ", " +
                                    constant(real("[4]"), four()) + ')');
    return below(2) == 0 ? scaled
                         : node("Add(" + scaled + ", " + constant(real("[4]"), four()) + ')');
  }
  std::string written_gelu(const std::string& x) {
    const std::string erf =
        node("Erf(" + node("Div(" + x + ", " + constant(real("[]"), "1.41421356") + ')') + ')');
    const std::string sum = node("Add(" + erf + ", " + constant(real("[]"), "1") + ')');
    return node("Mul(" + node("Mul(" + x + ", " + sum + ')') + ", " + constant(real("[]"), "0.5") +
                ')');
  }

  void add_some() {
    const std::string x = some();
    const auto of = [&](const std::string& op, const std::string& rest = {}) {
      return node(op + '(' + x + rest + ')');
    };
    std::string made;
    switch (below(options_.has_faults ? 28 : 26)) {
      case 0: made = of("Relu"); break;
      case 1:
        made = of("Clip", ", " + constant(real("[]"), below(2) == 0 ? "-1" : "0.25") + ", " +
                              constant(real("[]"), "2"));
        break;
      case 2: made = of("Identity"); break;
      case 3: made = of("Dropout"); break;
      case 4:
        made = of(below(2) == 0 ? "Mul" : "Div", ", " + constant(real("[2,1,1]"), two()));
        break;
      case 5:
        made = of(below(2) == 0 ? "Add" : "Sub", ", " + constant(real("[1,2,1,1]"), two()));
        break;
      case 6: made = node("Sub(" + constant(real("[]"), number()) + ", " + x + ')'); break;
      case 7: made = node("Add(" + x + ", " + some() + ')'); break;
      case 8:
      case 9: made = of("Conv", ", " + weights()); break;
      case 10:
        made = of("BatchNormalization",
                  ", " + constant(real("[2]"), two()) + ", " + constant(real("[2]"), two()) + ", " +
                      constant(real("[2]"), two()) + ", " + constant(real("[2]"), two()));
        break;
      case 11: made = node("Transpose(" + x + ") {perm: [0,1,3,2]}"); break;
      case 12:
        made = node("Reshape(" + of("Reshape", ", " + constant("int64[2]", "2 16")) + ", " +
                    constant("int64[4]", "1 2 4 4") + ')');
        break;
      case 13:
        made = node("Cast(" + node("Cast(" + x + ") {to: 11}") +
                    ") {to: " + (options_.type == "float" ? "1" : "11") + '}');
        break;
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
        const std::string scale = below(2) == 0 ? "" : ", " + constant(real("[2]"), two());
        made = node((below(2) == 0 ? "Conv(" : "ConvTranspose(") + x + ", " +
                    constant(real("[2,1,1,1]"), two()) + scale + ") {group: 2}");
        break;
      }
      case 21: {
        const std::string rows = of("Reshape", ", " + constant("int64[2]", "8 4"));
        const std::string product =
            node("Gemm(" + rows + ", " + square() + ", " + constant(real("[4]"), four()) +
                 ") {alpha: 0.5, beta: 1.5, transB: " + (below(2) == 0 ? "0}" : "1}"));
        made =
            node("Reshape(" + node("Mul(" + product + ", " + constant(real("[4]"), four()) + ')') +
                 ", " + constant("int64[4]", "1 2 4 4") + ')');
        break;
      }
      case 22: {
        const bool biased = below(2) == 0;
        std::string sum;
        for (int i = 0; i < 3; ++i) {
          std::string part = of("MatMul", ", " + square());
          if (biased) part = node("Add(" + part + ", " + constant(real("[4]"), four()) + ')');
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
      case 26: made = node("Transpose(" + x + ") {perm: [0,2,1]}"); break;
      case 27: made = of("Conv", ", " + constant(real("[2,3,1,1]"), number())); break;
      default:
        made = node("Mul(" + x + ", " + node("Neg(" + constant(real("[]"), number()) + ')') + ')');
        break;
    }
    values_.push_back(made);
  }

  std::function<int(int n)> below_;
  Options options_;
  int count_ = 0;
  std::string head_;
  std::string body_;
  std::string outputs_;
  std::vector<std::string> values_{"x"};
};

}  // namespace stoker::onnx
