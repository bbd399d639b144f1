// `stoker train`, as a user meets it.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "process.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string root = checkout_folder();
const std::string xor_script = root + "/examples/scripts/train_xor.lua";

class TrainCommand : public testing::Test {
 protected:
  void SetUp() override {
    directory =
        fs::temp_directory_path() / ("stoker_train_" + std::to_string(getpid()) + "_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(directory);
  }
  void TearDown() override { fs::remove_all(directory); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream{directory / name} << text;
  }
  static std::vector<std::string> on_cpu(std::vector<std::string> words) {
    words.insert(words.begin(), "train");
    words.insert(words.end(), {"--device", "cpu"});
    return words;
  }
  [[nodiscard]] CommandResult train(std::vector<std::string> words) const {
    return stoker_command(on_cpu(std::move(words)), directory);
  }
  [[nodiscard]] std::string bytes_of(const std::string& name) const {
    std::ifstream file{directory / name, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  fs::path directory;
};

TEST_F(TrainCommand, learns_exclusive_or) {
  const json report = parsed(train({xor_script, "--json"}));
  ASSERT_EQ(report["epochs"].size(), 100U);
  EXPECT_LT(report["epochs"].back()["loss"].get<double>(), 0.1);
  EXPECT_EQ(report["epochs"].back()["metrics"]["accuracy"], 1.0);
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_EQ(report["model"]["parameters"], 42);
}

TEST_F(TrainCommand, tells_nine_of_ten_digits_after_two_epochs) {
  const CommandResult result = stoker_command(
      on_cpu({"examples/scripts/train_digits.lua", "--epochs", "2", "--json"}), root);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(parsed(result)["epochs"].back()["metrics"]["accuracy"].get<double>(), 0.9);
}

TEST_F(TrainCommand, shows_the_model_each_epoch_and_what_came_of_it) {
  const CommandResult result = train({xor_script, "epochs=3", "--save", "m.safetensors"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"dense_0 (dense)", "parameters: 42", "epoch 1/3", "epoch 3/3",
                           "trained to epoch 3", "accuracy", "saved m.safetensors"})
    EXPECT_TRUE(contains(result.out, part)) << part << " in\n" << result.out;
  EXPECT_TRUE(fs::exists(directory / "m.safetensors"));
  EXPECT_EQ(train({xor_script, "epochs=3", "--quiet"}).out, "");
}

TEST_F(TrainCommand, goes_on_from_a_file_as_if_it_had_never_stopped) {
  ASSERT_EQ(train({xor_script, "--epochs", "20", "--save", "whole"}).exit_code, 0);
  ASSERT_EQ(train({xor_script, "--epochs", "12", "--save", "part"}).exit_code, 0);
  EXPECT_NE(bytes_of("whole"), bytes_of("part"));
  const CommandResult rest =
      train({xor_script, "--epochs", "20", "--resume", "part", "--save", "part"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_FALSE(contains(rest.out, "epoch 12/20"));
  EXPECT_TRUE(contains(rest.out, "epoch 13/20"));
  EXPECT_EQ(bytes_of("whole"), bytes_of("part"));
}

TEST_F(TrainCommand, goes_on_with_what_callbacks_had_seen) {
  write("t.lua", R"(
    local y = nn.dense(nn.dense(nn.input{2}, 8, {activation = 'tanh'}), 2)
    return nn.model(y, {loss = 'cross_entropy', optimizer = 'sgd', learning_rate = 4, seed = 3}),
           {data = nn.rows{inputs = {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, labels = {0, 1, 1, 0}},
            batch_size = 2, early_stopping = {patience = 4}, reduce_on_plateau = {patience = 2}})");
  const CommandResult whole = train({"t.lua", "--epochs", "99", "--save", "whole", "--json"});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const auto epochs = parsed(whole)["epochs"];
  ASSERT_LT(epochs.size(), 99U);
  EXPECT_LT(epochs.back()["learning_rate"].get<double>(), 4);
  const std::string half = std::to_string(epochs.size() - 2);
  ASSERT_EQ(train({"t.lua", "--epochs", half, "--save", "part"}).exit_code, 0);
  ASSERT_EQ(train({"t.lua", "--epochs", "99", "--resume", "part", "--save", "part"}).exit_code, 0);
  EXPECT_EQ(bytes_of("whole"), bytes_of("part"));
}

TEST_F(TrainCommand, says_that_a_callback_stopped_it_early) {
  write("t.lua", R"(
    return nn.model(nn.dense(nn.input{2}, 2), {learning_rate = 0, seed = 1}),
           {data = nn.rows{inputs = {{0, 0}, {0, 1}}, labels = {0, 1}},
            epochs = args.epochs, early_stopping = {patience = 2}})");
  const CommandResult early = train({"t.lua", "epochs=50"});
  EXPECT_EQ(early.exit_code, 0) << early.err;
  EXPECT_TRUE(contains(early.out, "trained to epoch 3 of 50 (a callback stopped it early) in"))
      << early.out;
  EXPECT_EQ(parsed(train({"t.lua", "epochs=50", "--json"}))["stopped_early"], true);
  const CommandResult whole = train({"t.lua", "epochs=2"});
  EXPECT_TRUE(contains(whole.out, "trained to epoch 2 in")) << whole.out;
  EXPECT_EQ(parsed(train({"t.lua", "epochs=2", "--json"}))["stopped_early"], false);
}

TEST_F(TrainCommand, says_what_was_trained_and_why_it_is_not_saved) {
  fs::create_directories(directory / "folder");
  const CommandResult result = train({xor_script, "epochs=3", "--save", "folder"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out, "trained to epoch 3 in")) << result.out;
  EXPECT_FALSE(contains(result.out, "saved"));
  EXPECT_TRUE(contains(result.err, "folder")) << result.err;
  const json report = parsed(train({xor_script, "epochs=3", "--save", "folder", "--json"}));
  EXPECT_EQ(report["epochs"].size(), 3U);
  EXPECT_EQ(report["error"], report["unsaved"]);
  EXPECT_FALSE(report.contains("saved"));
}

TEST_F(TrainCommand, goes_on_only_in_the_precision_of_the_file) {
  const auto script = [](const std::string& options) {
    return "return nn.model(nn.dense(nn.input{2}, 2), {" + options +
           "}), {data = nn.rows{inputs = {{0, 1}}, labels = {1}}}";
  };
  write("full.lua", script(""));
  write("mixed.lua", script("precision = 'mixed(compute=bf16)'"));
  ASSERT_EQ(train({"full.lua", "--epochs", "1", "--save", "m"}).exit_code, 0);
  const CommandResult mixed = train({"mixed.lua", "--epochs", "2", "--resume", "m"});
  EXPECT_EQ(mixed.exit_code, 1);
  EXPECT_TRUE(contains(mixed.err, "its precision differs")) << mixed.err;
}

// Each process hashes the names in a Lua table otherwise.
TEST_F(TrainCommand, writes_the_same_file_in_every_process) {
  write("t.lua",
        "local y = nn.dense(nn.input{2}, {units = 6, activation = 'tanh', use_bias = true,\n"
        "  kernel_initializer = 'he_normal', bias_initializer = 'zeros', name = 'first'})\n"
        "return nn.model(nn.dense(y, 2)), {data = nn.rows{inputs = {{0, 1}}, labels = {1}}}");
  ASSERT_EQ(train({"t.lua", "--epochs", "1", "--save", "m"}).exit_code, 0);
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(train({"t.lua", "--epochs", "1", "--save", "other"}).exit_code, 0);
    EXPECT_EQ(bytes_of("other"), bytes_of("m"));
    const CommandResult rest = train({"t.lua", "--epochs", "2", "--resume", "m"});
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
  }
}

TEST_F(TrainCommand, refuses_to_save_where_there_is_no_folder_before_it_trains) {
  const CommandResult result = train({xor_script, "--save", "none/m"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(contains(result.err, "there is no folder none")) << result.err;
  EXPECT_FALSE(contains(result.out, "epoch 1/"));
}

TEST_F(TrainCommand, goes_on_only_with_the_model_of_the_script) {
  ASSERT_EQ(train({xor_script, "--epochs", "5", "--save", "m"}).exit_code, 0);
  const CommandResult done = train({xor_script, "--epochs", "5", "--resume", "m"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(contains(done.err, "5 of 5 epochs already")) << done.err;
  EXPECT_EQ(train({xor_script, "--resume", "nothing"}).exit_code, 3);
  const auto script = [](const std::string& units, const std::string& options) {
    return "local y = nn.dense(nn.dense(nn.input{2}, " + units +
           ", {activation = 'tanh'}), 2) return nn.model(y, {" + options +
           "}), {data = nn.rows{inputs = {{0, 1}}, labels = {1}}}";
  };
  write("wider.lua", script("9", ""));
  const CommandResult wider = train({"wider.lua", "--resume", "m"});
  EXPECT_EQ(wider.exit_code, 1);
  EXPECT_TRUE(contains(wider.err, "another network")) << wider.err;
  write("sgd.lua", script("8", "optimizer = 'sgd'"));
  const CommandResult sgd = train({"sgd.lua", "--resume", "m"});
  EXPECT_EQ(sgd.exit_code, 1);
  EXPECT_TRUE(contains(sgd.err, "its optimizer differs")) << sgd.err;
}

TEST_F(TrainCommand, says_what_differs_between_a_file_and_the_script) {
  const auto write_model = [this](const std::string& name, const std::string& options) {
    write(name, "return nn.model(nn.dense(nn.dense(nn.input{2}, 4), 2), {" + options +
                    "}), {data = nn.rows{inputs = {{0, 1}}, labels = {1}}}");
  };
  write_model("plain.lua", "");
  write_model("scheduled.lua", "schedule = 'constant(value=0.1)'");
  ASSERT_EQ(train({"plain.lua", "--epochs", "1", "--save", "plain"}).exit_code, 0);
  ASSERT_EQ(train({"scheduled.lua", "--epochs", "1", "--save", "scheduled"}).exit_code, 0);
  const auto refuses = [this](const char* script, const char* file, const char* text) {
    const CommandResult result = train({script, "--epochs", "2", "--resume", file});
    EXPECT_EQ(result.exit_code, 1) << script;
    EXPECT_TRUE(contains(result.err, text)) << text << " in\n" << result.err;
  };
  write_model("mixed.lua", "precision = 'mixed'");
  refuses("mixed.lua", "plain", "its precision differs: the file has full, the script mixed");
  write_model("frozen.lua", "freeze = {'dense_0'}");
  refuses("frozen.lua", "plain",
          "its set of frozen layers differs: the file has none, the script dense_0");
  refuses("plain.lua", "scheduled", "it was made with a schedule");
  refuses("scheduled.lua", "plain", "it was made without a schedule");
  EXPECT_EQ(train({"scheduled.lua", "--epochs", "2", "--resume", "scheduled"}).exit_code, 0);
}

TEST_F(TrainCommand, saves_the_last_whole_epoch_when_it_is_interrupted) {
  CommandProcess process{on_cpu({xor_script, "--epochs", "1000000000", "--save", "m"}), directory};
  ASSERT_TRUE(process.wait_for_output("epoch 2/"));
  process.signal(SIGINT);
  const CommandResult result = process.finish();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_TRUE(contains(result.err, "last whole epoch")) << result.err;
  EXPECT_TRUE(contains(result.out, "saved m"));
  // The file knows the epoch, so the next one follows the last that was shown.
  const std::size_t at = result.out.rfind("trained to epoch ") + 17;
  const long last = std::stol(result.out.substr(at));
  const CommandResult rest =
      train({xor_script, "--epochs", std::to_string(last + 1), "--resume", "m"});
  EXPECT_TRUE(contains(rest.out, "trained to epoch " + std::to_string(last + 1))) << rest.out;
}

TEST_F(TrainCommand, stops_amid_an_epoch) {
  write("t.lua",
        "local inputs, labels = {}, {}\n"
        "for i = 1, 200000 do inputs[i] = {i % 2}; labels[i] = i % 2 end\n"
        "return nn.model(nn.dense(nn.input{1}, 2)),\n"
        "  {data = nn.rows{inputs = inputs, labels = labels}, batch_size = 1, save = 'm'}");
  CommandProcess process{on_cpu({"t.lua"}), directory};
  ASSERT_TRUE(process.wait_for_output("trainable"));
  process.signal(SIGINT);
  const CommandResult result = process.finish();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_TRUE(contains(result.err, "before the first epoch was over")) << result.err;
  EXPECT_FALSE(fs::exists(directory / "m"));
}

TEST_F(TrainCommand, an_interrupted_script_has_trained_nothing) {
  write("t.lua", "print('go') while true do end");
  CommandProcess process{on_cpu({"t.lua", "--instructions", "0", "--save", "m"}), directory};
  ASSERT_TRUE(process.wait_for_output("go\n"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().exit_code, 143);
  EXPECT_FALSE(fs::exists(directory / "m"));
}

TEST_F(TrainCommand, shows_the_line_of_an_error) {
  write("t.lua", "local x = nn.input{2}\nlocal y = nn.densse(x, 2)\n");
  const CommandResult layer = train({"t.lua"});
  EXPECT_EQ(layer.exit_code, 3);
  EXPECT_TRUE(contains(layer.err, "t.lua:2: nn: there is no nn.densse; did you mean nn.dense?"))
      << layer.err;
  EXPECT_TRUE(contains(layer.err, "2 | local y = nn.densse(x, 2)"));

  write("t.lua",
        "local d = nn.csv('no.csv', {label = 0})\n"
        "return nn.model(nn.dense(nn.input{2}, 2)), {data = d}");
  const CommandResult file = train({"t.lua"});
  EXPECT_EQ(file.exit_code, 3);
  EXPECT_TRUE(contains(file.err, "t.lua:1: ")) << file.err;
  EXPECT_TRUE(contains(file.err, "no.csv"));

  write("t.lua",
        "\nlocal d = nn.rows{inputs = {{0 / 0, 1}}, labels = {0}}\n"
        "return nn.model(nn.dense(nn.input{2}, 2)), {data = d}");
  const CommandResult nan = train({"t.lua"});
  EXPECT_EQ(nan.exit_code, 1);
  EXPECT_TRUE(contains(nan.err, "t.lua:2: ")) << nan.err;
  EXPECT_TRUE(contains(nan.err, "NaN in row 0")) << nan.err;

  write("t.lua", "error('no')");
  EXPECT_EQ(train({"t.lua"}).exit_code, 1);
  EXPECT_EQ(parsed(train({"t.lua", "--json"}))["error"]["code"], "script_error");
}

TEST_F(TrainCommand, a_class_that_does_not_exist_fails_the_training_at_the_model) {
  write("t.lua",
        "local d = nn.rows{inputs = {{1, 1}}, labels = {7}}\n"
        "return nn.model(nn.dense(nn.input{2}, 3)), {data = d, save = 'm'}");
  const CommandResult result = train({"t.lua"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "t.lua:2: ")) << result.err;
  EXPECT_FALSE(fs::exists(directory / "m"));
}

TEST_F(TrainCommand, keeps_a_script_within_its_limits_and_directories) {
  write("t.lua", "while true do end");
  EXPECT_EQ(train({"t.lua", "--instructions", "100000"}).exit_code, 4);
  write("t.lua", "nn.csv('/etc/passwd', {label = 0})");
  const CommandResult outside = train({"t.lua"});
  EXPECT_EQ(outside.exit_code, 1);
  EXPECT_TRUE(contains(outside.err, "--allow")) << outside.err;
}

TEST_F(TrainCommand, is_named_to_who_runs_such_a_script_as_any_other) {
  const CommandResult result = stoker_command({"run", xor_script, "--device", "cpu"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "stoker train")) << result.err;
}

TEST_F(TrainCommand, refuses_an_argument_that_the_script_never_reads) {
  const CommandResult result = train({xor_script, "epoch=3", "--quiet"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "never reads the argument 'epoch'; did you mean 'epochs'"))
      << result.err;
  EXPECT_FALSE(contains(result.err, "child terminated")) << "quiet: no log";
}

TEST_F(TrainCommand, refuses_a_wrong_command_line) {
  EXPECT_EQ(train({}).exit_code, 2);
  EXPECT_EQ(train({xor_script, "five"}).exit_code, 2);
  EXPECT_EQ(train({xor_script, "--epochs", "0"}).exit_code, 2);
  EXPECT_EQ(train({"nothing.lua"}).exit_code, 3);
  EXPECT_EQ(stoker_command({"train", xor_script, "--device", "abacus"}).exit_code, 3);
  EXPECT_EQ(stoker_command({"train", "--help"}).exit_code, 0);
}

TEST_F(TrainCommand, saves_models_that_other_scripts_load) {
  ASSERT_EQ(train({xor_script, "--save", "xor.safetensors", "--quiet"}).exit_code, 0);
  const std::string code =
      "local y = nn.load('xor.safetensors'):predict(buffer{{0, 0}, {0, 1}})\n"
      "print(table.concat(read(argmax(y, {axis = 1})), ' '))";
  write("predict.lua", code);
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"--device", "cpu", "--quiet"});
    return stoker_command(words, directory);
  };
  EXPECT_EQ(run({"predict.lua"}).out, "0 1\n");
  EXPECT_EQ(run({"-e", code}).out, "0 1\n");
  const CommandResult refused = run({"-e", "print(1)\nprint(nn.load('absent'))"});
  EXPECT_EQ(refused.out, "1\n");
  EXPECT_EQ(refused.exit_code, 3) << refused.err;
  EXPECT_TRUE(contains(refused.err, "absent")) << refused.err;
  // Behind .. it is no field.
  EXPECT_EQ(run({"-e", "print('a'..tostring(1)..nn.load('absent'))"}).exit_code, 3);
}

TEST_F(TrainCommand, saves_models_for_scripts_on_the_standard_input) {
  ASSERT_EQ(train({xor_script, "--save", "xor.safetensors", "--quiet"}).exit_code, 0);
  const CommandResult result = stoker_command({"run", "-", "--device", "cpu", "--quiet"}, directory,
                                              "print(nn.load('xor.safetensors'))");
  EXPECT_EQ(result.out, "model xor.safetensors: [batch, 2] -> [batch, 2]\n") << result.err;
}

}  // namespace
}  // namespace stoker
