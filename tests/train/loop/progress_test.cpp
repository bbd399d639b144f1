// How far training has come, as text: by value, and what a bar writes to a terminal and to a log.
#include "stoker/api/train/loop/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace stoker::nn {
namespace {

using namespace std::chrono_literals;

TrainingProgress half_way() {
  return {.epoch = 2,
          .epochs = 5,
          .batch = 48,
          .batches = 96,
          .rows = 1536,
          .loss = 0.31416,
          .rows_per_second = 12800.4,
          .epoch_remaining = 0.1,
          .remaining_seconds = 2.13};
}
TrainingProgress at_the_end_of_its_epoch() {
  TrainingProgress progress = half_way();
  progress.batch = 96;
  return progress;
}

TEST(ProgressLine, shows_epoch_bar_batches_loss_speed_and_what_is_left) {
  EXPECT_EQ(
      progress_line(half_way(), 100),
      "epoch 2/5 [===============>              ] 48/96  loss 0.3142  12800 rows/s  2.1 s left");
}

TEST(ProgressLine, has_a_full_bar_at_the_end_of_an_epoch) {
  TrainingProgress progress = at_the_end_of_its_epoch();
  progress.remaining_seconds = 0;
  EXPECT_EQ(progress_line(progress, 100),
            "epoch 2/5 [==============================] 96/96  loss 0.3142  12800 rows/s");
}

TEST(ProgressLine, gives_the_bar_what_the_numbers_leave) {
  for (std::size_t columns = 0; columns < 120; ++columns) {
    const std::string line = progress_line(half_way(), columns);
    EXPECT_NE(line.find("48/96  loss 0.3142  12800 rows/s  2.1 s left"), std::string::npos);
    EXPECT_TRUE(line.find('[') == std::string::npos || line.size() <= columns) << line;
  }
  EXPECT_EQ(progress_line(half_way(), 20),
            "epoch 2/5 48/96  loss 0.3142  12800 rows/s  2.1 s left");
}

TEST(ProgressLine, keeps_its_width_while_batches_are_counted) {
  TrainingProgress early = half_way();
  early.batch = 3;
  early.batches = 1000;
  TrainingProgress late = early;
  late.batch = 999;
  EXPECT_EQ(progress_line(early, 100).size(), progress_line(late, 100).size());
}

TEST(Durations, are_written_for_people) {
  EXPECT_EQ(duration_text(0), "0.0 s");
  EXPECT_EQ(duration_text(3.25), "3.2 s");
  EXPECT_EQ(duration_text(59.97), "1 min 00 s");
  EXPECT_EQ(duration_text(245), "4 min 05 s");
  EXPECT_EQ(duration_text(7260), "2 h 01 min");
  EXPECT_EQ(duration_text(-1), "0.0 s");
  EXPECT_EQ(duration_text(1.0 / 0.0), "?");
  EXPECT_EQ(rate_text(0.5), "0.5");
  EXPECT_EQ(rate_text(1234.5), "1234");
}

TEST(ProgressBars, on_a_terminal_draw_over_their_line) {
  std::ostringstream out;
  ProgressBar bar{out, 100, 0ms};
  bar.show(half_way());
  bar.show(half_way());
  EXPECT_EQ(std::ranges::count(out.str(), '\r'), 2);
  EXPECT_EQ(std::ranges::count(out.str(), '\n'), 0);
  bar.show(at_the_end_of_its_epoch());
  EXPECT_EQ(out.str().back(), '\n');
}

TEST(ProgressBars, wipe_out_what_a_longer_line_left) {
  std::ostringstream out;
  ProgressBar bar{out, 100, 0ms};
  TrainingProgress slow = half_way();
  slow.remaining_seconds = 36000;
  bar.show(slow);
  const std::size_t longer = out.str().size();
  bar.show(half_way());
  EXPECT_EQ(out.str().size(), 2 * longer);
}

TEST(ProgressBars, are_not_drawn_more_often_than_they_were_told) {
  std::ostringstream out;
  ProgressBar bar{out, 100, 24h};
  for (int i = 0; i < 10; ++i) bar.show(half_way());
  EXPECT_EQ(std::ranges::count(out.str(), '\r'), 1);
  bar.show(at_the_end_of_its_epoch());
  EXPECT_EQ(std::ranges::count(out.str(), '\r'), 2) << "the end of an epoch is always shown";
}

TEST(ProgressBars, write_a_line_for_an_epoch_to_what_is_no_terminal) {
  std::ostringstream out;
  ProgressBar bar{out};
  bar.show(half_way());
  EXPECT_EQ(out.str(), "");
  bar.show(at_the_end_of_its_epoch());
  EXPECT_EQ(out.str(), progress_line(at_the_end_of_its_epoch()) + "\n");
  EXPECT_EQ(terminal_columns(out), std::nullopt);
}

}  // namespace
}  // namespace stoker::nn
