// A host's event loop that Stoker lives in.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "stoker/api/asio.hpp"
#include "stoker/api/stoker.hpp"

namespace stoker {
namespace {

namespace asio = boost::asio;

struct Host {
  Host() { use_event_loop(options, loop.get_executor()); }
  asio::io_context loop{1};
  SystemOptions options;
};

TEST(EventLoop, returns_when_nothing_is_left_while_the_system_lives) {
  for (const char* const name : {"null", "cpu"}) {
    Host host;
    const System system{host.options};
    const Device device = system.device(name);
    bool answered = false;
    asio::co_spawn(
        host.loop,
        [&]() -> asio::awaitable<void> {
          const Buffer x = device.buffer(std::vector<float>{-1.0F, 2.0F});
          const Buffer y = device.buffer(DType::f32, Shape{2});
          const Command command = device.submit("relu", {x}, y);
          co_await async_get(command, asio::use_awaitable);
          answered = true;
        },
        asio::detached);
    host.loop.run();  // else the test never ends
    EXPECT_TRUE(answered) << name;
  }
}

}  // namespace
}  // namespace stoker
