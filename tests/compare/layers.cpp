// Layers of vectors: products, normalizations, tables, and what is left out while training.
#include "families.hpp"
#include "layer_case.hpp"

namespace stoker::compare {
namespace {

/// [batch, …, features] with at most `rank` axes.
std::vector<std::int64_t> rows(Draw& draw, std::size_t rank, std::int64_t features) {
  std::vector<std::int64_t> extents{draw.extent(17)};
  while (extents.size() + 1 < rank && draw.chance(0.5)) extents.push_back(draw.extent(8));
  extents.push_back(features);
  return extents;
}

void dense(Draw& draw, Record& record) {
  const auto [dtype, variables] = layer_dtypes(draw);
  const bool two = draw.chance(0.2);
  const Shape x = shape_of(rows(draw, 4, draw.extent(two ? 17 : 130)));
  Tensors inputs{draw.tensor({dtype, x}, Range::moderate)};
  if (two)
    inputs.push_back(draw.tensor({dtype, x.with(x.rank() - 1, draw.extent(17))}, Range::moderate));
  record_layer(draw, record,
               {two ? "bilinear" : "dense",
                {{"units", draw.extent(two ? 17 : 65)},
                 {"use_bias", draw.chance(0.7)},
                 {"activation", activation_name(draw)}},
                inputs,
                variables});
}

/// What normalizing layers of that kind take.
Params normalization_options(Draw& draw, std::string_view kind, std::int64_t axis,
                             std::int64_t groups) {
  Params options;
  if (axis > 0) options.set("channel_index", axis);
  if (draw.chance(0.4)) options.set("epsilon", draw.of(std::vector<double>{1e-3, 1e-2, 0.5}));
  if (kind == "group_norm") options.set("groups", groups);
  if (kind == "rms_norm") {
    if (draw.chance(0.4)) options.set("shift", draw.of(std::vector<double>{1, 0.3}));
    if (draw.chance(0.4)) options.set("upcast", std::string{"all"});
  }
  if (kind == "batch_norm" || kind == "instance_norm") {
    if (draw.chance(0.4)) options.set("momentum", draw.of(std::vector<double>{0, 0.9, 0.25, 1}));
    if (draw.chance(0.2)) options.set("running", false);
  }
  return options;
}

void normalization(Draw& draw, Record& record) {
  static const std::vector<std::string> kinds{"batch_norm", "batch_norm", "instance_norm",
                                              "layer_norm", "group_norm", "rms_norm"};
  const std::string& kind = draw.of(kinds);
  const std::int64_t groups = draw.integer(1, 4);
  const std::int64_t channels = kind == "group_norm" ? groups * draw.extent(17) : draw.extent(65);
  const std::int64_t space = draw.integer(kind == "instance_norm" ? 1 : 0, 3);
  std::vector<std::int64_t> extents{draw.extent(17)};
  for (std::int64_t i = 0; i < space; ++i) extents.push_back(draw.extent(9));
  // The last axis, or one that is named.
  const std::int64_t axis = draw.chance(0.6) ? 0 : draw.integer(1, space + 1);
  extents.insert(axis > 0 ? extents.begin() + axis : extents.end(), channels);
  const auto [dtype, variables] = layer_dtypes(draw);
  record_layer(draw, record,
               {.kind = kind,
                .options = normalization_options(draw, kind, axis, groups),
                .inputs = {draw.tensor({dtype, shape_of(extents)},
                                       draw.chance(0.8) ? Range::moderate : Range::positive)},
                .variables = variables,
                .training = draw.chance(0.6)});
}

void table(Draw& draw, Record& record) {
  const DType dtype = draw.floating();
  if (draw.chance(0.3)) {
    const std::int64_t time = draw.extent(33);
    const Shape x{draw.extent(9), time, draw.extent(33)};
    return record_layer(draw, record,
                        {"position_embedding",
                         {{"length", time + draw.integer(0, 5)}},
                         {draw.tensor({dtype, x}, Range::moderate)},
                         layer_dtypes(draw).variables});
  }
  static const std::vector<DType> integers{DType::s32, DType::s64, DType::u8,
                                           DType::u32, DType::s8,  DType::u16};
  const DType index = draw.of(integers);
  const TensorSpec spec{index, draw.array(3, 300)};
  const std::int64_t rows = draw.extent(100);
  // Among them such as are not in the table.
  const Tensor x = draw.chance(0.2) ? draw.tensor(spec, Range::any)
                                    : draw.integers(spec, is_signed(index) ? -3 : 0, rows + 2);
  record_layer(draw, record,
               {"embedding",
                {{"vocab_size", rows}, {"embedding_size", draw.extent(33)}},
                {x},
                dtype,
                Range::any});
}

void dropout(Draw& draw, Record& record) {
  static const std::vector<std::string> kinds{"dropout", "spatial_dropout", "alpha_dropout",
                                              "feature_alpha_dropout"};
  const Shape x = shape_of(rows(draw, 4, draw.extent(130)));
  record_layer(draw, record,
               {.kind = draw.of(kinds),
                .options = {{"rate", draw.of(std::vector<double>{0, 0.1, 0.25, 0.5, 0.9})}},
                .inputs = {draw.tensor({draw.floating(), x}, Range::moderate)},
                .training = draw.chance(0.85)});
}

}  // namespace

void layers(Draw& draw, Record& record) {
  const double kind = draw.real(0, 1);
  if (kind < 0.3) return dense(draw, record);
  if (kind < 0.8) return normalization(draw, record);
  if (kind < 0.9) return table(draw, record);
  dropout(draw, record);
}

}  // namespace stoker::compare
