// Models and their predictions whose handles, systems and devices go in any order.
#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <thread>

#include "stoker/api/model.hpp"
#include "stoker/api/model_async.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/tests/model/model_folder.hpp"

namespace stoker {
namespace {

constexpr const char* endless =
    "return {inputs = {'x'}, outputs = {'y'}, predict = function() while true do end end}";

class ModelLifetimes : public testing::Test {
 protected:
  /// A model of each kind, each of which takes float[1,2] as its first input.
  [[nodiscard]] std::vector<std::filesystem::path> all(const Device& device) const {
    const std::string wide =
        onnx::model(onnx::graph(onnx::node("Abs", {"x"}, {"y"}), {"x"}, {"y"})).bytes();
    return {folder.write("abs.onnx", wide), folder.save_line("line.safetensors", device),
            folder.write("half.lua",
                         "return {inputs = {'x'}, outputs = {'y'},\n"
                         "  predict = function(given) return given.x / 2 end}")};
  }
  static NamedValues inputs_of(const AnyModel& model) {
    const onnx::ValueInfo& input = model.inputs().front();
    const bool is_vector = input.type.dims && input.type.dims->size() == 1;
    return {{input.name, is_vector ? ones({2}) : ones({1, 2})}};
  }
  /// Of what is thrown by the call, is in the future, or comes with the numbers.
  static ErrorCode failure_of(const AnyModel& model, const NamedValues& inputs) {
    try {
      for (const auto& [name, value] : model.predict(inputs).get())
        static_cast<void>(value.tensor().to_vector<float>());
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  }

  ModelFolder folder;
};

TEST_F(ModelLifetimes, end_with_a_system_after_predictions_that_nobody_awaits_are_cancelled) {
  const auto path = folder.write("m.lua", endless);
  const CancelSource stop;
  Future<NamedValues> left;
  {
    const System system;
    const DeviceScope scope{system.device("cpu")};
    LoadModelOptions options;
    options.limits.instructions = 0;
    left =
        load_model(path, options).predict({{"x", ones({2})}}, {.limits = {.cancel = stop.token()}});
    stop.cancel(cancelled_error("test"));
  }
  EXPECT_TRUE(left.wait().has_error());
}

TEST_F(ModelLifetimes, refuse_to_predict_after_their_system) {
  std::vector<AnyModel> models;
  std::vector<NamedValues> inputs;
  {
    const System system;
    const Device device = system.device("cpu");
    const DeviceScope scope{device};
    for (const auto& path : all(device)) {
      models.push_back(load_model(path));
      inputs.push_back(inputs_of(models.back()));
      EXPECT_TRUE(models.back().predict(inputs.back()).wait());
    }
  }
  for (std::size_t i = 0; i < models.size(); ++i)
    EXPECT_EQ(failure_of(models[i], inputs[i]), ErrorCode::closed) << i;
}

TEST_F(ModelLifetimes, go_on_the_thread_that_ends_their_prediction) {
  const System system;
  const Device device = system.device("cpu");
  const DeviceScope scope{device};
  for (const auto& path : all(device)) {
    auto model = std::make_shared<AnyModel>(load_model(path));
    const NamedValues inputs = inputs_of(*model);
    const Future<NamedValues> running = model->predict(inputs);
    const Future<std::size_t> ended = running.then(
        system.executor(), [model = std::move(model)](const Result<NamedValues>& out) mutable {
          model.reset();
          return out.value().size();
        });
    EXPECT_EQ(ended.get(), 1U);
  }
}

TEST_F(ModelLifetimes, are_used_and_dropped_by_many_threads_at_once) {
  const System system;
  const Device device = system.device("cpu");
  const DeviceScope scope{device};
  std::atomic<int> right = 0;
  for (const auto& path : all(device)) {
    AnyModel model = load_model(path);
    const NamedValues inputs = inputs_of(model);
    const auto expected = model.predict(inputs).get().begin()->second.tensor().to_vector<float>();
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, own = model]() mutable {
        for (int round = 0; round < 8; ++round) {
          const NamedValues out = own.predict(inputs).get();
          right += out.begin()->second.tensor().to_vector<float>() == expected ? 1 : 0;
        }
        own = {};
      });
    model = {};
  }
  EXPECT_EQ(right, 3 * 4 * 8);
}

TEST_F(ModelLifetimes, do_not_need_the_loop_that_would_have_been_told) {
  const System system;
  const Device device = system.device("cpu");
  const DeviceScope scope{device};
  const AnyModel model = load_model(all(device).back());
  std::future<NamedValues> told;
  {
    boost::asio::io_context loop;
    told = model.async_predict(
        inputs_of(model), boost::asio::bind_executor(loop.get_executor(), boost::asio::use_future));
  }
  EXPECT_TRUE(model.predict(inputs_of(model)).wait());
}

TEST_F(ModelLifetimes, fail_when_their_device_is_lost) {
  Faults faults;
  SystemOptions options;
  options.drivers = with_faults(faults);
  const System system{options};
  const Device device = system.device("cpu");
  const DeviceScope scope{device};
  std::vector<AnyModel> models;
  std::vector<NamedValues> inputs;
  for (const auto& path : all(device)) {
    models.push_back(load_model(path));
    inputs.push_back(inputs_of(models.back()));
    EXPECT_TRUE(models.back().predict(inputs.back()).wait());
  }
  faults.on(device.name()).lose("unplugged");
  for (std::size_t i = 0; i < models.size(); ++i)
    EXPECT_EQ(failure_of(models[i], inputs[i]), ErrorCode::device_lost) << i;
}

}  // namespace
}  // namespace stoker
