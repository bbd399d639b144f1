// Configurations of models in Triton's field names: what each field means, what is refused, and that no text of a file
// does harm.
#include "stoker/api/serve/repository/model_config.hpp"

#include <gtest/gtest.h>

#include "stoker/tests/model/model_folder.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

ModelConfig of_text(std::string_view text) {
  return read_model_config(read_config(text, ConfigForm::text), "m", {.batch_size = 16});
}
ModelConfig of_json(std::string_view text) {
  return read_model_config(read_config(text, ConfigForm::json), "m", {.batch_size = 16});
}
Error refused(std::string_view text) {
  return refusal_of([&] { static_cast<void>(of_text(text)); });
}

/// All that is known, in the text form.
constexpr std::string_view whole = R"(
# a comment
name: "m"
platform: "onnxruntime_onnx"
default_model_filename: "model.lua"
max_batch_size: 8
input [ { name: "x" data_type: TYPE_FP32 dims: [ 3, -1 ] } ]
output { name: 'y' data_type: TYPE_STRING, dims: 1; label_filename: "lab" "els.txt" }
version_policy: { specific { versions: [1, 3] } }
dynamic_batching {
  preferred_batch_size: [ 4, 8 ]
  max_queue_delay_microseconds: 500
  preserve_ordering: true
  priority_levels: 2
  default_priority_level: 2
  default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 2000 }
  priority_queue_policy { key: 1 value: < max_queue_size: 10 > }
}
instance_group [ { count: 2 kind: KIND_GPU gpus: [ 1 ] } ]
model_warmup [ {
  name: "zeros" batch_size: 2 count: 3
  inputs { key: "x" value: { data_type: TYPE_FP32 dims: [ 3, 5 ] zero_data: true } }
} ]
parameters { key: "stoker.deadline_us" value: { string_value: "1000000" } }
parameters { key: "OTHER" value: { string_value: "x" } }
)";

TEST(ModelConfigs, say_what_their_fields_mean) {
  const ModelConfig config = of_text(whole);
  EXPECT_EQ(config.max_batch_size, 8);
  EXPECT_EQ(config.serving.batch_size, 8);
  ASSERT_EQ(config.inputs.size(), 1U);
  EXPECT_EQ(config.inputs[0].type, onnx::ElementType::f32);
  EXPECT_EQ(config.inputs[0].dims, (std::vector<std::int64_t>{3, -1}));
  ASSERT_EQ(config.outputs.size(), 1U);
  EXPECT_EQ(config.outputs[0].type, onnx::ElementType::string);
  EXPECT_EQ(config.outputs[0].label_file, "labels.txt");
  EXPECT_EQ(config.model_file, "model.lua");
  EXPECT_EQ(config.serving.sizes, (std::vector<std::int64_t>{4, 8}));
  EXPECT_FALSE(config.serving.padding);
  EXPECT_EQ(config.serving.wait, BatchWait::full);
  EXPECT_EQ(config.serving.batch_timeout, 500us);
  ASSERT_EQ(config.serving.priorities.size(), 2U);
  EXPECT_EQ(config.serving.priorities[0].max_requests, 10U);
  EXPECT_EQ(config.serving.priorities[0].timeout, std::nullopt);
  EXPECT_EQ(config.serving.priorities[0].action, LateAction::reject);
  EXPECT_EQ(config.serving.priorities[1].timeout, 2000us);
  EXPECT_EQ(config.serving.priorities[1].action, LateAction::delay);
  EXPECT_EQ(config.serving.default_priority, 2U);
  EXPECT_EQ(config.serving.workers, 2U);
  EXPECT_EQ(config.device, "vulkan:1");
  ASSERT_EQ(config.samples.size(), 1U);
  EXPECT_EQ(config.samples[0].rows, 2);
  EXPECT_EQ(config.samples[0].times, 3U);
  EXPECT_EQ(config.samples[0].inputs.at(0).dims, (std::vector<std::int64_t>{3, 5}));
  EXPECT_FALSE(config.samples[0].inputs.at(0).random);
  EXPECT_EQ(config.serving.deadline, 1s);
}

