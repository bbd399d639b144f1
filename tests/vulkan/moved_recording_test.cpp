// Recordings that are put on other memory, and kernels whose parameters lie in memory.
#include "fixture.hpp"
#include "stoker/kernels/shader/preamble.hpp"

namespace stoker::device::vulkan {
namespace {

using namespace testing;

class MovedRecordings : public VulkanTest {
 protected:
  std::unique_ptr<MemoryBlock> of(float value) {
    return device_->filled<float>(std::vector<float>(1000, value));
  }
  std::uint64_t replay(Recording& recording, bool moves = false) {
    const QueuePoint before{QueueKind::compute, last_};
    Submission submission;
    submission.recording_moves = moves;
    submission.recording = &recording;
    if (last_) submission.waits = {&before, 1};
    last_ = device_->submit(submission);
    EXPECT_TRUE(device_->wait({QueueKind::compute, last_}));
    return device_->backend().counters().encoded;
  }

  std::uint64_t last_ = 0;
};

TEST_F(MovedRecordings, run_on_the_memory_they_were_put_on) {
  const auto executable = device_->prepare(affine_kernel(), 1000);
  const auto a = of(1);
  const auto b = of(0);
  const auto steps = [&](const std::unique_ptr<MemoryBlock>& from,
                         const std::unique_ptr<MemoryBlock>& to) {
    std::vector<Step> all{dispatch_step(executable, whole(from), whole(b)),
                          dispatch_step(executable, whole(b), whole(to))};
    all[1].after.push_back(0);
    return all;
  };
  const auto c = of(0);
  const auto recording = device_->backend().record(steps(a, c)).value();
  replay(*recording);
  replay(*recording);
  EXPECT_EQ(values_of<float>(c)[999], 7.0F);

  std::uint64_t encoded = 0;
  for (int i = 0; i < 6; ++i) {
    const auto from = of(static_cast<float>(i));
    const auto to = of(0);
    ASSERT_TRUE(device_->backend().rebind(*recording, steps(from, to)));
    const std::uint64_t now = replay(*recording);
    EXPECT_EQ(values_of<float>(to), std::vector<float>(1000, 4.0F * static_cast<float>(i) + 3))
        << i;
    if (i > 0) {
      EXPECT_EQ(now, encoded) << "a table is written, nothing is encoded";
    }
    encoded = now;
  }
  EXPECT_EQ(device_->backend().counters().recordings, 1U);
}

TEST_F(MovedRecordings, are_encoded_once_in_their_first_run_if_their_kernels_were_measured) {
  const auto executable = device_->prepare(affine_kernel(), 1000);
  const auto a = of(1);
  const auto b = of(0);
  device_->run(std::vector{dispatch_step(executable, whole(a), whole(b))});
  last_ = 1;
  const auto recording =
      device_->backend().record(std::vector{dispatch_step(executable, whole(a), whole(b))}).value();
  const std::uint64_t encoded = replay(*recording, true);
  const auto from = of(5);
  const auto to = of(0);
  ASSERT_TRUE(device_->backend().rebind(
      *recording, std::vector{dispatch_step(executable, whole(from), whole(to))}));
  EXPECT_EQ(replay(*recording, true), encoded);
  EXPECT_EQ(values_of<float>(to), std::vector<float>(1000, 11.0F));
}

TEST_F(MovedRecordings, are_encoded_at_the_end_of_a_first_run_that_measures) {
  const auto executable = device_->prepare(affine_kernel(), 1000);
  const auto a = of(1);
  const auto b = of(0);
  const auto recording =
      device_->backend().record(std::vector{dispatch_step(executable, whole(a), whole(b))}).value();
  replay(*recording, true);
  device_->backend().run_ended(*recording);
  const std::uint64_t encoded = device_->backend().counters().encoded;
  for (const float value : {5.0F, 6.0F}) {
    const auto from = of(value);
    const auto to = of(0);
    ASSERT_TRUE(device_->backend().rebind(
        *recording, std::vector{dispatch_step(executable, whole(from), whole(to))}));
    EXPECT_EQ(replay(*recording, true), encoded);
    device_->backend().run_ended(*recording);
    EXPECT_EQ(device_->backend().counters().encoded, encoded);
    EXPECT_EQ(values_of<float>(to), std::vector<float>(1000, 2 * value + 1));
  }
}

TEST_F(MovedRecordings, hold_kernels_of_more_numbers_than_can_be_pushed) {
  const auto executable = device_->prepare(many_numbers_kernel(), 1000);
  const auto a = of(1);
  const auto b = of(0);
  device_->run(std::vector{dispatch_step(executable, whole(a), whole(b))});
  last_ = 1;
  EXPECT_EQ(values_of<float>(b), std::vector<float>(1000, 781.0F));
  const auto recording =
      device_->backend().record(std::vector{dispatch_step(executable, whole(a), whole(b))}).value();
  for (int i = 0; i < 4; ++i) {
    const auto from = of(static_cast<float>(i));
    const auto to = of(0);
    ASSERT_TRUE(device_->backend().rebind(
        *recording, std::vector{dispatch_step(executable, whole(from), whole(to))}));
    replay(*recording);
    EXPECT_EQ(values_of<float>(to), std::vector<float>(1000, 780.0F + static_cast<float>(i)));
  }
}

TEST_F(MovedRecordings, stay_as_they_are_where_nothing_moves) {
  const auto executable = device_->prepare(affine_kernel(), 1000);
  const auto a = of(1);
  const auto b = of(0);
  const std::vector<Step> steps{dispatch_step(executable, whole(a), whole(b))};
  const auto recording = device_->backend().record(steps).value();
  replay(*recording);
  const std::uint64_t encoded = replay(*recording);
  ASSERT_TRUE(device_->backend().rebind(*recording, steps));
  EXPECT_EQ(replay(*recording), encoded);
}

TEST_F(MovedRecordings, with_copies_are_recorded_anew) {
  const auto a = of(1);
  const auto b = of(0);
  const auto recording =
      device_->backend().record(std::vector{copy_step(whole(a), whole(b))}).value();
  EXPECT_FALSE(device_->backend().rebind(*recording, std::vector{copy_step(whole(b), whole(a))}));
  replay(*recording);
  EXPECT_EQ(values_of<float>(b)[0], 1.0F);
}

}  // namespace
}  // namespace stoker::device::vulkan
