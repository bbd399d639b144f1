// When a service and its models are ready: a device that is lost, hangs or is busy.
#include <nlohmann/json.hpp>

#include "stoker/api/actors.hpp"
#include "stoker/api/serve/calls/device_probe.hpp"
#include "stoker/api/serve_http.hpp"
#include "stoker/api/testing.hpp"
#include "stoker/tests/model/model_folder.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

class ReadyOverHttp : public testing::Test {
 protected:
  ReadyOverHttp() { models->set("line", start_serving(system.supervisor(), line, {})); }

  [[nodiscard]] unsigned status(const std::string& target) {
    const Future<HttpAnswerPtr> answer = service.answer({.method = "GET", .target = target});
    while (!answer.ready()) {
      clock.advance(10ms);
      std::this_thread::yield();
    }
    return answer.get()->status;
  }
  /// The status once it is another one than that.
  [[nodiscard]] unsigned status_after(unsigned old, const std::string& target) {
    unsigned now = status(target);
    for (; now == old; now = status(target)) {
      clock.advance(1s);
      std::this_thread::yield();
    }
    return now;
  }

  Faults faults;
  ManualClock clock;
  System system{{.clock = {std::shared_ptr<void>{}, &clock}, .drivers = with_faults(faults)}};
  Device device = system.device("cpu");
  DeviceScope scope{device};
  ModelFolder folder;
  AnyModel line = load_model(folder.write("line.lua", R"(
    return {inputs = {{name = "x", shape = {"rows", 2}}}, outputs = {"y"},
            predict = function(given) return {y = given.x * 2} end})"),
                             {.device = device});
  std::shared_ptr<ServedModels> models = std::make_shared<ServedModels>();
  HttpService service{system, models};
};

TEST_F(ReadyOverHttp, it_is_not_while_its_device_is_away) {
  EXPECT_EQ(status("/v2/health/ready"), 200U);
  EXPECT_EQ(status("/v2/models/line/ready"), 200U);
  faults.on("cpu").lose("unplugged");
  EXPECT_EQ(status_after(200, "/v2/health/ready"), 503U);
  EXPECT_EQ(status("/v2/health/live"), 200U);
  EXPECT_EQ(status_after(503, "/v2/models/line/ready"), 200U);
  EXPECT_EQ(status("/v2/health/ready"), 200U);
}

TEST_F(ReadyOverHttp, it_is_not_once_its_device_hangs) {
  EXPECT_EQ(status("/v2/health/ready"), 200U);
  faults.on("cpu").hang_submission();
  EXPECT_EQ(status_after(200, "/v2/health/ready"), 503U);
  EXPECT_EQ(status("/v2/health/live"), 200U);
  faults.on("cpu").lose("it hung");
}

class ProbedDevice : public testing::Test {
 protected:
  [[nodiscard]] std::uint64_t commands() const {
    return device.stats().commands.commands_submitted;
  }

  Faults faults;
  ManualClock clock;
  System system{{.clock = {std::shared_ptr<void>{}, &clock}, .drivers = with_faults(faults)}};
  Device device = system.device("cpu");
  std::shared_ptr<serve::DeviceProbe> probe =
      std::make_shared<serve::DeviceProbe>(device, system.executor());
};

TEST_F(ProbedDevice, is_asked_at_most_once_a_second) {
  EXPECT_TRUE(probe->computes().get());
  const std::uint64_t before = commands();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(probe->computes().get());
  EXPECT_EQ(commands(), before);
  clock.advance(1s);
  EXPECT_TRUE(probe->computes().get());
  while (commands() == before) std::this_thread::yield();
}

TEST_F(ProbedDevice, computes_until_its_last_success_is_old) {
  EXPECT_TRUE(probe->computes().get());
  faults.hold_completions();
  clock.advance(5s);
  EXPECT_TRUE(probe->computes().get());  // this starts one that does not end
  clock.advance(1s);
  const Future<bool> later = probe->computes();
  EXPECT_FALSE(later.ready());
  clock.advance(40ms);
  EXPECT_FALSE(later.get());
  faults.release_all();
  while (!probe->computes().get()) clock.advance(40ms);
}

TEST_F(ProbedDevice, computes_if_it_ends_the_work_of_others) {
  faults.hold_completions();
  const Future<bool> answer = probe->computes();
  EXPECT_FALSE(answer.ready());
  const std::uint64_t before = device.stats().commands.commands_completed;
  const Buffer busy = device.buffer(DType::f32, Shape{1});
  busy.fill(2);
  while (device.stats().commands.commands_completed == before) {
    faults.release(1);
    std::this_thread::yield();
  }
  clock.advance(40ms);
  EXPECT_TRUE(answer.get());
  faults.release_all();
}

TEST_F(ProbedDevice, computes_no_longer_when_the_work_of_others_ends_no_more) {
  faults.hold_completions();
  const Buffer busy = device.buffer(DType::f32, Shape{1});
  busy.fill(2);
  const Future<bool> first = probe->computes();
  const std::uint64_t before = device.stats().commands.commands_completed;
  while (device.stats().commands.commands_completed == before) {
    faults.release(1);
    std::this_thread::yield();
  }
  clock.advance(40ms);
  EXPECT_TRUE(first.get());
  for (bool computes = true; computes;) {  // until the last look saw nothing end for five seconds
    clock.advance(6s);
    const Future<bool> later = probe->computes();
    clock.advance(40ms);
    computes = later.get();
  }
  faults.release_all();
}

}  // namespace
}  // namespace stoker
