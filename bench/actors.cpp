// Messages between actors, against posts between Asio strands on a pool of as many threads.
//
// The two cores of a virtual machine may be near or far, which moves every row here: look at the
// machine's first rows.
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <future>

#include "stoker/actors/actor.hpp"
#include "stoker/bench/groups.hpp"
#include "stoker/runtime/clock.hpp"
#include "stoker/runtime/thread_pool.hpp"

namespace stoker::bench {
namespace {

constexpr unsigned threads = 2;

struct Ball {
  int left = 0;
};

/// Returns the ball until it has been played often enough.
class Player final : public Actor {
 public:
  void meet(ActorRef<Player> other) { other_ = std::move(other); }
  void on(Ball ball) {
    if (ball.left == 0) {
      done.set_value();
      return;
    }
    static_cast<void>(other_.cast(Ball{ball.left - 1}));
  }
  void part() { other_ = {}; }
  std::promise<void> done;

 private:
  ActorRef<Player> other_;
};

/// Counts what it gets and says when it was all.
class Sink final : public Actor {
 public:
  explicit Sink(int expected) : left_{expected} {}
  void on(int) {
    if (--left_ == 0) done.set_value();
  }
  std::promise<void> done;

 private:
  int left_;
};

class Echo final : public Actor {
 public:
  int on(int value) { return value; }
};

using Strand = boost::asio::strand<boost::asio::thread_pool::executor_type>;

struct Table {
  Strand one, two;
  std::promise<void> done;
  void play(int left) {
    if (left == 0) return done.set_value();
    boost::asio::post(left % 2 ? one : two, [this, left] { play(left - 1); });
  }
};

double ping_pong(const std::shared_ptr<Executor>& pool, int messages) {
  const auto one = spawn<Player>(pool, {.name = "one"});
  const auto two = spawn<Player>(pool, {.name = "two"});
  one.get()->meet(two);
  two.get()->meet(one);
  const double seconds = seconds_of([&] {
    static_cast<void>(one.cast(Ball{messages}));
    // The last ball lands with one of the two, by parity with `one`.
    (messages % 2 ? two : one).get()->done.get_future().wait();
  });
  // They hold each other: parted, or they would live for ever.
  one.get()->part();
  two.get()->part();
  return seconds / messages;
}

double strand_ping_pong(boost::asio::thread_pool& pool, int messages) {
  Table table{Strand{pool.get_executor()}, Strand{pool.get_executor()}, {}};
  return seconds_of([&] {
           table.play(messages);
           table.done.get_future().wait();
         }) /
         messages;
}

double casts(const std::shared_ptr<Executor>& pool, int messages) {
  const auto sink = spawn<Sink>(pool, {.name = "sink", .capacity = 1U << 24U}, messages);
  return seconds_of([&] {
           for (int i = 0; i < messages; ++i) static_cast<void>(sink.cast(i));
           sink.get()->done.get_future().wait();
         }) /
         messages;
}

double strand_posts(boost::asio::thread_pool& pool, int messages) {
  Strand strand{pool.get_executor()};
  std::promise<void> done;
  int left = messages;
  return seconds_of([&] {
           for (int i = 0; i < messages; ++i)
             boost::asio::post(strand, [&] {
               if (--left == 0) done.set_value();
             });
           done.get_future().wait();
         }) /
         messages;
}

}  // namespace

void actors(Context& context) {
  SystemClock clock;
  const std::shared_ptr<Executor> pool =
      std::make_shared<ThreadPool>(clock, ThreadPoolOptions{threads, "bench"});
  boost::asio::thread_pool asio_pool{threads};
  const int repeats = context.repeats(20);
  constexpr int messages = 100'000;

  const Duel ball = duel(
      repeats, [&] { return ping_pong(pool, messages) * 1e9; },
      [&] { return strand_ping_pong(asio_pool, messages) * 1e9; });
  context.report.add(Row{"ping-pong, per message", ball.ours, "ns", Better::lower}.against(
      "Asio strands", ball.peer));

  const Duel stream = duel(
      repeats, [&] { return 1e-6 / casts(pool, messages); },
      [&] { return 1e-6 / strand_posts(asio_pool, messages); });
  context.report.add(Row{"casts from a plain thread", stream.ours, "M/s", Better::higher}.against(
      "Asio strand", stream.peer));

  const auto echo = spawn<Echo>(pool, {.name = "echo"});
  Samples asked;
  for (int i = -100; i < context.repeats(20000); ++i) {
    const double us = seconds_of([&] { keep(echo.call(i).get()); }) * 1e6;
    if (i >= 0) asked.add(us);
  }
  context.report.add(Row{"ask from a plain thread, p50", asked, "µs", Better::lower});
  context.report.add(
      Row{"ask from a plain thread, p99", asked.quantile(0.99), "µs", Better::lower});
  const Samples inside = sample(context.repeats(2000), [&] {
    return seconds_of([&] { keep(echo.call(1, Run::here).get()); }) * 1e6;
  });
  context.report.add(
      Row{"ask of an idle actor, run here, p50", inside, "µs", Better::lower}.remark("Run::here"));
}

}  // namespace stoker::bench
