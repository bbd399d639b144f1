// Every kind of layer: its gradients by floating-point inputs and parameters, through all of its
// outputs, against central differences in f64; and that it gives the same as one program. A kind
// without a case here fails the last test.
#include <set>

#include "stoker/tests/nn/layer_fixture.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

struct GradientCase {
  std::string name;  ///< of the test
  std::string kind;
  Params options = {};
  std::vector<Shape> shapes;  ///< of inputs of numbers from low to high
  bool training = false;
  double low = -1;
  double high = 1;
};

void PrintTo(const GradientCase& one, std::ostream* out) { *out << one.name; }

/// Inputs in front of those, which have no gradients.
std::vector<Tensor> integers_of(const std::string& kind) {
  if (kind == "embedding") return {tensor({{1, 0, 3}, {2, 2, 1}})};
  if (kind == "cond") return {tensor({{1, 0, 1}, {0, 0, 1}})};
  return {};
}

std::vector<GradientCase> cases() {
  const Shape image{2, 5, 4, 2};
  const Shape line{2, 6, 3};
  const Shape volume{1, 3, 3, 2, 2};
  const Shape sequence{2, 3, 2};
  const Shape matrix{3, 4};
  const auto recurrent = [](const char* cell) {
    return Params{{"units", 2}, {"cell", cell}, {"merge", "multiply"}};
  };
  return {
      // Products
      {"dense", "dense", {{"units", 3}, {"activation", "tanh"}}, {{2, 3, 4}}},
      {"bilinear", "bilinear", {{"units", 3}, {"activation", "sigmoid"}}, {{2, 2, 4}, {2, 2, 3}}},
      {"embedding", "embedding", {{"vocab_size", 4}, {"embedding_size", 2}}, {}},
      {"quantized_dense", "quantized_dense", {{"units", 3}}, {matrix}},
      {"position_embedding", "position_embedding", {{"length", 4}}, {sequence}},
      {"bias", "bias", {}, {matrix}},
      // Convolutions
      {"conv", "conv", {{"units", 2}, {"kernel_size", {2, 3}}, {"strides", {1, 2}}}, {image}},
      {"conv_of_groups",
       "conv",
       {{"units", 4},
        {"kernel_size", 2},
        {"feature_group_size", 2},
        {"pads", {1, 0}},
        {"kernel_dilation", 2}},
       {{2, 6, 4}}},
      {"depthwise_conv", "depthwise_conv", {{"multiplier", 2}, {"kernel_size", 2}}, {image}},
      {"conv_transpose_of_lines",
       "conv_transpose",
       {{"units", 2}, {"kernel_size", 3}, {"strides", 2}, {"padding", "same"}},
       {line}},
      {"conv_transpose_of_images",
       "conv_transpose",
       {{"units", 2}, {"kernel_size", 2}, {"strides", {2, 3}}, {"kernel_dilation", {2, 1}}},
       {{1, 3, 2, 2}}},
      {"conv_transpose_of_volumes", "conv_transpose", {{"units", 1}, {"kernel_size", 2}}, {volume}},
      {"separable_conv2d",
       "separable_conv2d",
       {{"multiplier", 2}, {"kernel_size", {3, 2}}, {"strides", {2, 1}}},
       {image}},
      {"separable_conv3d", "separable_conv3d", {{"kernel_size", 2}, {"padding", "same"}}, {volume}},
      {"conv_lstm", "conv_lstm", {{"units", 1}, {"kernel_size", 2}}, {{1, 2, 3, 2}}},
      // Pools
      {"max_pool", "max_pool", {{"kernel_size", 2}, {"strides", 1}}, {image}},
      {"avg_pool", "avg_pool", {{"kernel_size", 2}, {"padding", "same"}}, {image}},
      {"lp_pool", "lp_pool", {{"kernel_size", 2}, {"norm", 3.0}}, {image}, false, 0.2, 2},
      {"adaptive_max_pool", "adaptive_max_pool", {{"output_size", {2, 3}}}, {image}},
      {"adaptive_avg_pool", "adaptive_avg_pool", {{"output_size", {2, 3}}}, {image}},
      {"adaptive_lp_pool", "adaptive_lp_pool", {{"output_size", 2}}, {image}, false, 0.2, 2},
      {"global_max_pool", "global_max_pool", {}, {image}},
      {"global_avg_pool", "global_avg_pool", {{"keepdims", true}}, {line}},
      {"global_lp_pool", "global_lp_pool", {}, {image}, false, 0.2, 2},
      {"blur_pool", "blur_pool", {{"strides", 2}}, {image}},
      // Normalisations
      {"batch_norm_while_training", "batch_norm", {}, {matrix}, true},
      {"batch_norm", "batch_norm", {{"channel_index", 1}}, {image}},
      {"instance_norm_while_training", "instance_norm", {}, {image}, true},
      {"instance_norm", "instance_norm", {}, {image}},
      {"instance_norm_channels_first", "instance_norm", {{"channel_index", 1}}, {image}, true},
      {"layer_norm", "layer_norm", {}, {matrix}},
      {"layer_norm_of_axis_1", "layer_norm", {{"channel_index", 1}}, {sequence}},
      {"group_norm", "group_norm", {{"groups", 2}}, {{2, 3, 4}}},
      {"group_norm_of_axis_1", "group_norm", {{"groups", 2}, {"channel_index", 1}}, {{2, 4, 3}}},
      {"rms_norm", "rms_norm", {{"shift", 0.5}}, {matrix}},
      // What training leaves out: the same key draws the same numbers
      {"dropout", "dropout", {}, {matrix}, true},
      {"spatial_dropout", "spatial_dropout", {}, {image}, true},
      {"alpha_dropout", "alpha_dropout", {}, {matrix}, true},
      {"feature_alpha_dropout", "feature_alpha_dropout", {}, {image}, true},
      // Shapes
      {"activation", "activation", {{"function", "silu"}}, {matrix}},
      {"flatten", "flatten", {}, {sequence}},
      {"reshape", "reshape", {{"shape", {3, -1}}}, {sequence}},
      {"transpose", "transpose", {}, {sequence}},
      {"pad", "pad", {{"config", {1, 0, -1, 2}}, {"value", 3.0}}, {image}},
      {"resize_nearest", "resize", {{"shape", {3, 7}}}, {image}},
      {"resize_bilinear", "resize", {{"shape", {3, 7}}, {"method", "bilinear"}}, {image}},
      {"resize_bicubic", "resize", {{"shape", 6}, {"method", "bicubic"}}, {line}},
      {"resize_lanczos", "resize", {{"shape", {8, 3}}, {"method", "lanczos3"}}, {image}},
      // Several inputs, several outputs
      {"add", "add", {}, {matrix, {1, 4}, matrix}},
      {"subtract", "subtract", {}, {matrix, matrix}},
      {"multiply", "multiply", {}, {matrix, matrix, {3, 1}}},
      {"concatenate", "concatenate", {{"axis", 1}}, {sequence, {2, 1, 2}}},
      {"stack_columns", "stack_columns", {{"ignore", {1}}}, {matrix, matrix, {3, 2, 2}}},
      {"cond", "cond", {}, {{2, 3}, {2, 3}}},
      {"or_else", "or_else", {}, {{2, 3}, {2, 3}}},
      {"split", "split", {{"splits", {1, 3}}}, {matrix}},
      // Sequences
      {"lstm", "lstm", {{"units", 2}}, {sequence}},
      {"lstm_with_states", "lstm", {{"units", 2}}, {sequence, {2, 2}, {2, 2}}},
      {"gru", "gru", {{"units", 2}, {"reverse", true}}, {sequence}},
      {"bidirectional_lstm", "bidirectional", recurrent("lstm"), {sequence}},
      {"bidirectional_gru", "bidirectional", recurrent("gru"), {sequence}},
      {"attention", "attention", {}, {{2, 3, 4}, {2, 5, 4}, {2, 5, 2}}},
      {"multi_head_attention", "multi_head_attention", {{"heads", 2}}, {{2, 3, 4}}},
  };
}

