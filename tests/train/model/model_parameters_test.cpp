// A model's numbers in files and bytes: exactly back, and nothing changed by what does not belong.
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/io/safetensors.hpp"
#include "stoker/api/train/loop/fit.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class ModelParameters : public Tensors {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static Network network() {
    const Node x = input({2});
    return Network{
        dense(batch_norm(dense(x, 3, {.name = "one"}), {.name = "norm"}), 2, {.name = "two"})};
  }
  static Model model(std::uint64_t seed) { return Model{network(), {.seed = seed}}; }
  static std::map<std::string, std::vector<std::byte>> bytes(const Model& model) {
    std::map<std::string, std::vector<std::byte>> all;
    for (const auto& [name, tensor] : model.variables()) all.emplace(name, tensor.to_bytes());
    return all;
  }
  static Batch batch() { return {{tensor({{0.5, -1.0}, {2.0, 0.1}})}, {tensor({0, 1})}, 2}; }

  [[nodiscard]] std::string text() const {
    std::ifstream file{path};
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }
  void write(const std::string& text) const { std::ofstream{path} << text; }
  /// What import_params says about a file with this text; the model must be as it was.
  [[nodiscard]] Error refused(const std::string& text) const {
    write(text);
    Model to = model(9);
    const auto before = bytes(to);
    const Error error = nn::error_of([&] {
      to.import_params(path);
      return 0;
    });
    EXPECT_EQ(bytes(to), before) << text;
    return error;
  }

  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} /
      ("stoker_params_" + std::to_string(::getpid()) + "_" +
       testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::filesystem::path path = folder / "params.json";
};

TEST_F(ModelParameters, come_back_from_json_to_the_bit) {
  Model from = model(1);
  from.train_step(batch());  // the states of batch_norm are no longer round numbers
  const float tiny = std::numeric_limits<float>::denorm_min();
  const float infinite = std::numeric_limits<float>::infinity();
  from.merge_variables({{"one.bias", tensor(std::vector<float>{-0.0F, tiny, 16777217.0F})},
                        {"two.bias", tensor(std::vector<float>{infinite, -infinite})}});
  from.export_params(path);
  Model to = model(2);
  EXPECT_NE(bytes(to), bytes(from));
  to.import_params(path);
  EXPECT_EQ(bytes(to), bytes(from));
}

TEST_F(ModelParameters, keep_what_is_no_number) {
  Model from = model(1);
  from.merge_variables({{"two.bias", tensor({std::nan(""), 1.0})}});
  from.export_params(path);
  Model to = model(2);
  to.import_params(path);
  const auto bias = to.variables().at("two.bias").to_vector<float>();
  EXPECT_TRUE(std::isnan(bias[0]));
  EXPECT_EQ(bias[1], 1);
}

TEST_F(ModelParameters, are_json_that_other_programs_read) {
  Model from = model(1);
  from.merge_variables({{"two.kernel", tensor({{1.0, 2.0}, {0.5, -3.0}, {4.0, 0.25}})}});
  from.export_params(path);
  const nlohmann::json json = nlohmann::json::parse(text());
  EXPECT_EQ(json["format"], "stoker.params/1");
  const nlohmann::json& kernel = json["params"]["two.kernel"];
  EXPECT_EQ(kernel["type"], "f32");
  EXPECT_EQ(kernel["shape"], (std::vector{3, 2}));
  EXPECT_EQ(kernel["data"], (std::vector<std::vector<double>>{{1, 2}, {0.5, -3}, {4, 0.25}}));
  EXPECT_TRUE(json["params"].contains("norm.mean")) << "predictions need states, too";
}

TEST_F(ModelParameters, of_every_dtype_come_back) {
  for (const DType to : {DType::f16, DType::bf16, DType::s8}) {
    Model from = model(1).quantize(to).model;
    Model other = model(3).quantize(to).model;
    from.export_params(path);
    other.import_params(path);
    EXPECT_EQ(bytes(other), bytes(from)) << to_string(to);
    const Error error = nn::error_of([&] {
      Model plain = model(1);
      plain.import_params(path);
      return 0;
    });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << to_string(to);
  }
}

TEST_F(ModelParameters, are_not_taken_from_files_of_another_kind) {
  model(1).export_params(path);
  const std::string good = text();
  const auto with = [&](const std::string& pointer, const nlohmann::json& value) {
    nlohmann::json json = nlohmann::json::parse(good);
    json[nlohmann::json::json_pointer{pointer}] = value;
    return json.dump();
  };
  const auto says = [&](const Error& error, const std::string& expected) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string{error.reason()}.find(expected), std::string::npos) << error.reason();
    EXPECT_EQ(error.detail("file"), path.string());
  };
  says(refused(good.substr(0, good.size() / 2)), "expected JSON");
  says(refused(""), "expected JSON");
  says(refused("[1, 2]"), "stoker.params/1");
  says(refused("{\"params\": {}}"), "stoker.params/1");
  says(refused("{\"format\": \"stoker.params/1\"}"), "an object \"params\"");
  says(refused("{\"format\": \"stoker.params/1\", \"params\": {}}"), "expected 'norm.beta' f32[3]");
  says(refused(with("/params/three.kernel", 1)), "'three.kernel', which the model has not");
  says(refused(with("/params/two.bias", 1)), "an object with type, shape and data");
  says(refused(with("/params/two.bias/type", "f64")), "expected f32[2], got \"f64\"");
  says(refused(with("/params/two.bias/type", "float")), "expected f32[2]");
  says(refused(with("/params/two.bias/shape", {3})), "expected f32[2], got \"f32\" [3]");
  says(refused(with("/params/two.bias/shape", "2")), "expected f32[2]");
  says(refused(with("/params/two.bias/data", {1.0, 2.0, 3.0})), "a list of 2 along axis 0");
  says(refused(with("/params/two.bias/data", {1.0, "x"})), "expected a number, got \"x\"");
  says(refused(with("/params/two.kernel/data/1", 2.5)), "a list of 2 along axis 1");
}

