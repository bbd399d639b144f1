// Models of every kind through load_model().
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "stoker/api/model.hpp"
#include "stoker/api/model_async.hpp"
#include "stoker/tests/model/model_folder.hpp"

namespace stoker {
namespace {

class Models : public testing::Test {
 protected:
  [[nodiscard]] AnyModel load(const std::filesystem::path& path) const {
    return load_model(path, {.device = device});
  }
  static std::vector<float> floats(const NamedValues& values, const char* name) {
    return values.at(name).tensor().to_vector<float>();
  }
  static std::string text(const std::vector<onnx::ValueInfo>& infos) {
    std::string all;
    for (const onnx::ValueInfo& one : infos)
      all += (all.empty() ? "" : ", ") + one.name + " " + one.type.to_string();
    return all;
  }

  System system;
  Device device = system.device("cpu");
  DeviceScope scope{device};
  ModelFolder folder;
};

TEST_F(Models, predict_from_onnx_files) {
  const AnyModel model = load(folder.write_onnx("abs.onnx"));
  EXPECT_EQ(model.info().kind, ModelKind::onnx);
  EXPECT_EQ(model.info().description, "opset 17, 1 node");
  EXPECT_EQ(text(model.inputs()), "x float[2]");
  EXPECT_EQ(text(model.outputs()), "y float[2]");
  EXPECT_EQ(model.device().name(), "cpu");
  EXPECT_EQ(floats(model.predict({{"x", tensor({1.0, -2.0})}}).get(), "y"),
            (std::vector{1.0F, 2.0F}));
}

TEST_F(Models, list_no_inputs_that_have_a_value_in_the_file) {
  const std::string both = onnx::model(onnx::graph(onnx::node("Add", {"w", "x"}, {"y"}), {"w", "x"},
                                                   {"y"}, {onnx::float_tensor("w", {1, 2})}))
                               .bytes();
  const AnyModel model = load(folder.write("add.onnx", both));
  EXPECT_EQ(text(model.inputs()), "x float[2]");
  EXPECT_EQ(model.info().parameters, 2U);
  const Tensor x = tensor({1.0, 1.0});
  EXPECT_EQ(floats(model.predict({{"x", x}}).get(), "y"), (std::vector{2.0F, 3.0F}));
  EXPECT_EQ(floats(model.predict({{"x", x}, {"w", x}}).get(), "y"), (std::vector{2.0F, 2.0F}));
}

TEST_F(Models, take_pictures_as_their_inputs_want_them) {
  const AnyModel model = load(folder.write_image_model("neg.onnx", "Neg", {1, 3, 1, 2}));
  const Tensor photo = as_type(broadcast(tensor({10.0, 20.0, 30.0}), {4, 8, 3}), DType::u8);
  const auto predicted = [&](const ImageOptions& options) {
    const onnx::Value input = model.image_input("input", photo, options);
    return floats(model.predict({{"input", input}}).get(), "output");
  };
  EXPECT_EQ(predicted({}), (std::vector<float>{-10, -10, -20, -20, -30, -30}));
  EXPECT_EQ(predicted({.mean = {20}, .std = {5}}), (std::vector<float>{2, 2, 0, 0, -2, -2}));
  const Error unknown = refusal_of([&] { static_cast<void>(model.image_input("inputs", photo)); });
  EXPECT_EQ(unknown.code(), ErrorCode::not_found);
  EXPECT_NE(std::string{unknown.what()}.find("did you mean 'input'"), std::string::npos);
  const AnyModel script = load(folder.write("double.lua", R"(
    return {inputs = {{name = "photo", shape = {1, "h", "w", 3}}}, outputs = {"twice"},
            predict = function(x) return x.photo * 2 end})"));
  const NamedValues twice = script.predict({{"photo", script.image_input("photo", photo)}}).get();
  EXPECT_EQ(twice.at("twice").tensor().shape(), (Shape{1, 4, 8, 3}));
  EXPECT_EQ(floats(twice, "twice")[1], 40);
}

TEST_F(Models, predict_from_networks) {
  const AnyModel model = load(folder.save_line("line.safetensors", device));
  EXPECT_EQ(model.info().kind, ModelKind::network);
  EXPECT_EQ(model.info().parameters, 3U);
  EXPECT_EQ(text(model.inputs()), "rows float[batch,2]");
  EXPECT_EQ(text(model.outputs()), "line float[batch,1]");
  EXPECT_EQ(floats(model.predict({{"rows", tensor({{1.0, 2.0}, {0.0, 1.0}})}}).get(), "line"),
            (std::vector{9.0F, 4.0F}));
}

TEST_F(Models, predict_from_scripts) {
  const AnyModel model = load(folder.write_script("product.lua"));
  EXPECT_EQ(model.info().kind, ModelKind::script);
  EXPECT_EQ(text(model.inputs()), "x float[rows,2], factor float[rows,1]");
  EXPECT_EQ(text(model.outputs()), "product unknown, total float[]");
  for (const float factor : {2.0F, 3.0F}) {
    const NamedValues out =
        model.predict({{"x", tensor({{1.0, 2.0}})}, {"factor", tensor({{factor}})}}).get();
    EXPECT_EQ(floats(out, "product"), (std::vector{factor, 2 * factor}));
    EXPECT_EQ(floats(out, "total"), std::vector{3 * factor});
  }
}

TEST_F(Models, give_results_that_outlive_them) {
  NamedValues out;
  {
    const AnyModel model = load(folder.write_script("product.lua"));
    out = model.predict({{"x", tensor({{1.0, 2.0}})}, {"factor", tensor({{5.0}})}}).get();
  }
  EXPECT_EQ(floats(out, "product"), (std::vector{5.0F, 10.0F}));
}

TEST_F(Models, end_predictions_of_scripts_that_nobody_holds) {
  std::vector<Future<NamedValues>> started;
  {
    const AnyModel model = load(folder.write_script("product.lua"));
    for (int i = 0; i < 16; ++i)
      started.push_back(
          model.predict({{"x", tensor({{1.0, 2.0}})}, {"factor", tensor({{1.0 * i}})}}));
  }
  for (std::size_t i = 0; i < started.size(); ++i)
    EXPECT_EQ(floats(started[i].get(), "total"), std::vector{3.0F * static_cast<float>(i)});
}

TEST_F(Models, refuse_inputs_that_do_not_fit) {
  for (const auto& path :
       {folder.write_onnx("abs.onnx"), folder.save_line("line.safetensors", device),
        folder.write_script("product.lua")}) {
    SCOPED_TRACE(path.string());
    const AnyModel model = load(path);
    const std::string name = model.inputs().front().name;
    NamedValues good;
    for (const onnx::ValueInfo& input : model.inputs())
      good.emplace(input.name, zeros(input.type.dims->size() == 1 ? Shape{2}
                                     : input.name == "factor"     ? Shape{1, 1}
                                                                  : Shape{1, 2}));
    const auto code_of = [&](const Tensor& x) {
      NamedValues values = good;
      values.insert_or_assign(name, x);
      return refusal_of([&] { static_cast<void>(model.predict(values)); }).code();
    };
    EXPECT_TRUE(model.predict(good).wait());
    EXPECT_EQ(code_of(tensor({1, 2})), ErrorCode::dtype_mismatch);
    EXPECT_EQ(code_of(zeros({1, 7})), ErrorCode::shape_mismatch);
    NamedValues values = good;
    values.erase(name);
    EXPECT_EQ(refusal_of([&] { static_cast<void>(model.predict(values)); }).code(),
              ErrorCode::invalid_argument);
    values = good;
    values.emplace(name + "s", zeros({1}));
    const Error unknown = refusal_of([&] { static_cast<void>(model.predict(values)); });
    EXPECT_EQ(unknown.code(), ErrorCode::not_found);
    EXPECT_NE(std::string{unknown.reason()}.find("no input '" + name + "s'"), std::string::npos)
        << unknown.what();
  }
}

TEST_F(Models, give_one_number_to_a_symbol) {
  const AnyModel model = load(folder.write_script("product.lua"));
  const Error why = refusal_of([&] {
    static_cast<void>(model.predict({{"x", zeros({2, 2})}, {"factor", zeros({3, 1})}}));
  });
  EXPECT_EQ(why.code(), ErrorCode::shape_mismatch);
  EXPECT_NE(std::string{why.reason()}.find("rows was 2 in input 'x'"), std::string::npos)
      << why.what();
}

TEST_F(Models, give_the_outputs_that_are_wanted) {
  const AnyModel model = load(folder.write_script("product.lua"));
  const NamedValues given{{"x", zeros({1, 2})}, {"factor", zeros({1, 1})}};
  const NamedValues out = model.predict(given, {.outputs = {"total"}}).get();
  EXPECT_EQ(out.size(), 1U);
  EXPECT_TRUE(out.contains("total"));
  EXPECT_EQ(
      refusal_of([&] { static_cast<void>(model.predict(given, {.outputs = {"totals"}})); }).code(),
      ErrorCode::not_found);
}

TEST_F(Models, warm_up) {
  const AnyModel model = load(folder.write_onnx("abs.onnx"));
  model.warm_up({{"x", zeros({2})}});
  EXPECT_TRUE(model.predict({{"x", tensor({1.0, -2.0})}}).ready());
}

TEST_F(Models, may_refuse_what_was_not_warmed_up) {
  const LoadModelOptions options{.device = device, .on_new_shape = onnx::NewShape::refuse};
  const onnx::Message of_any_length =
      onnx::tensor_type(onnx::ElementType::f32, {onnx::Message{}.text(2, "n")});
  const onnx::Message graph = onnx::Message{}
                                  .messages(1, onnx::node("Abs", {"x"}, {"y"}).all)
                                  .messages(1, onnx::node("Neg", {"x"}, {"z"}).all)
                                  .message(11, onnx::value_info("x", of_any_length))
                                  .message(12, onnx::value_info("y", of_any_length))
                                  .message(12, onnx::value_info("z", of_any_length));
  const AnyModel model = load_model(folder.write("abs.onnx", onnx::model(graph).bytes()), options);
  model.warm_up({{"x", zeros({2})}});
  EXPECT_EQ(floats(model.predict({{"x", tensor({1.0, -2.0})}}).get(), "y"),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(refusal_of([&] {
              static_cast<void>(model.predict({{"x", zeros({3})}}));
            }).code(),
            ErrorCode::not_found);
  const PredictOptions only_y{.outputs = {"y"}};
  model.warm_up({{"x", zeros({4})}}, only_y);
  EXPECT_EQ(model.predict({{"x", zeros({4})}}, only_y).get().size(), 1U);
  EXPECT_EQ(refusal_of([&] {
              static_cast<void>(model.predict({{"x", zeros({4})}}));
            }).detail("expected"),
            "x float[4] and the outputs y");
  const auto network = folder.save_line("line.safetensors", device);
  EXPECT_EQ(refusal_of([&] { static_cast<void>(load_model(network, options)); }).code(),
            ErrorCode::unsupported);
}

TEST_F(Models, are_loaded_and_predict_for_completion_tokens) {
  const auto path = folder.save_line("line.safetensors", device);
  boost::asio::io_context loop;
  std::vector<float> seen;
  boost::asio::co_spawn(
      loop,
      [&]() -> boost::asio::awaitable<void> {
        const LoadModelOptions options{.device = device};
        const AnyModel model =
            co_await async_load_model(system, path, boost::asio::use_awaitable, options);
        const NamedValues given{{"rows", tensor({{1.0, 2.0}})}};
        const NamedValues out = co_await model.async_predict(given, boost::asio::use_awaitable);
        seen = floats(out, "line");
      },
      boost::asio::detached);
  loop.run();
  EXPECT_EQ(seen, std::vector{9.0F});
}

TEST_F(Models, of_scripts_fail_as_their_scripts_do) {
  const auto fails = [&](const std::string& body, ErrorCode code, const std::string& part) {
    SCOPED_TRACE(body);
    const auto path = folder.write(
        "m.lua",
        "return {inputs = {'x'}, outputs = {'y'}, predict = function(given)\n" + body + "\nend}");
    const Result<NamedValues> outcome = load(path).predict({{"x", ones({2})}}).wait();
    ASSERT_TRUE(outcome.has_error());
    EXPECT_EQ(outcome.error().code(), code) << outcome.error().what();
    EXPECT_NE(std::string{outcome.error().what()}.find(part), std::string::npos)
        << outcome.error().what();
  };
  fails("error('no luck')", ErrorCode::script_error, "no luck");
  fails("return {z = given.x}", ErrorCode::invalid_argument, "no output of the model");
  fails("return {}", ErrorCode::invalid_argument, "instead of a buffer");
  fails("return 3", ErrorCode::invalid_argument, "a table of buffers by name, got 3");
  fails("return matmul(given.x, given.x:reshape{shape = {2, 1}}, 1)", ErrorCode::arity_mismatch,
        "m.lua, line=2");
}

TEST_F(Models, of_scripts_give_what_they_say) {
  const auto path = folder.write("m.lua", R"(
    local made = {
      bool = function(x) return cast(x, {dtype = "bool"}) end,
      long = function(x) return concatenate(x, x) end,
    }
    return {
      inputs = {"x"}, outputs = {{name = "y", shape = {2}}, {name = "z", shape = {"n"}}},
      predict = function(given)
        local kind = ({"bool", "long"})[read(given.x)[1]]
        return {y = kind and made[kind](given.x) or given.x, z = given.x}
      end,
    })");
  const AnyModel model = load(path);
  EXPECT_EQ(floats(model.predict({{"x", tensor({3.0, 4.0})}}).get(), "y"),
            (std::vector{3.0F, 4.0F}));
  const auto code_of = [&](double kind) {
    return model.predict({{"x", tensor({kind, 0.0})}}).wait().error().code();
  };
  EXPECT_EQ(code_of(1), ErrorCode::dtype_mismatch);
  EXPECT_EQ(code_of(2), ErrorCode::shape_mismatch);
  const auto only = folder.write("only.lua", R"(
    return {inputs = {"x"}, outputs = {{name = "y"}},
            predict = function(given) return cast(given.x, {dtype = "bool"}) end})");
  EXPECT_EQ(load(only).predict({{"x", ones({2})}}).wait().error().code(),
            ErrorCode::dtype_mismatch);
}

TEST_F(Models, of_scripts_end_at_their_limits_and_when_they_are_cancelled) {
  const auto path = folder.write(
      "m.lua",
      "return {inputs = {'x'}, outputs = {'y'}, predict = function() while true do end end}");
  LoadModelOptions options{.device = device};
  options.limits.instructions = 100'000;
  const Result<NamedValues> outcome = load_model(path, options).predict({{"x", ones({2})}}).wait();
  EXPECT_EQ(outcome.error().code(), ErrorCode::budget_exceeded) << outcome.error().what();
  const CancelSource stop;
  options.limits.instructions = 0;
  const Future<NamedValues> endless =
      load_model(path, options).predict({{"x", ones({2})}}, {.limits = {.cancel = stop.token()}});
  stop.cancel(cancelled_error("test"));
  EXPECT_EQ(endless.wait().error().code(), ErrorCode::cancelled);
}

TEST_F(Models, of_scripts_must_describe_themselves) {
  const auto refused = [&](const std::string& code, const std::string& part) {
    SCOPED_TRACE(code);
    const Error why = refusal_of([&] { static_cast<void>(load(folder.write("m.lua", code))); });
    EXPECT_NE(std::string{why.what()}.find(part), std::string::npos) << why.what();
  };
  refused("return 3", "a script is a model if it returns {inputs");
  refused("local x = 3", "a script is a model if it returns {inputs");
  refused("return {inputs = {}, outputs = {}, predict = print}", "a model has outputs");
  refused("return {inputs = {'x', 'x'}, outputs = {'y'}, predict = print}", "stands twice");
  refused("return {inputs = {{dtype = 'f32'}}, outputs = {'y'}, predict = print}", "has a name");
  refused("return {inputs = {{name = 'x', dtype = 'f31'}}, outputs = {'y'}, predict = print}",
          "f31");
  refused("return {inputs = {{name = 'x', shape = {-1}}}, outputs = {'y'}, predict = print}",
          "a list of numbers and names, got -1");
  refused("return {inputs = {'x'}, outputs = {'y'}}", "predict is nil");
  refused("return {input = {'x'}, outputs = {'y'}, predict = print}", "did you mean 'inputs'");
  refused("return {", "unexpected symbol");
}

TEST_F(Models, another_precision_is_for_onnx_models) {
  onnx::Message graph =
      onnx::graph(onnx::node("MatMul", {"x", "x"}, {"m"}).add("Relu", {"m"}, {"y"}), {"x"}, {"y"});
  const LoadModelOptions narrow{.device = system.device("vulkan"),
                                .precision = onnx::Precision::f16};
  const AnyModel model =
      load_model(folder.write("product.onnx", onnx::model(graph).bytes()), narrow);
  const float fine = 1 + 1.0F / 4096;
  EXPECT_EQ(floats(model.predict({{"x", tensor({fine, 0.0F})}}).get(), "y"), (std::vector{1.0F}));
  const auto network = folder.save_line("line.safetensors", device);
  const Error why = refusal_of([&] { static_cast<void>(load_model(network, narrow)); });
  EXPECT_EQ(why.code(), ErrorCode::unsupported);
  EXPECT_EQ(why.reason(), "another precision is for ONNX models, and this is a Stoker network");
}

TEST_F(Models, that_are_unknown_are_refused) {
  const auto path = folder.write("picture.onnx", "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(load(path)); }).code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace stoker
