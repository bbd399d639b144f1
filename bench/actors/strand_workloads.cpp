#include "stoker/bench/actors/strand_workloads.hpp"

#include <boost/asio/defer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "stoker/bench/actors/actor_workloads.hpp"
#include "stoker/bench/harness/resident.hpp"

namespace stoker::bench {
namespace {

namespace asio = boost::asio;
using Scale = ActorScale;
using Pool = asio::thread_pool;
using Strand = asio::strand<Pool::executor_type>;

/// post() or defer(), as the row says.
struct Post {
  template <class F> static void to(const Strand& strand, F&& function) {
    asio::post(strand, std::forward<F>(function));
  }
};
struct Defer {
  template <class F> static void to(const Strand& strand, F&& function) {
    asio::defer(strand, std::forward<F>(function));
  }
};

struct Ring {
  std::vector<Strand> strands;
  std::promise<void> done;
};

template <class By> void pass(Ring& ring, std::size_t at, int left) {
  if (left == 0) return ring.done.set_value();
  const std::size_t next = at + 1 == ring.strands.size() ? 0 : at + 1;
  By::to(ring.strands[next], [&ring, next, left] { pass<By>(ring, next, left - 1); });
}

template <class By> double seconds_of_ring(Pool& pool, int players, int hops) {
  Ring ring;
  for (int i = 0; i < players; ++i) ring.strands.emplace_back(pool.get_executor());
  return seconds_of([&] {
    asio::post(ring.strands[0], [&] { pass<By>(ring, 0, hops); });
    ring.done.get_future().wait();
  });
}

template <class By> double ping_pong(Pool& pool) {
  return seconds_of_ring<By>(pool, 2, Scale::ping_pong) * 1e9 / Scale::ping_pong;
}

template <class By> double ring(Pool& pool) {
  return 1e-6 * Scale::hops / seconds_of_ring<By>(pool, Scale::ring, Scale::hops);
}

/// Counts on its strand.
struct Sink {
  Sink(Pool& pool, int expected) : strand{pool.get_executor()}, left{expected} {}
  void count() {
    if (--left == 0) done.set_value();
  }
  Strand strand;
  int left;
  std::promise<void> done;
};

double fan_in(Pool& pool) {
  constexpr int messages = Scale::producers * Scale::fan_in;
  Sink sink{pool, messages};
  return 1e-6 * messages / seconds_of([&] {
           for (int i = 0; i < Scale::producers; ++i)
             asio::post(Strand{pool.get_executor()}, [&sink] {
               for (int k = 0; k < Scale::fan_in; ++k)
                 asio::post(sink.strand, [&sink] { sink.count(); });
             });
           sink.done.get_future().wait();
         });
}

double stream(Pool& pool) {
  Sink sink{pool, Scale::stream};
  return 1e-6 * Scale::stream / seconds_of([&] {
           for (int i = 0; i < Scale::stream; ++i) asio::post(sink.strand, [&] { sink.count(); });
           sink.done.get_future().wait();
         });
}

/// What an actor is made of here.
struct Child {
  explicit Child(Pool& pool) : strand{pool.get_executor()} {}
  Strand strand;
};

std::shared_ptr<Child> spawn_child(Pool& pool, Sink& sink) {
  auto child = std::make_shared<Child>(pool);
  asio::post(child->strand, [child, &sink] { asio::post(sink.strand, [&sink] { sink.count(); }); });
  return child;
}

double spawn_inside(Pool& pool) {
  Sink sink{pool, Scale::spawns};
  return 1e-3 * Scale::spawns / seconds_of([&] {
           asio::post(Strand{pool.get_executor()}, [&] {
             for (int i = 0; i < Scale::spawns; ++i) spawn_child(pool, sink);
           });
           sink.done.get_future().wait();
         });
}

double spawn_outside(Pool& pool) {
  Sink sink{pool, Scale::spawns};
  return 1e-3 * Scale::spawns / seconds_of([&] {
           for (int i = 0; i < Scale::spawns; ++i) spawn_child(pool, sink);
           sink.done.get_future().wait();
         });
}

double idle_bytes(Pool& pool) {
  std::vector<std::shared_ptr<Child>> idle(Scale::spawns);
  Sink sink{pool, Scale::spawns};
  const double before = resident_bytes_trimmed();
  for (auto& child : idle) child = spawn_child(pool, sink);
  sink.done.get_future().wait();
  return (resident_bytes_trimmed() - before) / Scale::spawns;
}

/// Asks, gets the answer on its own strand, and asks again.
template <class By> struct Asker {
  void ask() {
    start = Clock::now();
    By::to(other, [this] { By::to(own, [this, answer = ++value] { answered(answer); }); });
  }
  void answered(int answer) {
    keep(answer);
    latencies.add(seconds_since(start) * 1e6);
    if (--left == 0) return done.set_value();
    ask();
  }
  Strand own, other;
  int left;
  int value = 0;  // the other's
  Clock::time_point start = {};
  Samples latencies = {};
  std::promise<void> done = {};
};

template <class By> Samples ask_inside(Pool& pool, int samples) {
  Asker<By> asker{Strand{pool.get_executor()}, Strand{pool.get_executor()}, samples};
  asio::post(asker.own, [&] { asker.ask(); });
  asker.done.get_future().wait();
  return asker.latencies;
}

Samples ask_outside(Pool& pool, int samples) {
  Strand strand{pool.get_executor()};
  return sample(samples, [&] {
    return seconds_of([&] {
             std::promise<int> answer;
             asio::post(strand, [&] { answer.set_value(1); });
             keep(answer.get_future().get());
           }) *
           1e6;
  });
}

/// A worker that throws, and whoever runs it: makes another and says so.
struct Restarter {
  struct Worker {
    int on(bool crash) {
      if (crash) throw std::runtime_error{"crash"};
      return 1;
    }
  };
  void crash() {
    start = Clock::now();
    asio::post(workers, [this] {
      try {
        worker->on(true);
      } catch (const std::exception&) {
        worker = std::make_unique<Worker>();
        asio::post(own, [this] { replaced(); });
      }
    });
  }
  void replaced() {
    asio::post(workers, [this] {
      asio::post(own, [this, answer = worker->on(false)] { answered(answer); });
    });
  }
  void answered(int answer) {
    keep(answer);
    latencies.add(seconds_since(start) * 1e6);
    if (--left == 0) return done.set_value();
    crash();
  }
  Strand own, workers;
  int left;
  std::unique_ptr<Worker> worker = std::make_unique<Worker>();
  Clock::time_point start = {};
  Samples latencies = {};
  std::promise<void> done = {};
};

Samples crash(Pool& pool, int samples) {
  Restarter restarter{Strand{pool.get_executor()}, Strand{pool.get_executor()}, samples};
  asio::post(restarter.own, [&] { restarter.crash(); });
  restarter.done.get_future().wait();
  return restarter.latencies;
}

}  // namespace

Samples strand_workload(std::string_view row, int samples) {
  Pool pool{Scale::threads};
  if (row == "ping_pong") return sample(samples, [&] { return ping_pong<Post>(pool); });
  if (row == "ping_pong_defer") return sample(samples, [&] { return ping_pong<Defer>(pool); });
  if (row == "ring") return sample(samples, [&] { return ring<Post>(pool); });
  if (row == "ring_defer") return sample(samples, [&] { return ring<Defer>(pool); });
  if (row == "fan_in") return sample(samples, [&] { return fan_in(pool); });
  if (row == "stream") return sample(samples, [&] { return stream(pool); });
  if (row == "spawn_inside") return sample(samples, [&] { return spawn_inside(pool); });
  if (row == "spawn_outside") return sample(samples, [&] { return spawn_outside(pool); });
  if (row == "ask_inside") return ask_inside<Post>(pool, samples);
  if (row == "ask_inside_defer") return ask_inside<Defer>(pool, samples);
  if (row == "ask_outside") return ask_outside(pool, samples);
  if (row == "crash") return crash(pool, samples);
  if (row == "idle_bytes") {
    Samples once;
    once.add(idle_bytes(pool));
    return once;
  }
  throw std::invalid_argument{"there is no strand workload '" + std::string{row} + "'"};
}

}  // namespace stoker::bench
