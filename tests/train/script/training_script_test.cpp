// Trainings that Lua scripts describe: what they come to, and where they say that something is
// wrong.
#include "stoker/api/train/script/training_library.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "stoker/api/nn/functional/losses.hpp"
#include "stoker/api/nn/functional/metric.hpp"
#include "stoker/api/nn/graph/layer_kinds.hpp"
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/io/npy.hpp"
#include "stoker/pipeline/image/image_io.hpp"
#include "stoker/tests/nn/refused.hpp"

namespace stoker::nn {
namespace {

namespace fs = std::filesystem;

class TrainingScripts : public testing::Test {
 protected:
  TrainingScripts()
      : folder{fs::temp_directory_path() /
               ("stoker_train_" + std::to_string(getpid()) + "_" +
                testing::UnitTest::GetInstance()->current_test_info()->name())} {
    fs::create_directories(folder);
  }
  ~TrainingScripts() override { fs::remove_all(folder); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder / name} << text;
  }
  /// What running the script gives; the files of `folder` are in its reach.
  [[nodiscard]] Result<ScriptReport> run(const std::string& code, ScriptOptions options = {}) {
    library = std::make_shared<TrainingLibrary>();
    options.extension = library;
    options.directory = folder;
    options.allowed_directories = {folder};
    return host.start({"t.lua", code}, std::move(options)).done.wait();
  }
  [[nodiscard]] TrainingPlan plan(const std::string& code) {
    run(code).value();
    return library->plan(device);
  }
  /// The plan of a training with this data and a network that takes rows of any shape.
  [[nodiscard]] Dataset data(const std::string& expression) {
    return plan("local data = " + expression +
                " return nn.model(nn.dense(nn.input{1}, 1)), {data = data}")
        .data;
  }
  /// The network whose output is this expression of x, rows of `shape`.
  [[nodiscard]] Network network(const std::string& expression, const std::string& shape = "4") {
    return plan("local x = nn.input{" + shape + "} return nn.model(nn.bias(" + expression +
                ")), {data = nn.rows{inputs = {1}, labels = {0}}}")
        .model.network();
  }
  /// The error of the script, or of its plan.
  [[nodiscard]] Error error(const std::string& code) {
    return error_of([&] { return plan(code); });
  }
  void expect_error(const std::string& code, ErrorCode kind, const std::string& line,
                    const std::string& part) {
    SCOPED_TRACE(code);
    const Error found = error(code);
    EXPECT_EQ(found.code(), kind) << found.what();
    EXPECT_EQ(found.detail("script"), "t.lua");
    EXPECT_EQ(found.detail("line"), line) << found.what();
    EXPECT_NE(found.reason().find(part), std::string_view::npos) << found.what();
  }