TEST_F(ModelParameters, are_not_taken_from_lists_in_lists_without_end) {
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  for (const std::string& text :
       {deep, R"({"format": )" + deep + R"(, "params": {}})",
        R"({"format": "stoker.params/1", "params": {"norm.beta": {"type": )" + deep +
            R"(, "shape": [3], "data": [1, 2, 3]}}})"})
    EXPECT_EQ(refused(text).code(), ErrorCode::invalid_argument);
}

TEST_F(ModelParameters, need_files_and_folders_that_are_there) {
  Model one = model(1);
  EXPECT_EQ(nn::code_of([&] {
              one.import_params(folder / "absent.json");
              return 0;
            }),
            ErrorCode::not_found);
  EXPECT_EQ(nn::code_of([&] {
              one.export_params(folder / "absent" / "p.json");
              return 0;
            }),
            ErrorCode::not_found);
  one.export_params(path);
  one.export_params(path);  // in the place of the other
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder}, {}), 1)
      << "nothing is left beside it";
}

TEST_F(ModelParameters, come_back_from_bytes) {
  const Model from = model(1);
  Model to = model(2);
  std::vector<std::byte> saved = from.serialize_params();
  to.deserialize_params(saved);
  EXPECT_EQ(bytes(to), bytes(from));
  const auto before = bytes(to);
  const auto refused_bytes = [&](std::span<const std::byte> given) {
    const ErrorCode code = nn::code_of([&] {
      to.deserialize_params(given);
      return 0;
    });
    EXPECT_EQ(bytes(to), before);
    return code;
  };
  EXPECT_EQ(refused_bytes(std::span{saved}.first(saved.size() - 4)), ErrorCode::io_error);
  EXPECT_EQ(refused_bytes({}), ErrorCode::io_error);
  EXPECT_EQ(refused_bytes(safetensors_to_bytes({{"one.bias", ones({3})}})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused_bytes(Model{Network{dense(input({2}), 3, {.name = "one"})}}.serialize_params()),
            ErrorCode::invalid_argument);
}

TEST_F(ModelParameters, are_asked_for_by_what_they_are) {
  Model one = model(1);
  one.freeze({"one", "norm"});
  const auto names = [&](Part part) {
    std::vector<std::string> all;
    for (const auto& [name, tensor] : one.variables(part)) all.push_back(name);
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(Part::parameters),
            (Names{"norm.beta", "norm.gamma", "one.bias", "one.kernel", "two.bias", "two.kernel"}));
  EXPECT_EQ(names(Part::states), (Names{"norm.mean", "norm.var"}));
  EXPECT_EQ(names(Part::trainable_parameters), (Names{"two.bias", "two.kernel"}));
  EXPECT_EQ(names(Part::frozen_parameters),
            (Names{"norm.beta", "norm.gamma", "one.bias", "one.kernel"}));
  EXPECT_EQ(names(Part::trainable_states), Names{});
  EXPECT_EQ(names(Part::frozen_states), (Names{"norm.mean", "norm.var"}));
}

TEST_F(ModelParameters, may_be_replaced_in_part) {
  Model one = model(1);
  const auto before = bytes(one);
  one.merge_variables({{"two.bias", tensor({5.0, 6.0})}});
  auto after = bytes(one);
  EXPECT_NE(after.at("two.bias"), before.at("two.bias"));
  after["two.bias"] = before.at("two.bias");
  EXPECT_EQ(after, before);
  EXPECT_EQ(nn::code_of([&] {
              one.merge_variables({{"two.bais", tensor({5.0, 6.0})}});
              return 0;
            }),
            ErrorCode::not_found);
  EXPECT_EQ(nn::code_of([&] {
              one.merge_variables({{"two.bias", tensor({5.0})}});
              return 0;
            }),
            ErrorCode::shape_mismatch);
}

TEST_F(ModelParameters, are_trained_in_another_way_after_compiling_anew) {
  Model first = model(1);
  first.train_step(batch());
  first.freeze([](const LayerInfo& layer) { return layer.kind == "batch_norm"; });
  Model second = first.compile({.loss = "mse", .optimizer = "sgd", .learning_rate = 0.5});
  EXPECT_EQ(bytes(second), bytes(first));
  EXPECT_EQ(second.frozen(), (std::set<std::string>{"norm"}));
  EXPECT_EQ(second.info().optimizer, "sgd(learning_rate=0.5)");
  EXPECT_EQ(second.info().loss, "mse");
  const auto before = bytes(first);
  second.train_step({batch().inputs, {tensor({{0.0, 1.0}, {1.0, 0.0}})}, 2});
  EXPECT_NE(bytes(second), before);
  EXPECT_EQ(bytes(first), before) << "they are copies";
}

}  // namespace
}  // namespace stoker::nn
