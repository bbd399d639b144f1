// Layer normalizations of com.microsoft, and those that ONNX Runtime has in ONNX's own domain.
#include "stoker/tests/onnx/operators/microsoft_node.hpp"

namespace stoker::onnx {
namespace {

class MicrosoftNormalization : public MicrosoftTest {
 protected:
  const std::vector<Attribute> epsilon_{named("epsilon", 0.25F)};

  /// Words, segments, the three tables, gamma, beta.
  static std::vector<Value> embeddings() {
    return {integers_of({1, 0, 2, 1}, {2, 2}),
            integers_of({0, 1, 1, 0}, {2, 2}),
            some({3, 3}, 1),
            some({4, 3}, 2),
            some({2, 3}, 3),
            some({3}, 4),
            some({3}, 5)};
  }
};

TEST_F(MicrosoftNormalization, simplified_has_no_mean) {
  const std::vector<Value> operands{some({2, 3}, 1), some({3}, 2)};
  for (const char* const domain : {"", "com.microsoft"}) {
    const auto out =
        of_microsoft("SimplifiedLayerNormalization", operands, epsilon_, {"y", "inverse"}, domain);
    expect_near(out, "y", {2, 3},
                {-0.4175267F, 1.113404F, 0.1670107F, 0.8985634F, 1.198085F, -0.08985635F});
    expect_near(out, "inverse", {2, 1}, {0.8907235F, 0.9584677F});
  }
}

TEST_F(MicrosoftNormalization, simplified_is_of_the_type_of_its_scale) {
  const Tensor x = some({2, 3}, 1), scale = some({3}, 2);
  const std::vector<float> wanted{-0.4175267F, 1.113404F, 0.1670107F,
                                  0.8985634F,  1.198085F, -0.08985635F};
  for (const char* const op : {"SimplifiedLayerNormalization", "RMSNormalization"}) {
    auto out = of_microsoft(op, {as_type(x, DType::f16), scale}, epsilon_, {"y"}, "", 23);
    EXPECT_EQ(out.at("y").type(), ElementType::f32) << op;
    expect_near(out, "y", {2, 3}, wanted);
    out = of_microsoft(op, {x, as_type(scale, DType::f16)}, epsilon_, {"y"}, "", 23);
    EXPECT_EQ(out.at("y").type(), ElementType::f16) << op;
    expect_near(out, "y", {2, 3}, wanted, 1e-3F);
  }
}

TEST_F(MicrosoftNormalization, layer_normalization_is_older_than_onnx_s_own) {
  const std::vector<Value> operands{some({2, 3}, 1), some({3}, 2), some({3}, 3)};
  for (const char* const domain : {"", "com.microsoft"}) {
    const auto out = of_microsoft("LayerNormalization", operands, epsilon_,
                                  {"y", "mean", "inverse"}, domain, 11);
    expect_near(out, "y", {2, 3},
                {-2.093266F, 1.488372F, 1.374354F, -1.505066F, -1.629883F, 1.277496F});
    expect_near(out, "mean", {2, 1}, {-0.5F, 0.875F});
    expect_near(out, "inverse", {2, 1}, {0.9948319F, 1.759765F});
  }
}

TEST_F(MicrosoftNormalization, skip_is_added_before) {
  // The skip has no batch.
  auto out =
      of_microsoft("SkipLayerNormalization",
                   {some({2, 2, 3}, 1), some({2, 3}, 2), some({3}, 3), some({3}, 4), some({3}, 5)},
                   epsilon_, {"y", "mean", "inverse", "sum"});
  expect_near(out, "y", {2, 2, 3},
              {-0.3434061F, -0.3253796F, -2.90797F, -0.03806078F, -0.3654599F, -2.783929F,
               -1.855915F, 0.1634069F, -3.038644F, 0.2818269F, -0.3951802F, -2.633533F});
  expect_near(out, "mean", {2, 2, 1}, {1.25F, 1.25F, 2.5F, 0.875F});
  expect_near(out, "inverse", {2, 2, 1}, {0.3754586F, 0.3912928F, 0.9847319F, 0.4030342F});
  expect_near(out, "sum", {2, 2, 3},
              {0.875F, 4.625F, -1.75F, 0.5F, 4.625F, -1.375F, 3.125F, 3.125F, 1.25F, -0.25F, 4.25F,
               -1.375F});
  out = of_microsoft("SkipLayerNormalization", {some({2, 3}, 1), some({2, 3}, 2), some({3}, 3)});
  expect_near(out, "y", {2, 3},
              {0.2866911F, -0.9675824F, -1.433455F, 0.7610194F, -1.027376F, -1.236657F});
}

TEST_F(MicrosoftNormalization, skip_is_added_before_the_simplified_one) {
  const auto out = of_microsoft("SkipSimplifiedLayerNormalization",
                                {some({2, 3}, 1), some({2, 3}, 2), some({3}, 3), some({3}, 5)},
                                epsilon_, {"y", "mean", "inverse", "sum"});
  expect_near(out, "y", {2, 3},
              {-0.594803F, -1.178985F, -0.7435037F, -0.3514998F, -1.219265F, -0.6041403F});
  expect_near(out, "mean", {2, 1}, {0, 0});
  expect_near(out, "inverse", {2, 1}, {0.3398874F, 0.3514998F});
  expect_near(out, "sum", {2, 3}, {0.875F, 4.625F, -1.75F, 0.5F, 4.625F, -1.375F});
}

TEST_F(MicrosoftNormalization, operands_that_do_not_fit_are_refused) {
  const Tensor x = some({2, 3, 4}, 1);
  const char* const op = "SkipLayerNormalization";
  EXPECT_NE(refused(op, {x, some({2, 1, 4}, 2), some({4}, 3)})
                .find("skip: expected [2,3,4] or [3,4] or [1,3,4], got float[2,1,4]"),
            std::string::npos);
  EXPECT_NE(refused(op, {some({3, 4}, 1), some({1, 3, 4}, 2), some({4}, 3)})
                .find("skip: expected [3,4], got float[1,3,4]"),
            std::string::npos);
  EXPECT_NE(refused(op, {x, x, some({1}, 3)}).find("gamma: expected [4]"), std::string::npos);
  EXPECT_NE(refused(op, {x, x, some({4}, 3), some({3}, 3)}).find("beta: expected [4]"),
            std::string::npos);
  EXPECT_NE(refused(op, {x, x, some({4}, 3), none(), some({3}, 3)}).find("bias: expected [4]"),
            std::string::npos);
  EXPECT_NE(refused(op, {some({4}, 1), some({4}, 1), some({4}, 3)})
                .find("input: expected 2 or 3 axes, got float[4]"),
            std::string::npos);
}

TEST_F(MicrosoftNormalization, embeddings_are_summed_and_normalized) {
  std::vector<Value> operands = embeddings();
  operands.push_back(integers_of({1, 0, 1, 1}, {2, 2}));
  const auto out =
      of_microsoft("EmbedLayerNormalization", operands, epsilon_, {"y", "shown", "sum"});
  expect_near(out, "y", {2, 2, 3},
              {1.519322F, 2.384661F, -1.048186F, 0.9334185F, 2.825383F, 1.415715F, 0.0114013F,
               1.507601F, 0.465879F, 1.505086F, 2.710669F, -0.2316004F});
  expect_near(
      out, "sum", {2, 2, 3},
      {0, 1.875F, 1.875F, -2.25F, 1.875F, -4.125F, 2.25F, 0.375F, 0.75F, -2.25F, 1.875F, 0});
  EXPECT_EQ(whole(out, "shown"), (std::vector<std::int64_t>{1, 2}));
}

TEST_F(MicrosoftNormalization, embeddings_without_segments_are_of_the_first) {
  std::vector<Value> operands = embeddings();
  operands[1] = none();
  operands.push_back(none());
  operands.push_back(integers_of({3, 1}, {1, 2}));
  const auto out =
      of_microsoft("EmbedLayerNormalization", operands, epsilon_, {"y", "shown", "sum"});
  expect_near(out, "y", {2, 2, 3},
              {0.5571208F, 2.482198F, 1.495185F, 1.391965F, 2.825383F, 0.3152044F, 0.157073F,
               1.407073F, -0.125F, 1.505086F, 2.710669F, -0.2316004F});
  expect_near(out, "sum", {2, 2, 3},
              {1.125F, 1.5F, 0, -4.125F, 1.875F, -2.25F, 1.5F, 0, 0.75F, -2.25F, 1.875F, 0});
  EXPECT_EQ(whole(out, "shown"), (std::vector<std::int64_t>{0, 0}));
}

TEST_F(MicrosoftNormalization, embeddings_that_do_not_fit_are_refused) {
  const auto without = [&](std::size_t i, const Value& other) {
    std::vector<Value> operands = embeddings();
    operands.resize(9);
    operands[i] = other;
    return refused("EmbedLayerNormalization", operands);
  };
  EXPECT_NE(without(1, integers_of({1, 0}, {2, 1})).find("segment_ids: expected [2,2]"),
            std::string::npos);
  EXPECT_NE(without(3, some({4, 2}, 1)).find("position_embedding: expected [?,3]"),
            std::string::npos);
  EXPECT_NE(without(3, some({1, 3}, 1)).find("expected rows for 2 positions, got float[1,3]"),
            std::string::npos);
  EXPECT_NE(without(5, some({2}, 1)).find("gamma: expected [3]"), std::string::npos);
  EXPECT_NE(without(7, integers_of({1, 0}, {2})).find("mask: expected [2,2]"), std::string::npos);
}

}  // namespace
}  // namespace stoker::onnx
