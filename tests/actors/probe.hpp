// An actor for tests of links, exit signals, monitors and ends: each test there is a rule of OTP's
// documentation (https://www.erlang.org/doc/system/ref_man_processes.html).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "stoker/actors/actor.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"

namespace stoker {

/// What a probe was told, in all and in order.
struct Journal {
  std::vector<Exit> exits;
  std::vector<Down> downs;
  std::vector<int> notes;
  std::vector<std::string> order;
};

class Probe;
using Doing = std::function<void(Probe&)>;

/// Does on its strand what a test tells it, and writes down what it is told.
class Probe final : public Actor {
 public:
  explicit Probe(Journal& seen) : seen_{&seen} {}
  void on(const Doing& what) { what(*this); }
  void on(int note) {
    seen_->notes.push_back(note);
    seen_->order.push_back(std::to_string(note));
  }

  using Actor::demonitor;
  using Actor::exit;
  using Actor::link;
  using Actor::monitor;
  using Actor::self;
  using Actor::trap_exit;
  using Actor::unlink;

 private:
  void on_exit(const Exit& exit) override {
    seen_->exits.push_back(exit);
    seen_->order.emplace_back("exit");
  }
  void on_down(const Down& down) override {
    seen_->downs.push_back(down);
    seen_->order.emplace_back("down");
  }
  void terminate(const ExitReason& why) override { seen_->order.push_back(why.to_string()); }

  Journal* seen_;
};

/// Starts a probe that is its child.
struct ProbesParent final : Actor {
  ActorRef<Probe> on(Journal* seen) { return spawn_link<Probe>({.name = "child"}, *seen); }
};

/// Two probes, on an executor that runs when it is told.
class Probes : public testing::Test {
 protected:
  void TearDown() override { executor->run_all(); }

  [[nodiscard]] ActorRef<Probe> probe(Journal& seen, std::string name) {
    return spawn<Probe>(executor, {.name = std::move(name), .capacity = 4}, seen);
  }
  void in(const ActorRef<Probe>& where, Doing what) {
    EXPECT_TRUE(where.cast(std::move(what)));
    executor->run_all();
  }
  void crash(const ActorRef<Probe>& who) {
    in(who, [](Probe&) { throw std::runtime_error{"on purpose"}; });
  }

  ManualClock clock;
  std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
  Journal of_a;
  Journal of_b;
  ActorRef<Probe> a = probe(of_a, "a");
  ActorRef<Probe> b = probe(of_b, "b");
};

}  // namespace stoker
