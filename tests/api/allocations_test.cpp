// A device that refuses memory at any moment of a program: each call refuses or each command is answered,
// and what comes afterwards runs.
#include <gtest/gtest.h>

#include "stoker/api/stoker.hpp"
#include "stoker/device/fault/fault_injection.hpp"

namespace stoker {
namespace {

constexpr std::int64_t large = 1 << 18;  // elements: more memory than pieces of slabs have

class RefusedMemory : public testing::TestWithParam<const char*> {};

TEST_P(RefusedMemory, is_answered_wherever_it_strikes) {
  int calls = 0;
  int commands = 0;
  for (std::uint64_t nth = 1; nth <= 16; ++nth) {
    const Faults faults;
    SystemOptions options;
    options.drivers = with_faults(faults);
    const System system{options};
    const Device device = system.device(GetParam());
    std::vector<Future<void>> answers;
    faults.fail_allocation(nth, 2);  // the pool asks twice
    try {
      const Buffer x = device.buffer(std::vector<float>(large, -1.0F));
      Pipeline pipeline = system.pipeline(device);
      pipeline.input("x", x.spec()).add("abs", {"x"}, "a").add("neg", {"a"}, "b");
      pipeline.add("abs", {"b"}, "y").output("y");
      const Buffer y = device.buffer(x.spec());
      for (int i = 0; i < 4; ++i) answers.push_back(pipeline.run({{"x", x}, {"y", y}}).future());
      answers.push_back(device.submit("relu", {x}, y).future());
      const Buffer z = device.run("relu", {y});
      answers.push_back(z.written());
      answers.push_back(y.copy_to(x).future());
      answers.push_back(x.write(std::vector<float>(large, 1.0F)).future());
      const auto values = x.read<float>();
      static_cast<void>(values.wait());
      if (!values.wait()) {
        EXPECT_EQ(values.wait().error().code(), ErrorCode::out_of_memory) << nth;
      }
    } catch (const Error& refused) {
      ++calls;
      EXPECT_EQ(refused.code(), ErrorCode::out_of_memory) << nth << ": " << refused.what();
    }
    for (const Future<void>& answer : answers) {
      const Result<void>& outcome = answer.wait();  // else the test never ends
      if (!outcome) {
        ++commands;
        EXPECT_EQ(outcome.error().code(), ErrorCode::out_of_memory) << nth;
      }
    }
    faults.clear();
    EXPECT_EQ(device.run("abs", {device.buffer({-2.0F})}).read<float>().get(),
              std::vector<float>{2.0F});
  }
  EXPECT_GT(calls, 0);
  EXPECT_GT(commands, 0);
}

INSTANTIATE_TEST_SUITE_P(Device, RefusedMemory, testing::Values("cpu"));

}  // namespace
}  // namespace stoker
