#include "stoker/bench/actors/actor_workloads.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "stoker/actors/actor.hpp"
#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/bench/harness/resident.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::bench {
namespace {

using Scale = ActorScale;
using Pool = std::shared_ptr<Executor>;
constexpr std::uint32_t roomy = 1U << 24U;

struct Ball {
  int left = 0;
};
struct Go {};
struct Answer {};

/// Passes the ball on until it has been played often enough: two of them play ping-pong, many make
/// a ring.
class Player final : public Actor {
 public:
  explicit Player(std::promise<void>& done) : done_{done} {}
  void meet(ActorRef<Player> next) { next_ = std::move(next); }
  void on(Ball ball) {
    if (ball.left == 0) return done_.set_value();
    static_cast<void>(next_.cast(Ball{ball.left - 1}));
  }

 private:
  std::promise<void>& done_;
  ActorRef<Player> next_;
};

double seconds_of_ring(const Pool& pool, int players, int hops) {
  std::promise<void> done;
  std::vector<ActorRef<Player>> ring;
  for (int i = 0; i < players; ++i) ring.push_back(spawn<Player>(pool, {}, done));
  for (std::size_t i = 0; i < ring.size(); ++i) ring[i].get()->meet(ring[(i + 1) % ring.size()]);
  const double seconds = seconds_of([&] {
    static_cast<void>(ring.front().cast(Ball{hops}));
    done.get_future().wait();
  });
  // They hold each other, and end only because they are told to.
  for (const auto& player : ring) static_cast<void>(player.stop().wait());
  return seconds;
}

double ping_pong(const Pool& pool) {
  return seconds_of_ring(pool, 2, Scale::ping_pong) * 1e9 / Scale::ping_pong;
}

double ring(const Pool& pool) {
  return 1e-6 * Scale::hops / seconds_of_ring(pool, Scale::ring, Scale::hops);
}

/// Counts what it gets and says when it was all.
class Sink final : public Actor {
 public:
  explicit Sink(int expected) : left_{expected} {}
  void on(int) { count(); }
  void on(Answer) { count(); }
  void wait() { done_.get_future().wait(); }

 private:
  void count() {
    if (--left_ == 0) done_.set_value();
  }
  int left_;
  std::promise<void> done_;
};

class Producer final : public Actor {
 public:
  explicit Producer(ActorRef<Sink> sink) : sink_{std::move(sink)} {}
  void on(Go) {
    for (int i = 0; i < Scale::fan_in; ++i) static_cast<void>(sink_.cast(i));
  }

