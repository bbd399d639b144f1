// Work that blocks, beside a system's own.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <latch>
#include <thread>

#include "stoker/api/asio.hpp"
#include "stoker/api/stoker.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

TEST(RunBlocking, runs_beside_the_executor_and_may_use_devices) {
  const System system;
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({-1.0F, 2.0F});
  const Future<std::vector<float>> values = system.run_blocking([&] {
    EXPECT_FALSE(system.executor().in_executor());
    return device.run("relu", {x}).read<float>().get();  // blocks this thread only
  });
  EXPECT_EQ(values.get(), (std::vector<float>{0.0F, 2.0F}));
}

TEST(RunBlocking, refuses_when_it_is_full) {
  SystemOptions options;
  options.blocking = {.threads = 1, .queue = 1};
  const System system{options};
  std::latch go{1};
  const Future<void> running = system.run_blocking([&] { go.wait(); });
  const Future<void> waiting = system.run_blocking([] {});
  try {
    static_cast<void>(system.run_blocking([] {}));
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::overloaded);
  }
  go.count_down();
  running.get();
  waiting.get();
}

TEST(RunBlocking, an_event_loop_goes_on_meanwhile) {
  asio::io_context loop{1};
  SystemOptions options;
  use_event_loop(options, loop.get_executor());
  const System system{options};
  std::latch turned{1};
  std::string heard;
  asio::co_spawn(
      loop,
      [&]() -> asio::awaitable<void> {
        heard = co_await async_get(system.run_blocking([&] {
          turned.wait();  // which the loop has to reach while this blocks
          return std::string{"done"};
        }),
                                   asio::use_awaitable);
      },
      asio::detached);
  asio::post(loop, [&] { turned.count_down(); });
  loop.run();
  EXPECT_EQ(heard, "done");
}

/// Whether the system takes no more blocking work.
bool is_closed(const System& system) {
  try {
    static_cast<void>(system.run_blocking([] {}));
  } catch (const Error& error) {
    return error.code() == ErrorCode::closed;
  }
  return false;
}

TEST(RunBlocking, stopping_waits_for_what_runs) {
  const System system;
  std::latch begun{1};
  std::latch go{1};
  std::atomic<bool> ended{false};
  static_cast<void>(system.run_blocking([&] {
    begun.count_down();
    go.wait();
    ended = true;
  }));
  begun.wait();
  const std::jthread release{[&] {
    while (!is_closed(system)) std::this_thread::yield();  // until stop() has begun
    go.count_down();
  }};
  EXPECT_TRUE(system.stop());
  EXPECT_TRUE(ended);
}

TEST(RunBlocking, stopping_leaves_behind_what_takes_longer_than_its_patience) {
  SystemOptions options;
  options.stop_patience = 10ms;
  const auto go = std::make_shared<std::latch>(1);
  const auto gone = std::make_shared<std::latch>(1);
  std::latch begun{1};
  const System system{options};
  const Future<void> running = system.run_blocking([&begun, go, gone] {
    begun.count_down();
    go->wait();
    gone->count_down();
  });
  begun.wait();
  EXPECT_FALSE(system.stop());
  EXPECT_EQ(running.wait().error().code(), ErrorCode::closed);
  go->count_down();
  gone->wait();
}

TEST(RunBlocking, the_last_handle_may_go_in_a_job) {
  std::latch go{1};
  Future<int> last;
  {
    System system;
    last = system.run_blocking([&go, system] {
      go.wait();
      return 3;
    });
  }
  go.count_down();
  EXPECT_EQ(last.get(), 3);
}

}  // namespace
}  // namespace stoker
