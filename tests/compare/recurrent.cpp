// Recurrent networks: cells by themselves, and layers over whole sequences with states and masks.
#include "families.hpp"
#include "layer_case.hpp"
#include "stoker/api/nn/functional/recurrent_cells.hpp"

namespace stoker::compare {
namespace {

using List = std::vector<std::int64_t>;

const std::vector<std::string> gates{"sigmoid", "sigmoid", "hard_sigmoid(alpha=0.25, beta=0.5)"};
const std::vector<std::string> shapes{"tanh", "tanh", "softsign", "relu"};

void cell(Draw& draw, Record& record) {
  const bool lstm = draw.chance(0.5);
  const DType dtype = draw.floating();
  const std::int64_t batch = draw.extent(9), features = draw.extent(33), units = draw.extent(33);
  const std::int64_t all = (lstm ? 4 : 3) * units;
  Tensors given;
  Json names = Json::array();
  const auto add = [&](const char* name, const Shape& shape, Range range) {
    names.push_back(name);
    given.push_back(draw.tensor({dtype, shape}, range));
    return given.size() - 1;
  };
  add("x0", {batch, features}, Range::moderate);
  add("h", {batch, units}, Range::unit);
  add("input_kernel", {features, all}, Range::unit);
  add("hidden_kernel", {units, all}, Range::unit);
  if (lstm) add("c", {batch, units}, Range::moderate);
  const std::size_t bias = draw.chance(0.6) ? add("bias", {all}, Range::unit) : 0;
  const std::size_t hidden =
      !lstm && draw.chance(0.6) ? add("hidden_bias", {units}, Range::unit) : 0;
  const std::string gate = draw.of(gates), shape = draw.of(shapes);
  record.add(
      lstm ? "nn.lstm_cell" : "nn.gru_cell",
      {{"options", {{"gate", gate}, {"activation", shape}}}, {"names", names}}, given,
      [&](const Tensors& in) {
        const nn::GateFunctions functions{nn::activation(gate), nn::activation(shape)};
        const Tensor b = bias > 0 ? in[bias] : Tensor{};
        if (lstm) {
          const auto [c, h] = nn::lstm_cell(in[0], {in[4], in[1]}, {in[2], in[3], b}, functions);
          return Tensors{c, h};
        }
        const nn::GruWeights weights{in[2], in[3], b, hidden > 0 ? in[hidden] : Tensor{}};
        return Tensors{nn::gru_cell(in[0], {in[1]}, weights, functions).h};
      },
      layer_way(draw));
}

/// Options that all recurrent layers have.
Params common_options(Draw& draw, std::int64_t units, bool mask) {
  Params options{{"units", units}, {"use_bias", draw.chance(0.7)}, {"padding_mask", mask}};
  if (draw.chance(0.4)) options.set("gate", draw.of(gates));
  if (draw.chance(0.4)) options.set("activation", draw.of(std::vector<std::string>{"softsign"}));
  if (draw.chance(0.3)) options.set("unroll", std::string{"static"});
  if (draw.chance(0.3)) options.set("recurrent_initializer", std::string{"zeros"});
  return options;
}

/// Of [batch, time], or one that broadcasts to it.
Tensor mask_of(Draw& draw, std::int64_t batch, std::int64_t time) {
  static const std::vector<DType> dtypes{DType::boolean, DType::boolean, DType::u8, DType::s32};
  const DType dtype = draw.of(dtypes);
  const Shape shape{draw.chance(0.2) ? 1 : batch, draw.chance(0.1) ? 1 : time};
  return draw.tensor({dtype, shape}, dtype == DType::boolean ? Range::any : Range::unit);
}

void sequence(Draw& draw, Record& record) {
  static const std::vector<std::string> kinds{"lstm", "gru", "bidirectional"};
  const std::string& kind = draw.of(kinds);
  const auto [dtype, variables] = layer_dtypes(draw);
  const std::int64_t batch = draw.extent(5), time = draw.extent(13), units = draw.extent(13);
  const bool mask = draw.chance(0.4);
  Params options = common_options(draw, units, mask);
  bool lstm = kind == "lstm";
  std::int64_t ways = 1;
  if (kind == "bidirectional") {
    static const std::vector<std::string> merges{"concatenate", "add", "multiply", "average"};
    lstm = draw.chance(0.5);
    ways = 2;
    options.set("cell", std::string{lstm ? "lstm" : "gru"});
    options.set("merge", draw.of(merges));
    options.set("shared_weights", draw.chance(0.3));
  } else {
    options.set("reverse", draw.chance(0.4));
  }
  Tensors inputs{draw.tensor({dtype, {batch, time, draw.extent(17)}}, Range::moderate)};
  if (draw.chance(0.4))
    for (std::int64_t i = ways * (lstm ? 2 : 1); i > 0; --i)
      inputs.push_back(draw.tensor({dtype, {draw.chance(0.2) ? 1 : batch, units}}, Range::unit));
  if (mask) inputs.push_back(mask_of(draw, batch, time));
  record_layer(draw, record, {kind, options, inputs, variables, Range::small});
}

void images(Draw& draw, Record& record) {
  const bool mask = draw.chance(0.3), first = draw.chance(0.3);
  const std::int64_t batch = draw.integer(1, 3), time = draw.integer(1, 5);
  Params options = common_options(draw, draw.integer(1, 4), mask);
  List frame, size, strides;
  for (std::int64_t axis = draw.integer(1, 2); axis > 0; --axis) {
    frame.push_back(draw.integer(3, 7));
    size.push_back(draw.integer(1, 3));
    strides.push_back(draw.integer(1, 2));
  }
  options.set("kernel_size", size);
  options.set("strides", strides);
  options.set("padding", std::string{draw.chance(0.6) ? "same" : "valid"});
  options.set("channels", std::string{first ? "first" : "last"});
  options.set("reverse", draw.chance(0.3));
  List extents{batch, time};
  extents.insert(extents.end(), frame.begin(), frame.end());
  extents.insert(first ? extents.begin() + 2 : extents.end(), draw.integer(1, 4));
  const auto [dtype, variables] = layer_dtypes(draw);
  Tensors inputs{draw.tensor({dtype, shape_of(extents)}, Range::moderate)};
  if (mask) inputs.push_back(mask_of(draw, batch, time));
  record_layer(draw, record, {"conv_lstm", options, inputs, variables, Range::small});
}

}  // namespace

void recurrent(Draw& draw, Record& record) {
  const double kind = draw.real(0, 1);
  if (kind < 0.3) return cell(draw, record);
  if (kind < 0.85) return sequence(draw, record);
  images(draw, record);
}

}  // namespace stoker::compare