  fs::path folder;
  System system;
  Device device = system.device("cpu");
  DeviceScope scope{device};
  ScriptHost host = script_host(system, device);
  std::shared_ptr<TrainingLibrary> library;
};

std::string model_of(const std::string& options) {
  return "return nn.model(nn.dense(nn.dense(nn.input{2}, 3), 2), {" + options +
         "}), {data = nn.rows{inputs = {{1, 2}}, labels = {1}}}";
}

std::vector<float> floats(const Tensor& tensor) { return tensor.to_vector<float>(); }

TEST_F(TrainingScripts, describe_the_network_that_cpp_would_make) {
  const Network from_lua = plan(R"(
    local x = nn.input{8, 8, 1}
    local y = nn.conv(x, 16, {kernel_size = 3, padding = "same", activation = "relu"})
    y = nn.max_pool(y, {2})
    y = nn.dense(nn.dropout(nn.flatten(y), 0.25), 10, {name = "scores"})
    return nn.model(y), {data = nn.rows{inputs = {1}, labels = {0}}})")
                               .model.network();
  const Node x = input({8, 8, 1});
  Node y = conv(x, 16, {.kernel_size = 3, .padding = same, .activation = relu});
  y = dense(dropout(flatten(max_pool(y, {2})), 0.25), 10, {.name = "scores"});
  const auto shapes = [](const Network& network) {
    std::vector<std::string> made;
    for (const LayerInfo& layer : network.layers())
      made.push_back(layer.name + layer.outputs[0].to_string() +
                     std::to_string(layer.parameters()));
    return made;
  };
  EXPECT_EQ(shapes(from_lua), shapes(Network{y}));
}

TEST_F(TrainingScripts, have_optional_inputs) {
  const Network network = plan(R"(
    local x, mask = nn.input({2}, {name = "x"}), nn.input({2}, {name = "mask", optional = true})
    return nn.model(nn.dense(nn.or_else(x * mask, x), 1)),
           {data = nn.rows{inputs = {{1, 2}}, targets = {3}}})")
                              .model.network();
  EXPECT_FALSE(network.inputs()[0].optional);
  EXPECT_TRUE(network.inputs()[1].optional);
}

TEST_F(TrainingScripts, have_a_function_for_every_kind_of_layer) {
  std::string code;
  for (const LayerDefinition* kind : layer_table().list())
    code += "assert(type(nn." + kind->name + ") == 'function', '" + kind->name + "')\n";
  EXPECT_TRUE(run(code + model_of("")));
}

struct Tripled {
  static constexpr const char* kind = "tripled";
  double times = 3;
  std::string name = {};
};
template <class V> void visit_options(Tripled& o, V&& visit) {
  visit("times", o.times, within(0, 9), "of each element");
}

TEST_F(TrainingScripts, have_a_function_for_kinds_that_the_program_has_added) {
  add_layer_kind<Tripled>(
      {.summary = "x · times", .apply = [](LayerCall& call, const Tripled& options) {
         return std::vector<Tensor>{call.x() * options.times};
       }});
  const Network made = network("nn.tripled(x, {times = 2, name = 'mine'})");
  EXPECT_EQ(made.layer("mine").kind, "tripled");
  EXPECT_EQ(made.layer("mine").options, "times=2");
  expect_error("\nnn.tripled(nn.input{2}, 10)", ErrorCode::invalid_parameter, "2",
               "parameter 'times' is 10");
  expect_error("\nnn.trippled(nn.input{2})", ErrorCode::not_found, "2", "did you mean nn.tripled?");
}

TEST_F(TrainingScripts, take_options_by_place_by_name_and_inputs_one_by_one_or_in_a_list) {
  EXPECT_EQ(network("nn.reshape(x, {2, 2})").outputs()[0].to_string(), "[batch, 2, 2]");
  EXPECT_EQ(network("nn.reshape(x, {shape = {2, 2}})").outputs()[0].to_string(), "[batch, 2, 2]");
  EXPECT_EQ(network("nn.concatenate(x, x, -1)").outputs()[0].to_string(), "[batch, 8]");
  EXPECT_EQ(network("nn.concatenate({x, x}, {axis = 1})").outputs()[0].to_string(), "[batch, 8]");
  EXPECT_EQ(network("nn.layer('dense', {units = 3})(x)").outputs()[0].to_string(), "[batch, 3]");
}

TEST_F(TrainingScripts, train_without_optional_inputs_and_name_outputs) {
  const Network made = plan(R"(
    local x = nn.input({1}, {name = "x"})
    local hint = nn.input({1}, {name = "hint", optional = true})
    return nn.model({sum = x + nn.or_else(hint, x), again = nn.dense(x, 1)}),
      {data = nn.rows{inputs = {1}, labels = {0}}})")
                           .model.network();
  EXPECT_TRUE(made.inputs()[made.inputs()[0].name == "hint" ? 0 : 1].optional);
  EXPECT_EQ(made.output_names()[0], "again");
  EXPECT_EQ(made.output_names()[1], "sum");
  EXPECT_NE(error("return nn.model({sum = 1})").reason().find("{name = node, …}"),
            std::string_view::npos);
}

TEST_F(TrainingScripts, share_parameters_of_a_layer_that_is_applied_twice) {
  const Network made = plan(R"(
    local a, b = nn.input({4}, {name = "a"}), nn.input({4}, {name = "b"})
    local shared = nn.layer("dense", {units = 3})
    return nn.model(shared(a) * shared(b) - shared(a) + shared(b)),
      {data = nn.rows{inputs = {1}, labels = {0}}})")
                           .model.network();
  EXPECT_EQ(made.layer("dense_0").applications, 4U);
  EXPECT_EQ(made.layers()[0].kind, "dense");
  EXPECT_EQ(made.layer("multiply_0").kind, "multiply");
  EXPECT_EQ(made.layer("subtract_0").kind, "subtract");
  EXPECT_EQ(made.layer("add_0").kind, "add");
}

TEST_F(TrainingScripts, get_all_outputs_of_a_layer) {
  const Network made = plan(R"(
    local sequence, cell, last = nn.lstm(nn.input{5, 3}, 7)
    return nn.model({sequence, last}), {data = nn.rows{inputs = {1}, labels = {0}}})")
                           .model.network();
  EXPECT_EQ(made.outputs()[0].to_string(), "[batch, 5, 7]");
  EXPECT_EQ(made.outputs()[1].to_string(), "[batch, 7]");
}

TEST_F(TrainingScripts, choose_loss_optimizer_schedule_and_what_is_done_to_gradients) {
  const TrainingPlan made = plan(model_of(
      "loss = 'cross_entropy(label_smoothing=0.1)', optimizer = 'adamw(decay=0.01)', "
      "schedule = 'cosine_decay(value=0.1, decay_steps=10)', "
      "accumulate_gradients = 2, weight_decay = 0.25, clip_norm = 1, clip_value = 2, seed = 9, "
      "freeze = 'dense_0'"));
  const ModelOptions& options = made.model.options();
  EXPECT_EQ(options.loss.text(), "cross_entropy(label_smoothing=0.1)");
  EXPECT_EQ(options.optimizer.text(), "adamw(decay=0.01)");
  EXPECT_FLOAT_EQ(options.schedule(tensor(0)).item<float>(), 0.1F);
  EXPECT_EQ(options.accumulate_gradients, 2);
  EXPECT_EQ(options.weight_decay, 0.25);
  EXPECT_EQ(options.clip_norm, 1);
  EXPECT_EQ(options.clip_value, 2);
  EXPECT_EQ(options.seed, 9U);
  EXPECT_EQ(made.model.frozen(), std::set<std::string>{"dense_0"});
}

TEST_F(TrainingScripts, say_how_to_train) {
  const TrainingPlan made = plan(R"(
    local data = nn.rows{inputs = {{1, 2}}, labels = {1}}
    return nn.model(nn.dense(nn.input{2}, 2)), {data = data, validation = data, epochs = 7,
      batch_size = 3, shuffle = false, seed = 5, prefetch = 0, metrics = {"accuracy"},
      early_stopping = {patience = 2}, reduce_on_plateau = {}, warmup = {epochs = 2},
      checkpoint = {folder = "c"}, save = "m.safetensors"})");
  EXPECT_EQ(made.fit.epochs, 7);
  EXPECT_EQ(made.fit.batch_size, 3);
  EXPECT_FALSE(made.fit.shuffle);
  EXPECT_EQ(made.fit.seed, 5U);
  EXPECT_EQ(made.fit.prefetch, 0);
  EXPECT_EQ(made.fit.metrics.size(), 1U);
  EXPECT_EQ(made.fit.callbacks.size(), 4U);
  EXPECT_TRUE(made.fit.validation);
  EXPECT_EQ(made.save, fs::canonical(folder) / "m.safetensors");
}

TEST_F(TrainingScripts, train) {
  TrainingPlan made = plan(R"(
    local data = nn.rows{inputs = {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, labels = {0, 1, 1, 0}}
    local y = nn.dense(nn.dense(nn.input{2}, 8, {activation = "tanh"}), 2)
    return nn.model(y, {learning_rate = 0.05, seed = 1}), {data = data, epochs = 100, batch_size = 4})");
  EXPECT_LT(fit(made.model, made.data, made.fit).back().loss, 0.1);
}

TEST_F(TrainingScripts, read_no_file_while_they_run) {
  ASSERT_TRUE(run("return nn.model(nn.dense(nn.input{2}, 2)), {data = nn.csv('no', {label = 0})}"));
  EXPECT_EQ(code_of([&] { return library->plan(device); }), ErrorCode::not_found);
}

TEST_F(TrainingScripts, read_csv_files) {
  write("t.csv", "a,b,kind\n1,2,0\n3,4,1\n");
  const Batch labelled = whole_batch(data("nn.csv('t.csv', {label = 'kind'})"));
  EXPECT_EQ(floats(labelled.inputs[0]), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(labelled.targets[0].spec(), (TensorSpec{DType::s32, {2}}));
  const Batch numbers = whole_batch(data("nn.csv('t.csv', {targets = {'a', -1}, inputs = {1}})"));
  EXPECT_EQ(floats(numbers.inputs[0]), (std::vector<float>{2, 4}));
  EXPECT_EQ(floats(numbers.targets[0]), (std::vector<float>{1, 0, 3, 1}));
  write("semicolons.csv", "one line\n1;;0\n");
  const Batch other = whole_batch(
      data("nn.csv('semicolons.csv', {header = false, delimiter = ';', skip_lines = 1, label = 2, "
           "missing = 'nan', check = false})"));
  EXPECT_TRUE(std::isnan(floats(other.inputs[0])[1]));
}

TEST_F(TrainingScripts, read_arrays_of_numpy_and_idx_files) {
  save_npy(folder / "x.npy", tensor({{1.0, 2.0}, {3.0, 4.0}}));
  save_npy(folder / "y.npy", tensor({1, 0}));
  save_npz(folder / "both.npz", {{"x", tensor({{5.0}, {6.0}})}, {"y", tensor({1, 0})}});
  write("x.idx", std::string{"\0\0\x08\x02\0\0\0\2\0\0\0\2", 12} + "abcd");
  write("y.idx", std::string{"\0\0\x08\x01\0\0\0\2\1\0", 10});
  EXPECT_EQ(whole_batch(data("nn.npy('x.npy', 'y.npy')")).inputs[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(data("nn.npy({'x.npy', 'x.npy'}, {'y.npy'})").specs().inputs.size(), 2U);
  EXPECT_EQ(
      floats(whole_batch(data("nn.npz('both.npz', {inputs = 'x', targets = 'y'})")).inputs[0]),
      (std::vector<float>{5, 6}));
  EXPECT_EQ(floats(whole_batch(data("nn.idx('x.idx', 'y.idx')")).inputs[0]),
            (std::vector<float>{'a', 'b', 'c', 'd'}));
}

TEST_F(TrainingScripts, read_folders_of_pictures) {
  const std::vector<std::byte> pixels(4, std::byte{51});
  for (const char* kind : {"a", "b"}) {
    fs::create_directories(folder / "pictures" / kind);
    ASSERT_TRUE(save_image(folder / "pictures" / kind / "1.png", {DType::u8, {2, 2, 1}}, pixels));
  }
  const Batch all = whole_batch(data("nn.image_folder('pictures', {scale = 1 / 255})"));
  EXPECT_EQ(all.inputs[0].spec(), (TensorSpec{DType::f32, {2, 2, 2, 1}}));
  EXPECT_FLOAT_EQ(floats(all.inputs[0])[0], 0.2F);
  EXPECT_EQ(all.targets[0].to_vector<int>(), (std::vector<int>{0, 1}));
}

TEST_F(TrainingScripts, change_shape_and_scale_of_rows) {
  const Batch all = whole_batch(
      data("nn.rows{inputs = {{1, 2, 3, 4}}, targets = {{5}}, shape = {2, 2, 1}, scale = 0.5}"));
  EXPECT_EQ(all.inputs[0].shape(), (Shape{1, 2, 2, 1}));
  EXPECT_EQ(floats(all.inputs[0]), (std::vector<float>{0.5, 1, 1.5, 2}));
  EXPECT_EQ(floats(all.targets[0]), (std::vector<float>{5}));
}

TEST_F(TrainingScripts, split_rows_into_two_sets_without_a_row_in_both) {
  TrainingPlan made = plan(R"(
    local train, test = nn.split(nn.rows{inputs = {{1}, {2}, {3}, {4}, {5}}, labels = {1, 2, 3, 4, 5}}, 0.4)
    return nn.model(nn.dense(nn.input{1}, 6)), {data = train, validation = test})");
  std::vector<int> all = whole_batch(made.data).targets[0].to_vector<int>();
  const std::vector<int> held_out = whole_batch(*made.fit.validation).targets[0].to_vector<int>();
  EXPECT_EQ(held_out.size(), 2U);
  all.insert(all.end(), held_out.begin(), held_out.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_F(TrainingScripts, normalize_by_what_they_trained_with) {
  TrainingPlan made = plan(R"(
    local train = nn.rows{inputs = {{0}, {4}}, labels = {0, 1}}
    local test = nn.rows{inputs = {{8}}, labels = {1}}
    return nn.model(nn.dense(nn.input{1}, 2)),
      {data = nn.normalize(train, {method = "minmax"}),
       validation = nn.normalize(test, {method = "minmax", like = train})})");
  EXPECT_EQ(floats(whole_batch(made.data).inputs[0]), (std::vector<float>{0, 1}));
  EXPECT_EQ(floats(whole_batch(*made.fit.validation).inputs[0]), (std::vector<float>{2}));
  EXPECT_EQ(floats(whole_batch(data("nn.normalize(nn.rows{inputs = {{3, 4}}, labels = {0}}, "
                                    "{method = 'l2'})"))
                       .inputs[0]),
            (std::vector<float>{0.6F, 0.8F}));
}

TEST_F(TrainingScripts, make_vectors_of_labels) {
  const std::string rows = "nn.rows{inputs = {{1}, {2}}, labels = {2, 0}}";
  EXPECT_EQ(floats(whole_batch(data("nn.one_hot(" + rows + ", 3)")).targets[0]),
            (std::vector<float>{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(code_of([&] { return whole_batch(data("nn.one_hot(" + rows + ", 2)")); }),
            ErrorCode::invalid_argument);
}

TEST_F(TrainingScripts, are_told_the_line_of_a_wrong_name) {
  expect_error("\nlocal x = nn.input{2}\nlocal y = nn.densse(x, 2)", ErrorCode::not_found, "3",
               "did you mean nn.dense?");
  expect_error("\nlocal l = nn.layer('densse')", ErrorCode::not_found, "2",
               "did you mean 'dense'?");
  expect_error("local y = nn.dense(nn.input{2}, 3, {unitz = 4})", ErrorCode::invalid_parameter, "1",
               "did you mean 'units'?");
  expect_error("\n" + model_of("optimiser = 'adam'"), ErrorCode::invalid_parameter, "2",
               "did you mean 'optimizer'?");
  expect_error("\n" + model_of("optimizer = 'adamm'"), ErrorCode::not_found, "2",
               "did you mean 'adam'?");
  expect_error(model_of("loss = 'cross_entropie'"), ErrorCode::not_found, "1", "cross_entropie");
  expect_error(model_of("schedule = 'cosin_decay'"), ErrorCode::not_found, "1", "cosine_decay");
  expect_error(
      "local m = nn.model(nn.dense(nn.input{2}, 2))\n"
      "return m, {data = nn.rows{inputs = {1}, labels = {1}}, epoch = 3}",
      ErrorCode::invalid_parameter, "1", "did you mean 'epochs'?");
}

TEST_F(TrainingScripts, are_told_the_line_of_the_layer_that_does_not_fit) {
  const std::string head = "local x = nn.input{4}\nlocal y = nn.dense(x, 4)\n";
  const std::string tail = "\nreturn nn.model(y), {data = nn.rows{inputs = {1}, labels = {1}}}";
  expect_error(head + "y = nn.conv(y, 3, {kernel_size = 3})\ny = nn.flatten(y)" + tail,
               ErrorCode::shape_mismatch, "3", "conv_0");
  expect_error(head + "y = nn.add(y, x)\ny = nn.dense(y, 3, {activation = 'reluu'})" + tail,
               ErrorCode::not_found, "4", "relu");
}

TEST_F(TrainingScripts, are_told_the_line_of_data_that_cannot_be_trained_with) {
  const std::string tail = "\nreturn nn.model(nn.dense(nn.input{2}, 2)), {data = d}";
  expect_error("\nlocal d = nn.csv('nothing.csv', {label = 'y'})" + tail, ErrorCode::not_found, "2",
               "");
  write("bad.csv", "a,b,y\n1,2,0\n1,x,0\n");
  expect_error("local d = nn.csv('bad.csv', {label = 'y'})" + tail, ErrorCode::invalid_argument,
               "1", "no f32 in line 3");
  EXPECT_EQ(error("local d = nn.csv('bad.csv', {label = 'y'})" + tail).detail("file_line"), "3");
  write("nan.csv", "a,b,y\n1,2,0\n1,nan,0\n");
  expect_error("local d = nn.csv('nan.csv', {label = 'y'})\nd = nn.normalize(d)" + tail,
               ErrorCode::invalid_argument, "1", "NaN in line 3 of ");
  expect_error("local d = nn.rows{inputs = {{1, 2}}, labels = {1}, shape = {3}}" + tail,
               ErrorCode::shape_mismatch, "1", "do not fill");
  expect_error("local d = nn.rows{inputs = {{1, 2}}, labels = {1}, shape = {}}" + tail,
               ErrorCode::invalid_argument, "1", "a row's shape has at least one extent, got none");
  expect_error(
      "\nlocal d = nn.normalize(nn.rows{inputs = {{1, 2}}, labels = {1}}, "
      "{method = 'robust'})" +
          tail,
      ErrorCode::invalid_parameter, "2", "method must be one of standard, minmax, l2");
}

TEST_F(TrainingScripts, are_told_what_arguments_should_have_been) {
  expect_error("nn.dense(3, 4)", ErrorCode::invalid_argument, "1", "must be a node");
  expect_error("nn.dense(nn.input{2}, 3, 4, 5, 6, 7, 8, 9, 10)", ErrorCode::invalid_argument, "1",
               "one more");
  expect_error("nn.dense(nn.input{2}, 3, {units = 4})", ErrorCode::invalid_argument, "1",
               "given twice");
  expect_error("nn.layer('dense', {units = 3})(4)", ErrorCode::invalid_argument, "1", "nodes");
  expect_error("return nn.input{2} + 1", ErrorCode::invalid_argument, "1", "both sides");
  expect_error("nn.add(nn.lstm(nn.input{5, 3}, 4), nn.dense)", ErrorCode::invalid_argument, "1",
               "");
  expect_error("nn.csv('a.csv')", ErrorCode::invalid_argument, "1", "label");
  expect_error("nn.csv(7)", ErrorCode::invalid_argument, "1", "path");
  expect_error("nn.split(3, 0.2)", ErrorCode::invalid_argument, "1", "expected data");
  expect_error("nn.split(nn.rows{inputs = {1}, labels = {1}}, 20)", ErrorCode::invalid_argument,
               "1", "from 0 to 1");
  expect_error("nn.rows{inputs = {1, 2}, labels = {1}}", ErrorCode::invalid_argument, "1",
               "2 inputs, but 1 labels");
  expect_error("nn.one_hot(nn.rows{inputs = {1}, labels = {1}}, -2)", ErrorCode::invalid_argument,
               "1", "at least 1, got -2");
  expect_error(model_of("learning_rate = 0.1, schedule = 'constant(value=0.1)'"),
               ErrorCode::invalid_parameter, "1", "beside a schedule");
  expect_error("nn.model(nn.dense)", ErrorCode::invalid_argument, "1", "expected a node");
  expect_error(model_of("seed = 'x'"), ErrorCode::invalid_parameter, "1", "whole number");
  EXPECT_EQ(error(model_of("seed = 1.5")).detail("got"), "1.5");
}

TEST_F(TrainingScripts, must_return_a_model_and_its_training) {
  EXPECT_EQ(error("local x = 1").code(), ErrorCode::script_error);
  EXPECT_EQ(error("return 1, {}").code(), ErrorCode::invalid_argument);
  expect_error("return nn.model(nn.dense(nn.input{2}, 2))", ErrorCode::invalid_argument, "1",
               "data");
  expect_error(
      "return nn.model(nn.dense(nn.input{2}, 2)), {data = nn.rows{inputs = {1}, labels = "
      "{1}}, metrics = {'accuracy'}}",
      ErrorCode::invalid_argument, "1", "validation");
}

TEST_F(TrainingScripts, reach_allowed_directories_only_and_cannot_hold_more_than_their_memory) {
  for (const char* call :
       {"nn.csv('/etc/passwd', {label = 0})", "nn.npy('../x.npy', 'y.npy')", "nn.idx('/x', '/y')",
        "nn.image_folder('/etc')", "nn.npz('/x.npz', {inputs = 'x', targets = 'y'})"})
    EXPECT_EQ(error(call).code(), ErrorCode::permission_denied) << call;
  EXPECT_EQ(error("return nn.model(nn.dense(nn.input{2}, 2)), {data = nn.rows{inputs = {1}, labels "
                  "= {1}}, save = '/tmp/../x.safetensors'}")
                .code(),
            ErrorCode::permission_denied);
  ScriptOptions small;
  small.limits.memory_bytes = std::uint64_t{4} << 20;
  const auto ended = run("while true do nn.input{2} end", small);
  ASSERT_TRUE(ended.has_error());
  EXPECT_EQ(ended.error().code(), ErrorCode::budget_exceeded);
}

TEST_F(TrainingScripts, see_no_table_nn_without_the_library) {
  const auto ended = host.start({"t.lua", "return nn.input{2}"}, {}).done.wait();
  ASSERT_TRUE(ended.has_error());
  EXPECT_EQ(ended.error().code(), ErrorCode::script_error);
}

}  // namespace
}  // namespace stoker::nn
