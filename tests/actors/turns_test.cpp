// How long a turn lasts.
#include <gtest/gtest.h>

#include "stoker/actors/actor.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"

namespace stoker {
namespace {

struct Note {};

class Reader final : public Actor {
 public:
  explicit Reader(int* handled) : handled_{handled} {}
  void on(Note) { ++*handled_; }

 private:
  int* handled_;
};

TEST(Turns, of_a_sender_end_with_their_budget_whatever_comes_meanwhile) {
  ManualClock clock;
  const auto executor = std::make_shared<ManualExecutor>(clock);
  const auto strand = std::make_shared<Strand>(executor, 4096);
  int handled = 0;
  const auto reader = spawn_on<Reader>(strand, "reader", &handled);
  // As if others sent one each time the mailbox is empty.
  int sent = 0;
  strand->set_end_of_turn([&] {
    if (sent == 1000) return;
    ++sent;
    EXPECT_TRUE(reader.cast(Note{}));
  });
  EXPECT_TRUE(reader.cast(Note{}, Run::here));
  EXPECT_EQ(handled, executor->turn_budget());
  EXPECT_EQ(strand->delivered(), static_cast<std::uint64_t>(handled));
  executor->run_all();
  EXPECT_EQ(handled, 1001);
}

}  // namespace
}  // namespace stoker
