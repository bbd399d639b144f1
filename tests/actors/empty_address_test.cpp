// The address of nobody.
#include "probe.hpp"
#include "stoker/actors/process_actor.hpp"
#include "stoker/actors/timed_send.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

class EmptyAddress : public Probes {
 protected:
  const ActorRef<Probe> nobody;
};

void expect_refused(const Error& error) {
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
  EXPECT_EQ(error.reason(), "an empty address was passed");
}

TEST_F(EmptyAddress, is_of_one_that_has_ended) {
  EXPECT_FALSE(nobody.alive());
  EXPECT_EQ(nobody.name(), "");
  EXPECT_EQ(nobody.get(), nullptr);
  EXPECT_EQ(nobody.ended().get(), ExitReason::noproc());
  EXPECT_EQ(nobody.stop({.patience = 1s}).get(), ExitReason::noproc());
  nobody.exit(ExitReason::kill());
}

TEST_F(EmptyAddress, takes_no_message) {
  const Result<void> sent = nobody.cast(7);
  ASSERT_FALSE(sent.has_value());
  expect_refused(sent.error());
  const Future<void> answer = nobody.call(7);
  ASSERT_NE(answer.poll(), nullptr);
  expect_refused(answer.poll()->error());
}

TEST_F(EmptyAddress, is_refused_by_who_would_watch_it) {
  const auto expect_thrown = [](const auto& call) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      expect_refused(error);
    }
  };
  in(a, [&](Probe& me) {
    expect_thrown([&] { me.link(nobody); });
    expect_thrown([&] { me.unlink(nobody); });
    expect_thrown([&] { static_cast<void>(me.monitor(nobody)); });
  });
  expect_thrown([&] { static_cast<void>(cast_after(nobody, 1s, 7)); });
  expect_thrown([&] { static_cast<void>(spawn_process_link<int>(nobody, {}, [](auto&) {})); });
  EXPECT_TRUE(a.alive());
}

}  // namespace
}  // namespace stoker
