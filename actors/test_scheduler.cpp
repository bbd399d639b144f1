#include "stoker/actors/test_scheduler.hpp"

#include <algorithm>
#include <boost/core/demangle.hpp>
#include <charconv>
#include <cstdlib>
#include <random>
#include <string_view>

namespace stoker {
namespace {

[[nodiscard]] std::string name_of(const std::type_info& type) {
  return boost::core::demangle(type.name());
}

/// A handler that throws.
class Failing final : public Message {
 public:
  Failing(const std::shared_ptr<ActorCell>& target, Error error)
      : Message{target}, error_{std::move(error)} {
    system = true;
  }
  void deliver() override { throw Error{error_}; }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(Failing); }

 private:
  Error error_;
};

}  // namespace

TestScheduler::TestScheduler()
    : clock_{std::make_shared<ManualClock>()},
      executor_{std::make_shared<ManualExecutor>(*clock_)} {
  executor_->set_turn_budget(1);
}

TestScheduler::TestScheduler(std::uint64_t seed)
    : clock_{std::make_shared<ManualClock>()},
      executor_{std::make_shared<ManualExecutor>(*clock_, seed)},
      seed_{seed} {
  executor_->set_turn_budget(1);
}

TestScheduler::~TestScheduler() {
  // Strands that wait for a turn keep themselves and their executor.
  if (executor_) executor_->drop_all();
}

TestScheduler TestScheduler::shuffled() {
  std::uint64_t seed = 0;
  const char* given = std::getenv("STOKER_TEST_SEED");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view text = given ? given : "";
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (text.empty() || failed != std::errc{} || end != text.data() + text.size())
    seed = std::random_device{}();
  return TestScheduler{seed};
}

bool TestScheduler::deliver(const ActorAddress& target) {
  return executor_->run_one(target.cell()->strand()->task());
}

void TestScheduler::inject_exit(const ActorAddress& target, const ExitReason& why) {
  target.exit(why);
  // Signals overtake messages, but not each other.
  while (target.alive() && !pending(target).empty() && *pending(target).front() == typeid(Exit) &&
         deliver(target)) {
  }
}

void TestScheduler::inject_failure(const ActorAddress& target, Error error) {
  target.cell()->strand()->send_signal(std::make_unique<Failing>(target.cell(), std::move(error)));
  while (target.alive() && !pending(target).empty() &&
         *pending(target).front() == typeid(Failing) && deliver(target)) {
  }
}

std::vector<const std::type_info*> TestScheduler::pending(const ActorAddress& target) const {
  std::vector<const std::type_info*> types;
  target.cell()->strand()->for_each([&](const Message& message) {
    if (&message.target() == target.cell().get()) types.push_back(&message.type());
  });
  return types;
}

void TestScheduler::forbid(const ActorAddress& target, const std::type_info& type) const {
  const auto waiting = pending(target);
  if (std::ranges::none_of(waiting, [&](const auto* one) { return *one == type; })) return;
  throw Error{"forbid",
              ErrorCode::already_exists,
              "a message is on its way that must not be",
              {{"actor", target.name()}, {"message", name_of(type)}}};
}

Error TestScheduler::unexpected(const ActorAddress& target, const std::type_info& wanted) const {
  const auto waiting = pending(target);
  return {"expect",
          ErrorCode::not_found,
          "another message is next",
          {{"actor", target.name()},
           {"expected", name_of(wanted)},
           {"next", waiting.empty() ? "nothing" : name_of(*waiting.front())}}};
}

}  // namespace stoker
