#include "stoker/api/data/loader.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "stoker/api/data/row_order.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/base/random_seed.hpp"
#include "stoker/runtime/base/thread_local.hpp"

namespace stoker::nn {
namespace {

void check_at_least(const char* name, std::int64_t value, std::int64_t least) {
  if (value >= least) return;
  throw Error{"loader",
              ErrorCode::invalid_parameter,
              std::string{name} + " must be at least " + std::to_string(least) + ", got " +
                  std::to_string(value),
              {{name, std::to_string(value)}}};
}

/// How the batches of an epoch are made. Immutable, used by all workers.
struct Plan {
  Dataset data;
  std::shared_ptr<const LoaderOptions> options;
  std::vector<std::int64_t> order;
  std::int64_t epoch;
  Device device;

  [[nodiscard]] Batch make(std::int64_t number) const {
    const auto size = static_cast<std::size_t>(options->batch_size);
    const auto begin = static_cast<std::size_t>(number) * size;
    const LoaderPosition where{epoch, number};
    HostRows rows =
        data.rows(std::span{order}.subspan(begin, std::min(size, order.size() - begin)));
    if (options->map_rows) options->map_rows(rows, where);
    const DeviceScope scope{device};
    Batch batch = to_batch(rows);
    return options->map ? options->map(std::move(batch), where) : batch;
  }
};

/// What became of a batch: made, or why not.
struct Made {
  Batch batch;
  std::exception_ptr failure;
};

}  // namespace

struct Epoch::Work {
  Work(Plan its_plan, std::int64_t first, std::int64_t its_end)
      : plan{std::move(its_plan)},
        end{its_end},
        ahead{std::min(plan.options->prefetch, end - first)},
        taken{first},
        begun{first},
        ready(static_cast<std::size_t>(ahead)) {}
  ~Work() {
    // All at once: joined one by one, the later ones would go on making batches meanwhile.
    for (std::jthread& thread : threads) thread.request_stop();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void start() {
    const std::int64_t workers = std::min(plan.options->workers, ahead);
    threads.reserve(static_cast<std::size_t>(workers));
    try {
      for (std::int64_t i = 0; i < workers; ++i)
        threads.emplace_back([this](const std::stop_token& stop) { run(stop); });
    } catch (const std::system_error&) {
      // The system has no more threads. Fewer do as well; without any, take() makes the batches.
    }
  }

  void run(const std::stop_token& stop) {
    std::unique_lock lock{mutex};
    // Begun in order, so the one that is waited for is always among those that are being made.
    while (
        changed.wait(lock, stop, [&] { return failed || begun == end || begun - taken < ahead; })) {
      if (stop.stop_requested() || failed || begun == end) return;
      const std::int64_t number = begun++;
      lock.unlock();
      Made made = attempt(number);
      lock.lock();
      failed = failed || made.failure;
      place_of(number).emplace(std::move(made));
      changed.notify_all();
    }
  }

  /// Those begun and not taken are fewer than there are places.
  [[nodiscard]] std::optional<Made>& place_of(std::int64_t number) {
    return ready[static_cast<std::size_t>(number % ahead)];
  }

  [[nodiscard]] Made attempt(std::int64_t number) const noexcept {
    Made made;
    try {
      made.batch = plan.make(number);
    } catch (...) {
      made.failure = std::current_exception();
    }
    return made;
  }

  [[nodiscard]] Made take() {
    if (threads.empty()) return attempt(taken++);
    stoker::detail::flush_deferred();
    std::unique_lock lock{mutex};
    std::optional<Made>& place = place_of(taken);
    changed.wait(lock, [&] { return place.has_value(); });
    Made made = *std::exchange(place, std::nullopt);
    ++taken;
    changed.notify_all();
    return made;
  }

  /// No batch from `number` on is made or handed out. Takes no memory: that may be what was wanting.
  void end_at(std::int64_t number) noexcept {
    const std::lock_guard lock{mutex};
    taken = begun = end = number;
    changed.notify_all();
  }

  const Plan plan;
  std::int64_t end;          // changed under the lock
  const std::int64_t ahead;  // how many may be begun before they are taken
  const ForkGuard fork;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::int64_t taken;  // batches before it were handed out; written by the owner under the lock
  std::int64_t begun;
  bool failed = false;  // nothing more is begun then
  std::vector<std::optional<Made>> ready;
  std::vector<std::jthread> threads;  // the last: they are stopped and joined first
};

Epoch::Epoch(std::unique_ptr<Work> work) : work_{std::move(work)} {}
Epoch::Epoch(Epoch&&) noexcept = default;
Epoch& Epoch::operator=(Epoch&& other) noexcept {
  Epoch before{std::move(other)};
  work_.swap(before.work_);
  return *this;
}
Epoch::~Epoch() {
  // Threads and locks are the parent's.
  if (work_ && work_->fork.forked()) static_cast<void>(work_.release());
}

std::optional<Batch> Epoch::next() {
  work_->fork.check("next").value();
  if (work_->taken >= work_->end) return std::nullopt;
  const std::int64_t number = work_->taken;
  Made made = work_->take();
  if (!made.failure) return std::move(made.batch);
  // Nothing comes after a failure, but position() still names the batch that failed.
  work_->end_at(number);
  std::rethrow_exception(made.failure);
}

LoaderPosition Epoch::position() const {
  const Plan& plan = work_->plan;
  const auto rows = static_cast<std::int64_t>(plan.order.size());
  if (work_->taken * plan.options->batch_size >= rows) return {plan.epoch + 1, 0};
  return {plan.epoch, work_->taken};
}

Loader::Loader(Dataset data, LoaderOptions options)
    : data_{std::move(data)}, seed_{options.seed ? *options.seed : random_seed()} {
  check_at_least("batch_size", options.batch_size, 1);
  check_at_least("prefetch", options.prefetch, 0);
  check_at_least("workers", options.workers, 1);
  if (data_.size() == 0)
    throw Error{"loader", ErrorCode::invalid_argument, "the dataset has no rows"};
  options_ = std::make_shared<const LoaderOptions>(std::move(options));
}

std::int64_t Loader::batches() const noexcept {
  const std::int64_t whole = data_.size() / options_->batch_size;
  const bool part = data_.size() % options_->batch_size != 0 && !options_->drop_last;
  return whole + (part ? 1 : 0);
}

Epoch Loader::resume(const LoaderPosition& from) const {
  if (from.epoch < 0 || from.batch < 0 || from.batch > batches())
    throw Error{"loader",
                ErrorCode::invalid_argument,
                "batch " + std::to_string(from.batch) + " of epoch " + std::to_string(from.epoch) +
                    "; an epoch has " + std::to_string(batches()),
                {{"epoch", std::to_string(from.epoch)}, {"batch", std::to_string(from.batch)}}};
  Plan plan{data_, options_,
            options_->shuffle
                ? shuffled_rows(data_.size(), seed_, static_cast<std::uint64_t>(from.epoch))
                : rows_in_order(data_.size()),
            from.epoch, current_device()};
  if (options_->drop_last)
    plan.order.resize(static_cast<std::size_t>(batches() * options_->batch_size));
  auto work = std::make_unique<Epoch::Work>(std::move(plan), from.batch, batches());
  work->start();
  return Epoch{std::move(work)};
}

Batch to_batch(const HostRows& rows) {
  Batch batch{{}, {}, rows.rows};
  for (const HostArray& array : rows.inputs)
    batch.inputs.push_back(tensor(std::span{array.bytes}, array.spec));
  for (const HostArray& array : rows.targets)
    batch.targets.push_back(tensor(std::span{array.bytes}, array.spec));
  return batch;
}

Batch whole_batch(const Dataset& data) { return to_batch(data.rows(rows_in_order(data.size()))); }

}  // namespace stoker::nn