 private:
  ActorRef<Sink> sink_;
};

double fan_in(const Pool& pool) {
  constexpr int messages = Scale::producers * Scale::fan_in;
  const auto sink = spawn<Sink>(pool, {.capacity = roomy}, messages);
  std::vector<ActorRef<Producer>> producers;
  for (int i = 0; i < Scale::producers; ++i) producers.push_back(spawn<Producer>(pool, {}, sink));
  return 1e-6 * messages / seconds_of([&] {
           for (const auto& producer : producers) static_cast<void>(producer.cast(Go{}));
           sink.get()->wait();
         });
}

double stream(const Pool& pool) {
  const auto sink = spawn<Sink>(pool, {.capacity = roomy}, Scale::stream);
  return 1e-6 * Scale::stream / seconds_of([&] {
           for (int i = 0; i < Scale::stream; ++i) static_cast<void>(sink.cast(i));
           sink.get()->wait();
         });
}

struct Hello {
  ActorRef<Sink> from;
};

/// Answers once. Nobody keeps its address, so that is its end.
class Child final : public Actor {
 public:
  void on(const Hello& hello) { static_cast<void>(hello.from.cast(Answer{})); }
};

/// The same, but ends itself.
class LeavingChild final : public Actor {
 public:
  void on(const Hello& hello) {
    static_cast<void>(hello.from.cast(Answer{}));
    leave();
  }
};

template <class C> void spawn_children(const Pool& pool, const ActorRef<Sink>& sink) {
  for (int i = 0; i < Scale::spawns; ++i) static_cast<void>(spawn<C>(pool, {}).cast(Hello{sink}));
}

template <class C> class Parent final : public Actor {
 public:
  Parent(Pool pool, ActorRef<Sink> sink) : pool_{std::move(pool)}, sink_{std::move(sink)} {}
  void on(Go) { spawn_children<C>(pool_, sink_); }

 private:
  Pool pool_;
  ActorRef<Sink> sink_;
};

template <class C> double spawn_inside(const Pool& pool) {
  const auto sink = spawn<Sink>(pool, {.capacity = roomy}, Scale::spawns);
  const auto parent = spawn<Parent<C>>(pool, {}, pool, sink);
  return 1e-3 * Scale::spawns / seconds_of([&] {
           static_cast<void>(parent.cast(Go{}));
           sink.get()->wait();
         });
}

double spawn_outside(const Pool& pool) {
  const auto sink = spawn<Sink>(pool, {.capacity = roomy}, Scale::spawns);
  return 1e-3 * Scale::spawns / seconds_of([&] {
           spawn_children<Child>(pool, sink);
           sink.get()->wait();
         });
}

double idle_bytes(const Pool& pool) {
  std::vector<ActorRef<Child>> idle(Scale::spawns);
  const auto sink = spawn<Sink>(pool, {.capacity = roomy}, Scale::spawns);
  const double before = resident_bytes_trimmed();
  for (auto& child : idle) {
    child = spawn<Child>(pool, {});
    static_cast<void>(child.cast(Hello{sink}));
  }
  sink.get()->wait();
  return (resident_bytes_trimmed() - before) / Scale::spawns;
}

class Echo final : public Actor {
 public:
  int on(int value) { return value; }
};

struct Asked {
  Clock::time_point at;
};

/// Asks, gets the answer as a message of its own, and asks again.
class Asker final : public Actor {
 public:
  Asker(ActorRef<Echo> echo, int samples) : echo_{std::move(echo)}, left_{samples} {}
  void on(Go) {
    const auto start = Clock::now();
    static_cast<void>(echo_.call(left_).then(
        echo_.strand()->executor(), [start, me = ActorRef<Asker>{self().cell()}](const auto&) {
          static_cast<void>(me.cast(Asked{start}, Run::here));
        }));
  }
  void on(Asked asked) {
    latencies.add(seconds_since(asked.at) * 1e6);
    if (--left_ == 0) return done.set_value();
    on(Go{});
  }
  Samples latencies;
  std::promise<void> done;

 private:
  ActorRef<Echo> echo_;
  int left_;
};

Samples ask_inside(const Pool& pool, int samples) {
  const auto asker = spawn<Asker>(pool, {}, spawn<Echo>(pool, {}), samples);
  static_cast<void>(asker.cast(Go{}));
  asker.get()->done.get_future().wait();
  return asker.get()->latencies;
}

Samples ask_outside(const Pool& pool, int samples, Run run) {
  const auto echo = spawn<Echo>(pool, {});
  return sample(samples, [&] { return seconds_of([&] { keep(echo.call(1, run).get()); }) * 1e6; });
}

/// Sends to the sink without end, whatever it takes.
class Flooder final : public Actor {
 public:
  Flooder(ActorRef<Sink> sink, const std::atomic<bool>& over)
      : sink_{std::move(sink)}, over_{over} {}
  void on(Go) {
    for (int i = 0; i < 64; ++i) static_cast<void>(sink_.cast(i));
    if (!over_) static_cast<void>(ActorRef<Flooder>{self().cell()}.cast(Go{}));
  }

 private:
  ActorRef<Sink> sink_;
  const std::atomic<bool>& over_;
};

/// Asks one actor while eight others flood a ninth.
Samples ask_flooded(const Pool& pool, int samples) {
  std::atomic<bool> over{false};
  const auto sink = spawn<Sink>(pool, {}, -1);
  std::vector<ActorRef<Flooder>> flooders;
  for (int i = 0; i < Scale::producers; ++i)
    flooders.push_back(spawn<Flooder>(pool, {}, sink, over));
  for (const auto& flooder : flooders) static_cast<void>(flooder.cast(Go{}));
  Samples latencies = ask_outside(pool, samples, Run::posted);
  over = true;
  for (const auto& flooder : flooders) static_cast<void>(flooder.stop().wait());
  return latencies;
}

struct Crash {};
struct Answered {};

class Fragile final : public Actor {
 public:
  void on(Crash) { throw std::runtime_error{"crash"}; }
  int on(int value) { return value; }
};

struct Started {
  ActorRef<Fragile> worker;
};

/// Crashes its worker, waits for an answer of the replacement that the supervisor has started, and
/// crashes that.
class Saboteur final : public Actor {
 public:
  explicit Saboteur(int samples) : left_{samples} {}
  void on(const Started& started) {
    worker_ = started.worker;
    static_cast<void>(worker_.call(1).then(worker_.strand()->executor(),
                                           [me = ActorRef<Saboteur>{self().cell()}](const auto&) {
                                             static_cast<void>(me.cast(Answered{}, Run::here));
                                           }));
  }
  void on(Answered) {
    if (begun_) latencies.add(seconds_since(crashed_) * 1e6);
    begun_ = true;
    if (left_-- == 0) return done.set_value();
    crashed_ = Clock::now();
    static_cast<void>(worker_.cast(Crash{}));
  }
  Samples latencies;
  std::promise<void> done;

