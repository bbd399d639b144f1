// An event loop that shares its one thread with Stoker: how late a 1 ms timer of the host's fires
// while ten thousand commands run, and what waiting for a long kernel costs in processor time.
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <ctime>

#include "stoker/api/asio.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"

namespace stoker::bench {
namespace {

namespace asio = boost::asio;

/// A system whose actors live on a host's loop.
struct Server {
  Server() { use_event_loop(options, loop.get_executor()); }
  asio::io_context loop{1};
  SystemOptions options;
};

/// Fires every millisecond until `done` and notes by how much each was late.
asio::awaitable<void> watch_the_clock(Samples& late_ms, const bool& done) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  while (!done) {
    const auto due = Clock::now() + std::chrono::milliseconds{1};
    timer.expires_at(due);
    co_await timer.async_wait(asio::use_awaitable);
    late_ms.add(std::chrono::duration<double, std::milli>(Clock::now() - due).count());
  }
}

/// Submits in portions, as requests come in, and awaits each portion.
asio::awaitable<void> submit_many(Device device, int commands, int portion, bool& done) {
  const Buffer x = device.buffer(std::vector<float>(4096, -1.0F));
  const Buffer y = device.buffer(DType::f32, Shape{4096});
  for (int submitted = 0; submitted < commands; submitted += portion) {
    Command last;
    for (int i = 0; i < portion; ++i) last = device.submit("relu", {x}, y);
    co_await async_get(last, asio::use_awaitable);
  }
  done = true;
}

void lateness(Context& context, const std::string& name, int portion) {
  Samples late_ms;
  double seconds = 0;
  constexpr int commands = 10'000;
  for (int round = 0; round < context.repeats(10); ++round) {
    Server server;
    const System system{server.options};
    const Device device = system.device(name);
    bool done = false;
    asio::co_spawn(server.loop, watch_the_clock(late_ms, done), asio::detached);
    asio::co_spawn(server.loop, submit_many(device, commands, portion, done), asio::detached);
    seconds = seconds_of([&] { server.loop.run(); });
  }
  Row row{"1 ms timer late, p99, " + name + ", portions of " + std::to_string(portion),
          late_ms.quantile(0.99), "ms", Better::lower};
  row.n = late_ms.size();
  // A thousand submits in one handler keep the loop busy by themselves: that is the host's choice.
  if (portion <= 100) row.aim(2);
  context.report.add(row.remark("10,000 submits in " +
                                std::to_string(static_cast<int>(seconds * 1e3)) + " ms; p50 " +
                                std::to_string(late_ms.median()).substr(0, 5) + " ms"));
}

double seconds_of_cpu(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Processor time of the loop's thread and of the whole process while one long piece of work runs.
void waiting_cost(Context& context, const std::string& name) {
  Server server;
  const System system{server.options};
  const Device device = system.device(name);
  const bool large = device.info().type == DeviceType::discrete_gpu;
  const std::int64_t n = large ? 8192 : 1024;
  const Buffer a = noise_buffer(device, Shape{n, n});
  const Buffer b = noise_buffer(device, Shape{n, n});
  const Buffer c = device.buffer(DType::f32, Shape{n, n});
  const auto run = [&](int products) {
    asio::co_spawn(
        server.loop,
        [&]() -> asio::awaitable<void> {
          Command last;
          for (int i = 0; i < products; ++i) last = device.submit("matmul", {a, b}, c);
          co_await async_get(last, asio::use_awaitable);
        },
        asio::detached);
    server.loop.restart();
    server.loop.run();
  };
  run(1);
  Samples loop_share;
  Samples process_share;
  for (int i = 0; i < context.repeats(5); ++i) {
    const double thread_before = seconds_of_cpu(CLOCK_THREAD_CPUTIME_ID);
    const double process_before = seconds_of_cpu(CLOCK_PROCESS_CPUTIME_ID);
    const double wall = seconds_of([&] { run(10); });
    loop_share.add(100 * (seconds_of_cpu(CLOCK_THREAD_CPUTIME_ID) - thread_before) / wall);
    process_share.add(100 * (seconds_of_cpu(CLOCK_PROCESS_CPUTIME_ID) - process_before) / wall);
  }
  context.report.add(
      Row{"loop's processor time in long work, " + name, loop_share, "%", Better::lower}.remark(
          "of one core, while 10 products of " + std::to_string(n) + " run"));
  if (device.info().type == DeviceType::discrete_gpu)
    context.report.add(Row{"whole process, " + name, process_share, "%", Better::lower}.remark(
        "of one core; the GPU computes"));
}

}  // namespace

void server(Context& context) {
  std::vector<std::string> names{"null", "cpu"};
  for (const DeviceInfo& info : System{}.devices())
    if (info.backend == "vulkan" && (context.device.empty() || info.name == context.device)) {
      names.push_back(info.name);
      break;
    }
  for (const std::string& name : names)
    for (const int portion : {100, 1000}) lateness(context, name, portion);
  for (const std::string& name : names)
    if (name != "null") waiting_cost(context, name);
}

}  // namespace stoker::bench
