// Attention and MultiHeadAttention of com.microsoft: two heads, batches of two.
#include <limits>

#include "stoker/tests/onnx/operators/microsoft_node.hpp"

namespace stoker::onnx {
namespace {

class MicrosoftAttention : public MicrosoftTest {
 protected:
  static std::vector<Attribute> with(std::vector<Attribute> more = {}) {
    more.push_back(named("num_heads", std::int64_t{2}));
    return more;
  }
  /// Input, weights and bias; mask, past and what is added to scores if they are given.
  NamedValues attention(const Value& mask = {}, const Value& past = {}, const Value& bias = {},
                        std::vector<Attribute> attributes = {},
                        const std::vector<std::string>& outputs = {"y"}) {
    return of_microsoft("Attention",
                        {some({2, 2, 3}, 1), some({3, 12}, 2), some({12}, 3), mask, past, bias},
                        with(std::move(attributes)), outputs);
  }
  const Tensor q_ = some({2, 2, 4}, 1), k_ = some({2, 3, 4}, 2), v_ = some({2, 3, 2}, 3);
  const Attribute forward_ = named("unidirectional", std::int64_t{1});
};

TEST_F(MicrosoftAttention, projects_one_input) {
  auto out = attention();
  expect_near(out, "y", {2, 2, 4},
              {-1.796634F, 1.327422F, -3.286818F, 0.004235612F, -0.015625F, -3.875F, -4.099277F,
               0.4382199F, -0.5312501F, 0.3437522F, 1.121965F, -1.631063F, -0.5312514F, 0.3437731F,
               1.248148F, -1.726435F});
  out = of_microsoft("Attention", {some({2, 2, 3}, 1), some({3, 10}, 2), some({10}, 3)},
                     with({named("qkv_hidden_sizes", std::vector<std::int64_t>{4, 4, 2})}));
  expect_near(out, "y", {2, 2, 2},
              {0.5997552F, 0.2416723F, 0.310468F, -0.3670265F, 1.146009F, -0.355061F, 0.7015423F,
               0.06386194F});
}

TEST_F(MicrosoftAttention, masks_say_where_keys_end_and_start) {
  auto out = attention(integers_of({1, 2}, {2}));
  expect_near(out, "y", {2, 2, 4},
              {-0.015625F, -3.875F, -5.53125F, 1.203125F, -0.015625F, -3.875F, -5.53125F, 1.203125F,
               -0.5312501F, 0.3437522F, 1.121965F, -1.631063F, -0.5312514F, 0.3437731F, 1.248148F,
               -1.726435F});
  out = attention(integers_of({2, 2, 1, 0}, {4}));
  expect_near(out, "y", {2, 2, 4},
              {-1.796875F, 1.328125F, 2.015625F, -2.828125F, -1.796875F, 1.328125F, 2.015625F,
               -2.828125F, -0.5312501F, 0.3437522F, 1.121965F, -1.631063F, -0.5312514F, 0.3437731F,
               1.248148F, -1.726435F});
  // The numbers behind the ends are for packed kernels.
  out = attention(integers_of({1, 2, 0, 2, 4, 0, 2, 4}, {8}));
  expect_near(out, "y", {2, 2, 4},
              {-0.015625F, -3.875F, -5.53125F, 1.203125F, -0.015625F, -3.875F, -5.53125F, 1.203125F,
               -0.5312501F, 0.3437522F, 1.121965F, -1.631063F, -0.5312514F, 0.3437731F, 1.248148F,
               -1.726435F});
}

TEST_F(MicrosoftAttention, masks_say_which_keys_are_visible) {
  auto out = attention(integers_of({1, 0, 0, 1}, {2, 2}), none(), none(),
                       {named("mask_filter_value", -1.0F)});
  expect_near(out, "y", {2, 2, 4},
              {-1.796221F, 1.326216F, -4.514412F, 0.6599693F, -0.015625F, -3.875F, -4.932661F,
               0.8833817F, -0.5312501F, 0.3437508F, 1.065104F, -1.588087F, -0.5312505F, 0.3437585F,
               1.113852F, -1.624932F});
  const Tensor each = integers_of({1, 0, 0, 1, 1, 1, 0, 1}, {2, 2, 2});
  out = attention(each);
  expect_near(
      out, "y", {2, 2, 4},
      {-0.015625F, -3.875F, -5.53125F, 1.203125F, -1.796875F, 1.328125F, 2.015625F, -2.828125F,
       -0.5312501F, 0.3437522F, 1.121965F, -1.631063F, -0.53125F, 0.34375F, 1.03125F, -1.5625F});
  // ONNX Runtime has this form on GPUs only. It is the one before in the first rows and columns.
  out = attention(pad(new_axis(each, 1), 0, {{}, {}, {0, 1}, {0, 1}}));
  expect_near(
      out, "y", {2, 2, 4},
      {-0.015625F, -3.875F, -5.53125F, 1.203125F, -1.796875F, 1.328125F, 2.015625F, -2.828125F,
       -0.5312501F, 0.3437522F, 1.121965F, -1.631063F, -0.53125F, 0.34375F, 1.03125F, -1.5625F});
  out = attention(integers_of({0, 1}, {2, 1}));
  expect_near(out, "y", {2, 2, 4},
              {-1.796634F, 1.327422F, -3.286818F, 0.004235612F, -0.015625F, -3.875F, -4.099277F,
               0.4382199F, -0.5312501F, 0.3437522F, 1.121965F, -1.631063F, -0.5312514F, 0.3437731F,
               1.248148F, -1.726435F});
}

TEST_F(MicrosoftAttention, looks_back_and_adds_to_scores) {
  const auto out =
      attention(none(), none(), some({2, 2, 2, 2}, 5), {forward_, named("scale", 0.25F)});
  expect_near(
      out, "y", {2, 2, 4},
      {-0.015625F, -3.875F, -5.53125F, 1.203125F, -0.01564811F, -3.874933F, 0.1474431F, -1.830214F,
       -0.765625F, 4.28125F, 5.0625F, -4.609375F, -0.6124836F, 1.708474F, 2.660024F, -2.79355F});
}

TEST_F(MicrosoftAttention, hidden_keys_have_the_lowest_number) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  // The first query's own key has it from the mask: it looks at all.
  auto out = attention(integers_of({0, 1, 1, 0}, {2, 2}), none(), none(),
                       {forward_, named("mask_filter_value", lowest)});
  expect_near(
      out, "y", {2, 2, 4},
      {-0.90625F, -1.273438F, -1.757813F, -0.8125F, -1.796875F, 1.328125F, 2.015625F, -2.828125F,
       -0.765625F, 4.28125F, 5.0625F, -4.609375F, -0.765625F, 4.28125F, 5.0625F, -4.609375F});
  out = of_microsoft("MultiHeadAttention", {q_, k_, v_}, with({forward_}), {"y", "", "", "scores"});
  expect_near(out, "scores", {2, 2, 2, 3},
              {0.5524272F,  lowest, lowest, 1.392116F,   -0.1767767F, 0.4419417F,
               -1.193243F,  lowest, lowest, 0.7844466F,  -1.602039F,  3.104641F,
               -0.3535534F, lowest, lowest, -1.171146F,  -0.9059805F, -1.138F,
               -0.4198447F, lowest, lowest, -0.9280776F, -1.811961F,  1.546796F});
}

TEST_F(MicrosoftAttention, a_past_stands_before_the_keys) {
  const auto out = attention(integers_of({1, 1, 1, 0, 1, 1}, {2, 3}), some({2, 2, 2, 1, 2}, 6),
                             none(), {forward_}, {"y", "present"});
  expect_near(out, "y", {2, 2, 4},
              {0.1239035F, -0.8983915F, -2.43065F, -0.08329383F, -0.01562435F, -3.874986F,
               -1.330294F, -0.5516134F, -0.765625F, 4.28125F, 5.0625F, -4.609375F, -0.5312514F,
               0.3437731F, 1.248148F, -1.726435F});
  expect_near(
      out, "present", {2, 2, 2, 3, 2},
      {-2,        -0.75F,    -4.828125F, 2.09375F,   2.578125F,  -3.625F,    1.25F,      -0.125F,
       -0.125F,   0.890625F, 1.140625F,  2.953125F,  -0.75F,     -0.625F,    5.484375F,  -5.40625F,
       1.3125F,   -2.21875F, 0.25F,      1.875F,     -0.96875F,  3.328125F,  1.28125F,   2.53125F,
       0.125F,    -0.875F,   -0.015625F, -3.875F,    -1.796875F, 1.328125F,  -1.125F,    -0.625F,
       -5.53125F, 1.203125F, 2.015625F,  -2.828125F, 0.625F,     -1.5F,      -0.765625F, 4.28125F,
       -0.53125F, 0.34375F,  1.25F,      0.625F,     5.0625F,    -4.609375F, 1.03125F,   -1.5625F});
}

TEST_F(MicrosoftAttention, of_three_operands) {
  auto out = of_microsoft("MultiHeadAttention", {q_, k_, v_}, with());
  expect_near(out, "y", {2, 2, 2},
              {-1.060906F, -0.1624724F, -1.272555F, -0.6320121F, -0.03453416F, -0.2504668F,
               -0.2247168F, -0.4447068F});
  // The last query looks at all keys.
  out = of_microsoft("MultiHeadAttention", {q_, k_, v_}, with({forward_}));
  expect_near(out, "y", {2, 2, 2},
              {-2, -0.75F, -1.272555F, -0.6320122F, 0.25F, 1.875F, -0.2247167F, -0.4447068F});
}

TEST_F(MicrosoftAttention, scores_with_what_is_added_are_an_output) {
  const auto out = of_microsoft(
      "MultiHeadAttention",
      {q_, k_, v_, some({10}, 4), integers_of({1, 0, 1, 1, 1, 0}, {2, 3}), some({1, 2, 2, 3}, 5)},
      with(), {"y", "keys", "values", "scores"});
  expect_near(out, "y", {2, 2, 2},
              {0.3577146F, -0.2488967F, -0.06320921F, -0.2474028F, 1.671261F, 0.3145346F, 1.629586F,
               2.162855F});
  expect_near(out, "keys", {2, 2, 3, 2},
              {1.375F, 2.75F,   2.625F, -1.25F,  -0.625F, 2.625F, 1.5F, -2.375F,
               0.5F,   -0.375F, 3.25F,  -2.875F, -0.125F, 2,      0,    1,
               -0.25F, -0.375F, 1.5F,   -1.625F, 3.5F,    -0.75F, 1,    -0.25F});
  expect_near(out, "values", {2, 2, 3, 1},
              {-0.5F, 2.75F, 0.75F, -0.25F, 0.375F, -0.125F, 1.75F, 1.625F, 0.375F, 2.375F, -0.375F,
               -0.125F});
  expect_near(out, "scores", {2, 2, 2, 3},
              {1.96534F,   -10001.42F, 2.747621F,  1.173748F,   -9999.216F, 0.5522134F,
               -8.505426F, -10001.22F, -13.22662F, 1.377815F,   -9998.431F, -2.475087F,
               2.26365F,   2.795495F,  -10000.58F, -0.9144272F, 2.353553F,  -10002.38F,
               -4.748922F, -3.654252F, -10002.49F, -5.041388F,  -7.523193F, -10004.7F});
}

TEST_F(MicrosoftAttention, keys_and_values_by_heads_get_no_bias) {
  const auto out =
      of_microsoft("MultiHeadAttention",
                   {q_, some({2, 2, 3, 2}, 2), some({2, 2, 3, 2}, 3), some({12}, 4)}, with());
  expect_near(out, "y", {2, 2, 4},
              {-1.700883F, -0.6934829F, 0.1328996F, -0.7011476F, -1.873096F, -0.7278363F,
               -0.1010226F, 0.07080781F, 0.7639589F, -0.290971F, 0.6515016F, 1.818149F, 0.871438F,
               0.1313261F, 0.7401386F, 1.947586F});
}

TEST_F(MicrosoftAttention, keys_and_values_have_a_past) {
  const auto out = of_microsoft("MultiHeadAttention",
                                {q_, k_, some({2, 3, 4}, 3), none(), none(), none(),
                                 some({2, 2, 1, 2}, 7), some({2, 2, 1, 2}, 8)},
                                with(), {"y", "keys", "values"});
  expect_near(out, "y", {2, 2, 4},
              {-0.2363963F, -0.1857913F, -0.01108733F, -0.6244156F, -1.028671F, -0.3731562F,
               -0.9004515F, -0.5633575F, 1.490787F, -1.263756F, -0.1153949F, 1.313436F, 1.572035F,
               -1.290512F, 0.7189412F, 1.867553F});
  expect_near(out, "keys", {2, 2, 4, 2},
              {-0.625F, 0.625F,  0.75F,   2,      2,       -2,     -1.25F,  1.875F,
               -1.5F,   1.25F,   -0.125F, -1.5F,  -1.125F, 0.5F,   1.625F,  -2,
               0.625F,  0.75F,   -0.75F,  1.25F,  -0.625F, 0.25F,  -0.875F, -1.125F,
               1.625F,  -0.875F, -0.125F, -0.75F, 1.875F,  0.125F, -0.625F, 0.625F});
  expect_near(
      out, "values", {2, 2, 4, 2},
      {0.75F,   2,     -2,      -0.75F,  -0.75F,  -0.625F, 0.125F,  -0.875F, -0.125F, -1.5F, 1.25F,
       -0.125F, 0.25F, 1.875F,  -1.125F, -0.625F, 2,       -2,      0.625F,  -1.5F,   0.75F, 1.625F,
       0.5F,    0.25F, -1.125F, 0.5F,    1.25F,   0.625F,  -0.875F, 1.5F,    0.75F,   2});
}

TEST_F(MicrosoftAttention, packed_operands_are_those_apart) {
  // ONNX Runtime has the packed forms on GPUs only.
  const auto apart = [](const Tensor& packed, std::int64_t i) {
    const Shape& shape = packed.shape();
    return reshape(slice_along_axis(packed, i, 1, 3), {shape[0], shape[1], 4});
  };
  const Tensor all = some({2, 3, 2, 3, 2}, 4);
  auto wanted = of_microsoft("MultiHeadAttention",
                             {apart(all, 0), apart(all, 1), apart(all, 2), some({12}, 5)}, with());
  auto out = of_microsoft("MultiHeadAttention", {all, none(), none(), some({12}, 5)}, with());
  expect_near(out, "y", {2, 3, 4}, floats(wanted, "y"));
  const Tensor pairs = some({2, 3, 2, 2, 2}, 6);
  wanted = of_microsoft("MultiHeadAttention", {q_, apart(pairs, 0), apart(pairs, 1)}, with());
  out = of_microsoft("MultiHeadAttention", {q_, pairs}, with());
  expect_near(out, "y", {2, 2, 4}, floats(wanted, "y"));
}

TEST_F(MicrosoftAttention, operands_that_do_not_fit_are_refused) {
  const auto why = [&](const std::vector<Value>& operands) {
    return refused("MultiHeadAttention", operands, with());
  };
  const auto expect_in = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect_in(why({q_, v_, v_}), "key: expected [2,?,4], got float[2,3,2]");
  expect_in(why({q_, k_, some({2, 4, 2}, 1)}), "value: expected [2,3,?], got float[2,4,2]");
  expect_in(why({q_, k_, some({2, 3, 3}, 1)}), "3 elements are no multiple of num_heads 2");
  expect_in(why({q_, k_}), "key without value: expected [2,?,2,2,2]");
  expect_in(why({q_}), "query without key: expected [?,?,2,3,?]");
  expect_in(why({q_, k_, v_, some({9}, 1)}), "bias: expected [10]");
  expect_in(why({q_, k_, v_, none(), integers_of({1, 1, 1}, {3})}),
            "key_padding_mask: expected [2] or [8] or [2,3] or [2,2,3], got int32[3]");
  expect_in(why({q_, k_, v_, none(), integers_of({0, 1}, {2, 1})}), "got int32[2,1]");
  expect_in(why({q_, k_, v_, none(), integers_of({2, 2, 1, 0}, {4})}), "got int32[4]");
  expect_in(why({q_, k_, v_, none(), none(), some({2, 2, 2, 2}, 1)}),
            "attention_bias: expected [2,2,2,3]");
  expect_in(why({q_, k_, v_, none(), none(), none(), some({2, 2, 1, 2}, 1)}),
            "one is given without the other");
  expect_in(refused("MultiHeadAttention", {q_, k_, v_}, {named("num_heads", std::int64_t{0})}),
            "num_heads must be 1 or more");
  expect_in(
      refused("Attention", {q_, some({4, 12}, 1), none(), integers_of({1, 1, 1}, {3})}, with()),
      "mask: expected [2] or [4] or [8], got int32[3]");
  expect_in(refused("Attention", {q_, some({3, 12}, 1)}, with()), "weights: expected [4,12]");
  expect_in(refused("Attention", {q_, some({4, 12}, 1)},
                    with({named("qkv_hidden_sizes", std::vector<std::int64_t>{4, 2, 6})})),
            "does not hold queries, keys and values");
  expect_in(
      refused("Attention", {q_, some({4, 12}, 1)}, with({named("do_rotary", std::int64_t{1})})),
      "do_rotary is not known");
  expect_in(refused("Attention", {q_, some({4, 12}, 1), none(), none(), none(), none(), scalar(1)},
                    with()),
            "a past that shares its buffer with the present is not known");
}

}  // namespace
}  // namespace stoker::onnx
