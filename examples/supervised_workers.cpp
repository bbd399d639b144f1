// Supervised workers: four of them sum chunks of numbers, and eight chunks crash the worker that tries
// them first. The supervisor starts another one each time; whoever asked asks again. In the end every
// chunk has been answered.
#include <algorithm>
#include <array>
#include <atomic>
#include <iostream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "stoker/api/actors.hpp"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t chunks = 64;
constexpr std::size_t chunk_size = 10'000;

/// Which chunks crash their worker: every eighth, once.
class Curse {
 public:
  void strike(std::size_t chunk) {
    if (chunk % 8 == 5 && !struck_[chunk].exchange(true))
      throw std::runtime_error{"chunk " + std::to_string(chunk) + " crashes"};
  }

 private:
  std::array<std::atomic<bool>, chunks> struck_{};
};

struct SumChunk {
  std::size_t number = 0;
  std::span<const std::uint32_t> values;
};

class Worker final : public stoker::Actor {
 public:
  explicit Worker(Curse& curse) : curse_{&curse} {}
  std::uint64_t on(const SumChunk& job) {
    curse_->strike(job.number);
    return std::accumulate(job.values.begin(), job.values.end(), std::uint64_t{0});
  }

 private:
  Curse* curse_;
};

using Workers = stoker::ActorGroup<Worker>;

/// A worker that joins the group whenever it is started; it leaves by itself when it ends.
stoker::ChildSpec worker(const std::string& id, const Workers& group, Curse& curse) {
  stoker::ChildSpec spec;
  spec.id = id;
  spec.start = [=, &curse](const stoker::ChildStart& start) {
    const auto worker = start.spawn<Worker>({.name = id}, curse);
    group.join(worker);
    return stoker::ActorAddress{worker};
  };
  return spec;
}

/// Asks one worker after another until one answers, in a process: waiting holds no thread. Asking again
/// is right because a sum may be computed twice.
std::uint64_t ask(const Workers& workers, const SumChunk& job, stoker::Clock& clock) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const auto worker = workers.next();
    if (!worker) {  // all of them are being started again
      stoker::this_process::sleep_for(clock, 1ms);
      continue;
    }
    const stoker::Result<std::uint64_t> sum = worker.call(job, {.timeout = 10s}).wait();
    if (sum) return *sum;
  }
  throw stoker::Error{"ask", stoker::ErrorCode::overloaded, "nobody answers"};
}

std::uint64_t restarts_of(const stoker::Supervisor& pool) {
  std::uint64_t restarts = 0;
  for (const stoker::ChildInfo& child : pool.which_children().get()) {
    std::cout << child.id << ": started again " << child.restarts << " times\n";
    restarts += child.restarts;
  }
  return restarts;
}

}  // namespace

int main() try {
  stoker::set_log_level(stoker::LogLevel::critical);  // the reports below say the same
  const auto executor = stoker::make_thread_pool(std::make_shared<stoker::SystemClock>());
  Curse curse;
  const Workers workers;
  std::atomic<int> crashes = 0;

  stoker::SupervisorOptions options;
  options.name = "pool";
  options.intensity = 20;  // restarts within five seconds: more than the curse can cause
  options.on_report = [&](const stoker::SupervisorReport& said) {
    std::cout << said.child << " " << said.reason.to_string() << std::endl;
    ++crashes;
  };
  std::vector<stoker::ChildSpec> specs;
  for (const char* id : {"worker 1", "worker 2", "worker 3", "worker 4"})
    specs.push_back(worker(id, workers, curse));
  const stoker::Supervisor pool = stoker::start_supervisor(executor, options, specs).get();

  std::vector<std::uint32_t> numbers(chunks * chunk_size);
  std::iota(numbers.begin(), numbers.end(), 1U);
  std::vector<stoker::Future<std::uint64_t>> sums;
  for (std::size_t i = 0; i < chunks; ++i) {
    const SumChunk job{i, std::span{numbers}.subspan(i * chunk_size, chunk_size)};
    sums.push_back(
        stoker::Process::spawn(*executor, [=] { return ask(workers, job, executor->clock()); }));
  }
  std::uint64_t total = 0;
  for (const auto& sum : sums) total += sum.get();

  // The last crash was answered before its supervisor heard of it.
  while (crashes < 8) std::this_thread::sleep_for(1ms);
  std::cout << restarts_of(pool) << " restarts, " << workers.size() << " workers\n";
  std::cout << sums.size() << " chunks answered, sum " << total << "\n";
  static_cast<void>(pool.stop().get());
  return total == std::uint64_t{numbers.size()} * (numbers.size() + 1) / 2 ? 0 : 1;
} catch (const stoker::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