class LayerGradients : public Tensors, public testing::WithParamInterface<GradientCase> {
 protected:
  /// What does not change: integers and states.
  struct Given {
    std::vector<Tensor> integers;
    Variables states;
    std::vector<std::string> parameters;
    std::vector<Tensor> at;  ///< inputs, then parameters
    std::size_t inputs = 0;
  };

  static Given given(const OneLayer& layer, const GradientCase& one) {
    Given made;
    made.integers = integers_of(one.kind);
    for (const Shape& shape : one.shapes)
      made.at.push_back(
          sample(shape, one.low, one.high, static_cast<double>(made.at.size()) + 0.5));
    made.inputs = made.at.size();
    std::vector<Tensor> all = made.integers;
    all.insert(all.end(), made.at.begin(), made.at.end());
    for (const VariableSpec& spec : layer.variables(all)) {
      const Tensor value =
          sample(spec.shape, 0.4, 1.2, static_cast<double>(made.parameters.size()) + 3);
      if (spec.kind == VariableKind::parameter) {
        made.parameters.push_back(spec.name);
        made.at.push_back(value);
      } else {
        made.states[spec.name] = is_integer(spec.dtype) ? as_type(value * 50, spec.dtype) : value;
      }
    }
    return made;
  }

  /// All outputs behind each other.
  static Tensor outputs(const OneLayer& layer, const GradientCase& one, const Given& known,
                        const std::vector<Tensor>& at) {
    std::vector<Tensor> inputs = known.integers;
    inputs.insert(inputs.end(), at.begin(), at.begin() + static_cast<std::ptrdiff_t>(known.inputs));
    Variables variables = known.states;
    for (std::size_t i = 0; i < known.parameters.size(); ++i)
      variables.insert_or_assign(known.parameters[i], at[known.inputs + i]);
    std::vector<Tensor> flat;
    for (const Tensor& y : layer(inputs, variables, one.training).outputs)
      flat.push_back(flatten(y));
    return concatenate(flat);
  }
};

TEST_P(LayerGradients, are_those_of_differences) {
  const GradientCase& one = GetParam();
  const OneLayer layer{one.kind, one.options};
  const Given known = given(layer, one);
  ASSERT_FALSE(known.at.empty());
  expect_gradient([&](const std::vector<Tensor>& at) { return outputs(layer, one, known, at); },
                  known.at);
}

TEST_P(LayerGradients, come_with_the_same_numbers_from_one_program) {
  const GradientCase& one = GetParam();
  const OneLayer layer{one.kind, one.options};
  const Given known = given(layer, one);
  const auto program =
      jit([&](const std::vector<Tensor>& at) { return outputs(layer, one, known, at); });
  expect_near(program(known.at), outputs(layer, one, known, known.at).to_vector<double>(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LayerGradients, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

TEST(EveryLayer, has_a_test_of_its_gradients) {
  const std::set<std::string> without{"mask"};  // integers to integers
  std::set<std::string> tested{without};
  for (const GradientCase& one : cases()) tested.insert(one.kind);
  for (const LayerDefinition* const kind : layer_table().list())
    EXPECT_TRUE(tested.contains(kind->name)) << kind->name << " has no case in cases() above";
}

}  // namespace
}  // namespace stoker::nn