TEST(ModelConfigs, are_the_same_in_json) {
  const ModelConfig config = of_json(R"({
    "name": "m", "max_batch_size": 4,
    "input": [{"name": "x", "data_type": "TYPE_INT64", "dims": [2], "optional": null}],
    "output": [],
    "dynamic_batching": {"max_queue_delay_microseconds": "250", "priority_levels": 1,
                         "default_priority_level": 1,
                         "priority_queue_policy": {"1": {"timeout_action": "DELAY"}}},
    "instance_group": [{"kind": "KIND_CPU"}],
    "version_policy": {"latest": {"num_versions": 2}},
    "model_transaction_policy": {"decoupled": false},
    "parameters": {"stoker.wait": {"string_value": "none"}}})");
  EXPECT_EQ(config.serving.batch_size, 4);
  EXPECT_EQ(config.inputs.at(0).type, onnx::ElementType::s64);
  EXPECT_EQ(config.serving.batch_timeout, 250us) << "64-bit numbers may be strings";
  EXPECT_EQ(config.serving.priorities.at(0).action, LateAction::delay);
  EXPECT_EQ(config.device, "cpu");
  EXPECT_EQ(config.versions.count, 2U);
  EXPECT_EQ(config.serving.wait, BatchWait::none);
}

TEST(ModelConfigs, may_say_nothing) {
  const ModelConfig config = of_text("");
  EXPECT_EQ(config.serving.batch_size, 16);
  EXPECT_EQ(config.device, "");
  EXPECT_EQ(config.serving.priorities.size(), 0U);
  EXPECT_EQ(of_json("{}").versions.kind, VersionPolicy::Kind::latest);
}

TEST(ModelConfigs, have_samples_with_rows_if_there_is_a_largest_batch) {
  const std::string one =
      R"(model_warmup { batch_size: 1 inputs { key: "x" value { data_type: TYPE_FP32 dims: 3 } } })";
  EXPECT_EQ(of_text(one).samples.at(0).rows, 0) << "dims are whole";
  EXPECT_EQ(of_text("max_batch_size: 4 " + one).samples.at(0).rows, 1);
  EXPECT_EQ(of_text("max_batch_size: 4 model_warmup { }").samples.at(0).rows, 1);
}

TEST(ModelConfigs, replace_the_sizes_of_the_program) {
  const ConfigTree tree =
      read_config("dynamic_batching { preferred_batch_size: 8 }", ConfigForm::text);
  EXPECT_EQ(read_model_config(tree, "m", {.sizes = {1, 2}}).serving.sizes,
            (std::vector<std::int64_t>{8}));
}

TEST(ModelConfigs, choose_versions) {
  const std::vector<std::uint64_t> there{1, 2, 5};
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(of_text("").versions.chosen(there), Numbers{5});
  EXPECT_EQ(of_text("version_policy { latest { num_versions: 2 } }").versions.chosen(there),
            (Numbers{2, 5}));
  EXPECT_EQ(of_text("version_policy { latest { num_versions: 9 } }").versions.chosen(there), there);
  EXPECT_EQ(of_text("version_policy { all { } }").versions.chosen(there), there);
  const VersionPolicy policy =
      of_text("version_policy { specific { versions: 2 versions: 3 } }").versions;
  EXPECT_EQ(refusal_of([&] { static_cast<void>(policy.chosen(there)); }).code(),
            ErrorCode::not_found);
}

TEST(ModelConfigs, have_parameters_of_their_own) {
  const auto with = [](const std::string& name, const std::string& value) {
    return R"(parameters { key: "stoker.)" + name + R"(" value { string_value: ")" + value +
           "\" } }";
  };
  EXPECT_EQ(of_text(with("device", "null")).device, "null");
  EXPECT_EQ(of_text(with("precision", "bf16")).precision, onnx::Precision::bf16);
  EXPECT_EQ(of_text(with("wait", "full")).serving.wait, BatchWait::full);
  EXPECT_FALSE(of_text(with("padding", "false")).serving.padding);
  EXPECT_EQ(of_text(with("retry", "one_by_one")).serving.retry, BatchRetry::one_by_one);
  EXPECT_EQ(of_text(with("warm_up", "all")).serving.warm_up, WarmUp::all);
  EXPECT_EQ(of_text(with("max_requests", "7")).serving.max_requests, 7U);
  EXPECT_EQ(of_text(with("max_bytes", "9")).serving.max_bytes, 9U);
  EXPECT_EQ(refused(with("pading", "true")).reason(),
            "there is no parameter 'stoker.pading'; did you mean 'padding'?");
  EXPECT_EQ(refused(with("max_bytes", "0")).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(with("wait", "perhaps")).reason(),
            "field 'parameters.stoker.wait' must be one of none full");
}

