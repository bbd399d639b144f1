// Attention: the function with masks, and the layers of it.
#include <cmath>

#include "families.hpp"
#include "layer_case.hpp"
#include "stoker/api/nn/functional/attention.hpp"

namespace stoker::compare {
namespace {

using List = std::vector<std::int64_t>;

/// Some are so much alike that one takes all, others hardly; with few digits the former say nothing.
Range operands(Draw& draw, DType dtype) {
  return dtype != DType::bf16 && draw.chance(0.5) ? Range::moderate : Range::unit;
}

/// Numbers that are added, or such as say which keys take part.
Tensor mask_of(Draw& draw, const Shape& shape, DType dtype) {
  static const std::vector<DType> integers{DType::boolean, DType::boolean, DType::u8, DType::s32};
  if (draw.chance(0.3))
    return draw.tensor({draw.chance(0.5) ? dtype : DType::f32, shape}, Range::moderate);
  const DType kind = draw.of(integers);
  return draw.tensor({kind, shape}, kind == DType::boolean ? Range::any : Range::unit);
}

void function(Draw& draw, Record& record) {
  const DType dtype = draw.floating();
  const std::int64_t queries = draw.extent(17), keys = draw.extent(33), size = draw.extent(65);
  List leading;
  for (std::int64_t i = draw.integer(0, 2); i > 0; --i) leading.push_back(draw.extent(4));
  const Range range = operands(draw, dtype);
  const auto tensor = [&](std::int64_t rows, std::int64_t columns, bool whole) {
    List extents = leading;
    for (std::int64_t& one : extents)
      if (!whole && draw.chance(0.15)) one = 1;
    extents.push_back(rows);
    extents.push_back(columns);
    return draw.tensor({dtype, shape_of(extents)}, range);
  };
  Tensors given{tensor(queries, size, true), tensor(keys, size, false)};
  if (draw.chance(0.1)) {
    nn::AttentionOptions options{.dropout = draw.of(std::vector<double>{0.1, 0.5, 0.8})};
    options.key = random::key(static_cast<std::uint64_t>(draw.integer(0, 1 << 30))).eval();
    // Values that are one of each show the weights.
    return record.add(
        "nn.attention_dropout", {{"options", {{"dropout", options.dropout}}}}, given,
        [&](const Tensors& in) {
          return Tensors{nn::scaled_dot_product_attention(in[0], in[1], eye(keys, dtype), options)};
        });
  }
  given.push_back(tensor(keys, draw.extent(17), false));
  nn::AttentionOptions options{.causal = draw.chance(0.4)};
  if (draw.chance(0.3)) options.scale = draw.real(0.05, 1);
  Json attributes{{"causal", options.causal}};
  if (options.scale) attributes["scale"] = *options.scale;
  // What takes no part may be said by -∞, too, which is added.
  bool infinite = false;
  if (draw.chance(0.6)) {
    List scores = leading;
    scores.push_back(queries);
    scores.push_back(keys);
    given.push_back(mask_of(draw, draw.beside(shape_of(scores)), dtype));
    infinite = given[3].dtype() == DType::boolean && draw.chance(0.3);
  }
  record.add(
      "nn.attention", {{"options", attributes}, {"infinite", infinite}}, given,
      [&](const Tensors& in) {
        nn::AttentionOptions how = options;
        if (in.size() > 3) how.mask = infinite ? select(in[3], 0.0, -HUGE_VAL) : in[3];
        return Tensors{nn::scaled_dot_product_attention(in[0], in[1], in[2], how)};
      },
      layer_way(draw));
}

void layer(Draw& draw, Record& record) {
  const bool several = draw.chance(0.7);
  const auto [dtype, variables] = layer_dtypes(draw);
  const std::int64_t batch = draw.integer(1, 4), queries = draw.extent(13);
  const std::int64_t heads = draw.integer(1, 4), features = heads * draw.extent(9);
  const std::int64_t given = draw.integer(several ? 1 : 2, 3);
  const std::int64_t keys = given > 1 ? draw.extent(13) : queries;
  const Range range = operands(draw, dtype);
  const auto tensor = [&](std::int64_t time, std::int64_t size) {
    return draw.tensor({dtype, {batch, time, size}}, range);
  };
  Tensors inputs{tensor(queries, features)};
  if (given > 1) inputs.push_back(tensor(keys, several ? draw.extent(17) : features));
  if (given > 2) inputs.push_back(tensor(keys, draw.extent(17)));
  Params options{{"causal", draw.chance(0.3)}};
  if (draw.chance(0.5)) {
    List extents{batch, keys};
    if (draw.chance(0.5)) extents.insert(extents.begin() + 1, queries);
    if (several && extents.size() == 3 && draw.chance(0.5))
      extents.insert(extents.begin() + 1, heads);
    options.set("mask", true);
    inputs.push_back(mask_of(draw, shape_of(extents), dtype));
  }
  if (several) {
    options.set("heads", heads);
    options.set("use_bias", draw.chance(0.6));
    if (draw.chance(0.4)) options.set("key_size", draw.extent(9));
  } else if (draw.chance(0.4)) {
    options.set("scale", draw.real(0.05, 1));
  }
  record_layer(
      draw, record,
      {several ? "multi_head_attention" : "attention", options, inputs, variables, Range::small});
}

}  // namespace

void attention(Draw& draw, Record& record) {
  if (draw.chance(0.6)) return function(draw, record);
  layer(draw, record);
}

}  // namespace stoker::compare
