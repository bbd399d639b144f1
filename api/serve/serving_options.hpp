// Options of a serving and of its requests, and what a serving reports about itself (serving.hpp).
//
// Values. Threads: as values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/model/core/model.hpp"
#include "stoker/api/serve/time_histogram.hpp"

namespace stoker {

/// When a free worker takes a batch that is not full.
enum class BatchWait : std::uint8_t {
  none,  ///< at once, so that an idle serving never lets a request wait
  full,  ///< after `batch_timeout`, counted from the batch's first request
};

/// What becomes of a batch that failed, or whose worker has crashed.
enum class BatchRetry : std::uint8_t {
  never,       ///< its requests fail with the reason
  once,        ///< it runs once more
  one_by_one,  ///< its requests run once more, each alone, so that a poisonous one fails alone
};

/// For which numbers of rows start_serving() makes plans.
enum class WarmUp : std::uint8_t {
  checks,  ///< for one row, two and three: those of its check
  few,     ///< also for `sizes` if these are at most eight
  all,     ///< also for `sizes`, and for `batch_size`
};

/// What becomes of a request that has waited for longer than its priority level allows.
enum class LateAction : std::uint8_t {
  reject,  ///< it is answered with deadline_exceeded
  delay,   ///< it runs when nothing else waits, whatever its key; its own deadline still holds
};

/// A priority level: one of ServingOptions::priorities.
struct PriorityLevel {
  /// How many requests of the level may wait, of each batch key, beside the limits of all. None: these alone.
  std::optional<std::size_t> max_requests = {};
  /// How long a request may wait until its first row runs. None: for as long as its deadline lets it.
  std::optional<std::chrono::nanoseconds> timeout = {};
  LateAction action = LateAction::reject;
};

struct ServingOptions {
  /// The name of the serving's supervisor; must be unique among the children of the given one.
  std::string name = "serving";
  /// The most rows of a batch. A request with more rows runs in several batches.
  std::int64_t batch_size = 32;
  /// How long the first request of a batch waits for others under BatchWait::full.
  std::chrono::nanoseconds batch_timeout = std::chrono::milliseconds{50};
  BatchWait wait = BatchWait::none;
  /// The numbers of rows that batches have, such as {1, 4, 16}; `batch_size` is always one of them, and larger ones
  /// count only once `batch_size` is that large. Empty: any number.
  std::vector<std::int64_t> sizes = {};
  /// Whether a batch is padded to the next of `sizes`. Otherwise the batch is as large as the largest of `sizes` that
  /// the waiting rows fill; fewer rows than the smallest one run as they are. Padding repeats the last row, and its
  /// results are dropped.
  bool padding = true;
  /// The number of batches that run at the same time.
  std::size_t workers = 1;
  /// Requests of priority 1 are served before those of priority 2, and so on; these fill the rows that are left in a
  /// batch. Only a time-out or a deadline keeps low ones from waiting for ever. Empty: all requests have one priority.
  std::vector<PriorityLevel> priorities = {};
  /// The priority of requests that have none of their own.
  std::size_t default_priority = 1;
  /// The keys that requests may have. Requests of different keys never share a batch. While requests of several keys
  /// and of one priority wait, these keys get equal numbers of rows: a flooded one delays no other by more than the
  /// batches that run and one more. Empty: all requests have one key.
  std::vector<std::string> batch_keys = {};
  /// Limits of what waits, for each key: further requests are `overloaded`. A request that runs does not wait.
  std::size_t max_requests = 1024;
  std::uint64_t max_bytes = std::uint64_t{256} << 20;
  /// A request whose rows need more batches than this is refused. All of their outputs are kept until its answer is put
  /// together.
  std::int64_t max_request_batches = 4096;
  /// The deadline of requests that have none of their own, counted from the call.
  std::optional<std::chrono::nanoseconds> deadline = {};
  BatchRetry retry = BatchRetry::never;
  /// Inputs as requests have them, with one row or more. start_serving() runs the model with its first and last row, to
  /// check that rows may be joined and to make the first plans. If both are the same, it makes a second row from the
  /// first one. Empty: numbers are made up. That works only if no dimension but the rows' is free.
  NamedValues sample = {};
  WarmUp warm_up = WarmUp::few;
  /// The serving ends after more than `intensity` crashes of workers within `period`.
  unsigned intensity = 10;
  std::chrono::nanoseconds period = std::chrono::seconds{60};
  /// How long running batches are waited for when the serving is stopped.
  std::chrono::nanoseconds shutdown = std::chrono::seconds{30};
};

struct ServingRequestOptions {
  /// Counted from the call. The request is answered with deadline_exceeded if it has no result by then, wherever it is.
  std::optional<std::chrono::nanoseconds> deadline = {};
  /// From 1, which is served first, to the number of ServingOptions::priorities. 0: the default one.
  std::size_t priority = 0;
  /// One of ServingOptions::batch_keys. Empty: the first of them. Only the call reads it.
  // No std::string: GCC 12 spoils default arguments that own memory within co_await.
  std::string_view key = {};
};

/// Of a priority level, since the serving was started.
struct ServingLevelStatus {
  std::size_t queued = 0;     ///< requests that wait
  std::uint64_t refused = 0;  ///< because of the level's own limit
  std::uint64_t late = 0;     ///< have waited too long: they were answered or put behind all others
};

/// Of a batch key, since the serving was started.
struct ServingKeyStatus {
  std::size_t queued = 0;  ///< requests that wait
  std::uint64_t queued_bytes = 0;
  std::uint64_t rows = 0;  ///< of batches that ran, without padding
};

/// Counts since the serving was started.
struct ServingTotals {
  std::uint64_t accepted = 0;   ///< requests; each of them counts once more in one of the next four
  std::uint64_t answered = 0;   ///< with a result
  std::uint64_t failed = 0;     ///< for any reason but the next two
  std::uint64_t cancelled = 0;  ///< by cancel()
  std::uint64_t expired = 0;    ///< by their deadline, or by the time-out of their priority level
  std::uint64_t late = 0;       ///< of these, by the time-out of their priority level
  std::uint64_t refused = 0;    ///< not accepted, because the queue was full
  std::uint64_t batches = 0;    ///< that ran, also those that failed
  std::uint64_t rows = 0;       ///< of these batches, without padding
  std::uint64_t padding = 0;    ///< rows that were added
  std::uint64_t retries = 0;    ///< batches that were run again
  std::uint64_t crashes = 0;    ///< of workers
  std::uint64_t answered_rows = 0;  ///< of requests with a result
  /// Requests without a result, from arrival to that answer, added up. Refused ones were never there.
  std::chrono::nanoseconds unanswered_time = {};
};

struct ServingStatus {
  /// Whether requests share batches. If not, `reason` says why, and each request is a batch of its own.
  bool joins = true;
  std::string reason = {};
  std::int64_t batch_size = 0;
  std::chrono::nanoseconds batch_timeout = {};
  std::vector<std::string> partitions = {};  ///< the devices that run batches
  std::vector<std::int64_t> sizes = {};
  bool padding = false;
  bool draining = false;   ///< no further requests are accepted
  std::size_t queued = 0;  ///< requests that wait
  std::uint64_t queued_bytes = 0;
  std::size_t running = 0;  ///< batches in flight
  std::size_t workers = 0;  ///< that are there; a crashed one is missing until it was restarted
  double requests_per_second = 0;               ///< answered, averaged over about the last second
  double rows_per_second = 0;                   ///< that ran, likewise
  std::vector<ServingLevelStatus> levels = {};  ///< by priority
  std::map<std::string, ServingKeyStatus> keys = {};  ///< under "" if no keys were given
  ServingTotals totals = {};
  std::map<std::int64_t, std::uint64_t> batches =
      {};  ///< number of batches by their rows, with padding
  ServingTimes times = {};
  std::map<std::int64_t, ServingBatchTimes> batch_times = {};  ///< by their rows, with padding
  std::map<ErrorCode, std::uint64_t> failures = {};            ///< what totals.failed consists of
  /// When the last batch was started; the epoch if none was.
  std::chrono::system_clock::time_point last_batch = {};
};

}  // namespace stoker