TEST(ModelConfigs, are_refused_where_they_would_change_answers) {
  for (const char* const field :
       {"sequence_batching", "ensemble_scheduling", "batch_input", "batch_output",
        "cc_model_filenames", "model_operations", "model_repository_agents"}) {
    const Error error = refused(std::string{field} + " { }");
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_EQ(error.detail("field"), field);
  }
  EXPECT_EQ(refused("max_batchsize: 1").reason(),
            "there is no field 'max_batchsize'; did you mean 'max_batch_size'?");
  for (const char* const text :
       {"model_transaction_policy { decoupled: true }",
        "name: \"other\"",
        "max_batch_size: -1",
        "max_batch_size: 1 max_batch_size: 2",
        "max_batch_size: \"1\"",
        "max_batch_size: 1.5",
        "max_batch_size: 010",
        "default_model_filename: \"../model.onnx\"",
        "input { dims: 1 }",
        "input { name: \"x\" dims: 0 }",
        "input { name: \"x\" data_type: FP32 }",
        "input { name: \"x\" data_type: \"TYPE_FP32\" }",
        "input { name: \"x\" allow_ragged_batch: true }",
        "input { name: \"x\" label_filename: \"l\" }",
        "output { name: \"y\" label_filename: \"../l\" }",
        "output { name: \"y\" is_shape_tensor: true }",
        "dynamic_batching { preferred_batch_size: 17 }",
        "dynamic_batching { max_queue_delay_microseconds: 100000000000 }",
        "dynamic_batching { priority_levels: 2 }",
        "dynamic_batching { priority_levels: 2000 default_priority_level: 1 }",
        "dynamic_batching { priority_queue_policy { key: 1 value { } } }",
        "instance_group { gpus: [0, 1] }",
        "instance_group { kind: KIND_CPU gpus: 0 }",
        "instance_group { } instance_group { }",
        "instance_group { kind: KIND_TPU }",
        "instance_group { count: -1 }",
        "instance_group { count: 2000000000 }",
        "model_warmup { batch_size: 2 }",
        "version_policy { latest { } all { } }",
        "version_policy { latest { num_versions: 0 } }",
        "model_warmup { inputs { key: \"x\" value { data_type: TYPE_FP32 dims: -1 } } }"})
    EXPECT_EQ(refused(text).code(), ErrorCode::invalid_argument) << text;
  EXPECT_EQ(refused("input { name: \"x\" reshape { } }").code(), ErrorCode::unsupported);
}

TEST(ModelConfigs, in_text_are_read_as_protocol_buffers_have_it) {
  const ConfigValue root =
      read_config(R"(a: "\x41\102\n\u00e9" 'B' b: -1.5e+3, c <d:1>; e: [])", ConfigForm::text).root;
  ASSERT_EQ(root.fields.size(), 3U);
  EXPECT_EQ(root.fields[0].value.text,
            "AB\n\xC3\xA9"
            "B");
  EXPECT_EQ(root.fields[1].value.text, "-1.5e+3");
  EXPECT_EQ(root.fields[2].value.fields.at(0).value.text, "1");
  EXPECT_EQ(refused("name: \"m\"\n  max_batch_size 1").reason(),
            "line 2, column 18: expected ':' or '{'");
  for (const char* const text :
       {"a", "a:", "a: [1", "a: {", "a: >", "[x]: 1", "a: \"x\ny\"", "a: \"\\q\"", "a: \"\\ud800\"",
        "a: \"\\U00110000\"", "a {}}", "a: - ", "1: 2"})
    EXPECT_EQ(refused(text).code(), ErrorCode::invalid_argument) << text;
}

TEST(ModelConfigs, may_be_damaged_anywhere) {
  const std::string json = R"({"name": "m", "input": [{"name": "x", "dims": [1, -1]}],
                              "parameters": {"stoker.wait": {"string_value": "full"}}})";
  const auto read = [](std::string_view text, ConfigForm form) {
    try {
      static_cast<void>(read_model_config(read_config(text, form), "m", {}));
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::internal);
      EXPECT_NE(error.code(), ErrorCode::handler_failed);
    }
  };
  for (const auto& [text, form] :
       {std::pair{std::string{whole}, ConfigForm::text}, std::pair{json, ConfigForm::json}})
    for (std::size_t at = 0; at < text.size(); ++at) {
      read(std::string_view{text}.substr(0, at), form);
      for (const char other : {'\0', '"', '{', '}', '[', '\\', '-', '\xff'}) {
        std::string damaged = text;
        damaged[at] = other;
        read(damaged, form);
      }
    }
  std::string deep;
  for (int n = 0; n < 100'000; ++n) deep += "a{";
  EXPECT_EQ(refused(deep).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stoker::serve
