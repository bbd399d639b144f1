// Recurrent networks: RNN, GRU, LSTM. https://onnx.ai/onnx/operators/onnx__LSTM.html
//
// X is [time, batch, features], W [directions, gates·units, features], R [directions, gates·units, units], B
// [directions, 2·gates·units]: the input's biases, then the hidden ones. With layout = 1 the batch comes first.
#include <algorithm>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/transforms/control_flow.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::recurrent {
namespace {

using Function = std::function<Tensor(const Tensor&)>;

std::string lower_case(std::string text) {
  for (char& one : text)
    if (one >= 'A' && one <= 'Z') one = static_cast<char>(one - 'A' + 'a');
  return text;
}

Function function_of(const std::string& name, double alpha, double beta) {
  if (name == "relu") return [](const Tensor& x) { return relu(x); };
  if (name == "tanh") return [](const Tensor& x) { return tanh(x); };
  if (name == "sigmoid") return [](const Tensor& x) { return sigmoid(x); };
  if (name == "affine") return [=](const Tensor& x) { return alpha * x + beta; };
  if (name == "leakyrelu") return [=](const Tensor& x) { return select(less(x, 0), alpha * x, x); };
  if (name == "thresholdedrelu")
    return [=](const Tensor& x) { return select(greater_equal(x, alpha), x, 0); };
  if (name == "scaledtanh") return [=](const Tensor& x) { return alpha * tanh(beta * x); };
  if (name == "hardsigmoid") return [=](const Tensor& x) { return clip(alpha * x + beta, 0, 1); };
  if (name == "elu")
    return [=](const Tensor& x) { return select(less(x, 0), alpha * expm1(x), x); };
  if (name == "softsign") return [](const Tensor& x) { return x / (abs(x) + 1); };
  if (name == "softplus")
    return [](const Tensor& x) { return max(x, 0) + log1p(exp(negate(abs(x)))); };
  return {};
}

double default_alpha(const std::string& name) {
  if (name == "leakyrelu") return 0.01;
  if (name == "hardsigmoid") return 0.2;
  return 1;
}
double default_beta(const std::string& name) { return name == "hardsigmoid" ? 0.5 : 0; }

/// The states of one direction: h, and c for LSTM.
using States = std::vector<Tensor>;

/// One direction of a layer.
struct Direction {
  Tensor w, r;                         ///< [features, gates·units], [units, gates·units]
  Tensor bias = {}, hidden_bias = {};  ///< [gates·units]; empty: none
  Tensor peepholes = {};               ///< [3·units]; empty: none
  std::vector<Function> functions = {};
  bool is_reverse = false;
};

/// The next states from the input's part of the gates [batch, gates·units], which has its bias.
using Cell =
    std::function<States(const Call&, const Direction&, const Tensor& gates, const States&)>;

Tensor gate(const Tensor& gates, std::int64_t which, std::int64_t units) {
  return slice_along_axis(gates, which * units, units, -1);
}

Tensor clipped(const Call& call, const Tensor& x) {
  if (!call.node().has("clip")) return x;
  const double most = call.node().real("clip");
  return clip(x, -most, most);
}

Tensor plus(const Tensor& x, const Tensor& bias) { return bias.has_value() ? x + bias : x; }

States rnn_cell(const Call& call, const Direction& d, const Tensor& gates, const States& states) {
  return {d.functions[0](clipped(call, plus(gates + matmul(states[0], d.r), d.hidden_bias)))};
}

/// Gates in the order z (update), r (reset), h (candidate).
States gru_cell(const Call& call, const Direction& d, const Tensor& gates, const States& states) {
  const Tensor& h = states[0];
  const std::int64_t units = h.shape()[1];
  const auto part = [&](const Tensor& x, std::int64_t first, std::int64_t count) {
    return slice_along_axis(x, first * units, count * units, -1);
  };
  const auto bias = [&](std::int64_t first, std::int64_t count) {
    return d.hidden_bias.has_value() ? part(d.hidden_bias, first, count) : Tensor{};
  };
  const Tensor zr = d.functions[0](
      clipped(call, part(gates, 0, 2) + plus(matmul(h, part(d.r, 0, 2)), bias(0, 2))));
  const Tensor z = gate(zr, 0, units);
  const Tensor r = gate(zr, 1, units);
  const bool resets_after = call.node().flag("linear_before_reset", false);
  const Tensor from_h = resets_after ? r * plus(matmul(h, part(d.r, 2, 1)), bias(2, 1))
                                     : plus(matmul(r * h, part(d.r, 2, 1)), bias(2, 1));
  const Tensor candidate = d.functions[1](clipped(call, part(gates, 2, 1) + from_h));
  return {(1 - z) * candidate + z * h};
}

/// Gates in the order i, o, f, c; peepholes i, o, f.
States lstm_cell(const Call& call, const Direction& d, const Tensor& gates, const States& states) {
  const Tensor& c = states[1];
  const std::int64_t units = c.shape()[1];
  const Tensor all = plus(gates + matmul(states[0], d.r), d.hidden_bias);
  const auto with_peephole = [&](std::int64_t which, const Tensor& cell) {
    const Tensor x = gate(all, which, units);
    return d.peepholes.has_value() ? x + gate(d.peepholes, which, units) * cell : x;
  };
  const Tensor i = d.functions[0](clipped(call, with_peephole(0, c)));
  const bool couples = call.node().flag("input_forget", false);
  const Tensor f = couples ? 1 - i : d.functions[0](clipped(call, with_peephole(2, c)));
  const Tensor next = f * c + i * d.functions[1](clipped(call, gate(all, 3, units)));
  const Tensor o = d.functions[0](clipped(call, with_peephole(1, next)));
  return {o * d.functions[2](next), next};
}

struct Kind {
  std::int64_t gates;
  std::size_t states;
  std::vector<std::string> functions;
  Cell cell;
};

/// What is not a step of a sequence that is shorter keeps the states, and shows zeros.
std::pair<Tensor, States> unrolled(const Call& call, const Kind& kind, const Direction& d,
                                   const Tensor& x, const States& start, const Tensor& lengths) {
  Tensor gates = plus(matmul(x, d.w), d.bias);
  const std::int64_t time = x.shape()[0];
  std::vector<Tensor> sequences{gates};
  if (lengths.has_value())
    sequences.push_back(
        less(new_axis(iota({time}, DType::s32), 1), new_axis(as_type(lengths, DType::s32), 0)));
  const auto body = [&](const States& states, const std::vector<Tensor>& step) {
    States next = kind.cell(call, d, step[0], states);
    Tensor shown = next[0];
    if (step.size() > 1) {
      const Tensor counts = new_axis(step[1], 1);
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = select(counts, next[i], states[i]);
      shown = select(counts, shown, zeros_like(shown));
    }
    return std::pair{std::move(next), shown};
  };
  auto [last, shown] = scan(body, start, sequences, {.reverse = d.is_reverse, .unroll = time <= 4});
  return {shown, last};
}

Direction direction_of(const Call& call, const Kind& kind, std::size_t at, std::int64_t units) {
  const auto of = [&](std::size_t i) {
    return reshape(slice_along_axis(call.x(i), static_cast<std::int64_t>(at), 1),
                   call.shape(i).without(0));
  };
  Direction d{.w = transpose(of(1)), .r = transpose(of(2))};
  if (call.has(3)) {
    const Tensor both = of(3);
    d.bias = slice_along_axis(both, 0, kind.gates * units);
    d.hidden_bias = slice_along_axis(both, kind.gates * units, kind.gates * units);
  }
  if (call.has(7)) d.peepholes = of(7);
  std::vector<std::string> names = kind.functions;
  std::size_t before = at * names.size();
  if (const auto* given = call.node().texts("activations")) {
    if (given->size() < before + names.size())
      call.refuse(ErrorCode::invalid_parameter, "too few activations");
    std::copy_n(given->begin() + static_cast<std::ptrdiff_t>(before), names.size(), names.begin());
  }
  const auto* alphas = call.node().reals("activation_alpha");
  const auto* betas = call.node().reals("activation_beta");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = lower_case(names[i]);
    const auto number = [&](const std::vector<float>* list, double fallback) {
      return list && before + i < list->size() ? static_cast<double>((*list)[before + i])
                                               : fallback;
    };
    d.functions.push_back(
        function_of(name, number(alphas, default_alpha(name)), number(betas, default_beta(name))));
    if (!d.functions.back())
      call.refuse(ErrorCode::unsupported, "the activation '" + names[i] + "'");
  }
  return d;
}