 private:
  ActorRef<Fragile> worker_;
  Clock::time_point crashed_;
  bool begun_ = false;
  int left_;
};

Samples crashes(const Pool& pool, int samples) {
  set_log_level(LogLevel::off);  // as the peers do: they measure the restart
  const auto saboteur = spawn<Saboteur>(pool, {}, samples);
  ChildSpec spec;
  spec.id = "fragile";
  spec.start = [&](const ChildStart& start) -> Result<ActorAddress> {
    const auto worker = start.spawn<Fragile>({.name = "fragile"});
    static_cast<void>(saboteur.cast(Started{worker}));
    return ActorAddress{worker};
  };
  const Supervisor supervisor =
      start_supervisor(pool, {.intensity = ~0U, .period = std::chrono::milliseconds{1}}, {spec})
          .get();
  saboteur.get()->done.get_future().wait();
  static_cast<void>(supervisor.stop().wait());
  return saboteur.get()->latencies;
}

/// Starts so many children of one specification and stops them, in µs for each: the same whatever the
/// number.
double children(const Pool& pool, int count) {
  constexpr int at_once = 1000;  // what is asked of the supervisor before it is waited for
  ChildSpec spec;
  spec.restart = Restart::temporary;
  spec.start = [](const ChildStart& start) -> Result<ActorAddress> {
    return ActorAddress{start.spawn<Echo>({})};
  };
  const Supervisor supervisor =
      start_supervisor(pool, {.strategy = Strategy::simple_one_for_one}, {spec}).get();
  const double seconds = seconds_of([&] {
    std::vector<Future<ActorAddress>> started;
    for (int i = 0; i < count; ++i) {
      started.push_back(supervisor.start_child());
      if (started.size() < at_once && i + 1 < count) continue;
      for (const auto& one : started) static_cast<void>(one.get());
      started.clear();
    }
    static_cast<void>(supervisor.stop().wait());
  });
  return seconds * 1e6 / count;
}

}  // namespace

Samples actor_workload(std::string_view row, int samples) {
  // The last to let go of the pool may be an actor that is just ending on it.
  const Pool pool = make_thread_pool(std::make_shared<SystemClock>(), {Scale::threads, "bench"});
  if (row == "ping_pong") return sample(samples, [&] { return ping_pong(pool); });
  if (row == "ring") return sample(samples, [&] { return ring(pool); });
  if (row == "fan_in") return sample(samples, [&] { return fan_in(pool); });
  if (row == "stream") return sample(samples, [&] { return stream(pool); });
  if (row == "spawn_inside") return sample(samples, [&] { return spawn_inside<Child>(pool); });
  if (row == "spawn_exit") return sample(samples, [&] { return spawn_inside<LeavingChild>(pool); });
  if (row == "spawn_outside") return sample(samples, [&] { return spawn_outside(pool); });
  if (row == "ask_inside") return ask_inside(pool, samples);
  if (row == "ask_outside") return ask_outside(pool, samples, Run::posted);
  if (row == "ask_flooded") return ask_flooded(pool, samples);
  if (row == "ask_here") return ask_outside(pool, samples, Run::here);
  if (row == "crash") return crashes(pool, samples);
  if (row.starts_with("children_")) {
    const int count = std::stoi(std::string{row.substr(row.find('_') + 1)});
    return sample(samples, [&] { return children(pool, count); });
  }
  if (row == "idle_bytes") {  // a second time in the same heap would say nothing
    Samples once;
    once.add(idle_bytes(pool));
    return once;
  }
  throw std::invalid_argument{"there is no actor workload '" + std::string{row} + "'"};
}

}  // namespace stoker::bench