/// The weights of all directions.
void check_operands(const Call& call, const Kind& kind, std::int64_t directions) {
  if (call.rank() != 3 || call.rank(1) != 3 || call.rank(2) != 3)
    call.refuse(ErrorCode::shape_mismatch, "X, W and R must have 3 axes");
  const std::int64_t units = call.shape(2)[2];
  const Shape w{directions, kind.gates * units, call.shape()[2]};
  const Shape r{directions, kind.gates * units, units};
  const auto check = [&](std::size_t i, const Shape& expected) {
    if (call.has(i) && call.shape(i) != expected)
      call.refuse(ErrorCode::shape_mismatch, "operand " + std::to_string(i) + ": expected " +
                                                 expected.to_string() + ", got " +
                                                 call.input(i).to_string());
  };
  check(1, w);
  check(2, r);
  check(3, Shape{directions, 2 * kind.gates * units});
  check(7, Shape{directions, 3 * units});
}

Values recurrent(Call& call, const Kind& kind) {
  const bool batch_first = call.node().flag("layout", false);
  const std::string direction = call.node().text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    call.refuse(ErrorCode::invalid_parameter, "direction '" + direction + "'");
  const std::size_t count = direction == "bidirectional" ? 2 : 1;
  check_operands(call, kind, static_cast<std::int64_t>(count));
  const std::int64_t units = call.shape(2)[2];
  Tensor x = call.x();
  if (batch_first) x = transpose(x, Axes{1, 0, 2});
  const std::int64_t batch = x.shape()[1];
  const auto start_of = [&](std::size_t i, std::size_t at) {
    if (!call.has(i)) return zeros({batch, units}, x.dtype());
    Tensor all = call.x(i);
    if (batch_first) all = transpose(all, Axes{1, 0, 2});
    return reshape(slice_along_axis(all, static_cast<std::int64_t>(at), 1), {batch, units});
  };
  std::vector<Tensor> shown;
  std::vector<States> last(kind.states);
  for (std::size_t at = 0; at < count; ++at) {
    Direction d = direction_of(call, kind, at, units);
    d.is_reverse = direction == "reverse" || at == 1;
    States start{start_of(5, at)};
    if (kind.states > 1) start.push_back(start_of(6, at));
    auto [sequence, end] = unrolled(call, kind, d, x, start, call.has(4) ? call.x(4) : Tensor{});
    shown.push_back(std::move(sequence));
    for (std::size_t i = 0; i < kind.states; ++i) last[i].push_back(end[i]);
  }
  // Y: [time, directions, batch, units], or [batch, time, directions, units]; states [directions, batch, units].
  Tensor y = stack(shown, 1);
  if (batch_first) y = transpose(y, Axes{2, 0, 1, 3});
  Values results{call.like(y)};
  for (const States& states : last) {
    const Tensor all = stack(states);
    results.push_back(call.like(batch_first ? transpose(all, Axes{1, 0, 2}) : all));
  }
  return results;
}

void add_recurrent(OperatorTable& table, const char* name, Kind kind) {
  const std::size_t inputs = kind.states > 1 ? 8 : 6;
  const std::size_t outputs = kind.states + 1;
  table.add(
      {.name = name,
       .since = {1, 7, 14, 22},
       .least_inputs = 3,
       .most_inputs = inputs,
       .most_outputs = outputs,
       .types = {.operands = {float_types, like(0), like(0), like(0), ElementType::s32, like(0)},
                 .results = {like(0)}},
       .attributes = {"activation_alpha", "activation_beta", "activations", "clip", "direction",
                      "hidden_size", "input_forget", "layout", "linear_before_reset",
                      "output_sequence"},
       .lower = [kind = std::move(kind)](Call& call) { return recurrent(call, kind); }});
}

}  // namespace

void define(OperatorTable& table) {
  add_recurrent(table, "RNN", {1, 1, {"Tanh"}, &rnn_cell});
  add_recurrent(table, "GRU", {3, 1, {"Sigmoid", "Tanh"}, &gru_cell});
  add_recurrent(table, "LSTM", {4, 2, {"Sigmoid", "Tanh", "Tanh"}, &lstm_cell});
}

}  // namespace stoker::onnx::operators::recurrent
