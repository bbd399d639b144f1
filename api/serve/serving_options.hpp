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
#include <vector>

#include "stoker/api/model/core/model.hpp"

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
  /// Limits of what waits: further requests are `overloaded`. A request that runs does not wait.
  std::size_t max_requests = 1024;
  std::uint64_t max_bytes = std::uint64_t{256} << 20;
  /// The deadline of requests that have none of their own, counted from the call.
  std::optional<std::chrono::nanoseconds> deadline = {};
  BatchRetry retry = BatchRetry::never;
  /// Inputs as requests have them, with one row or more. start_serving() runs the model with its first and last row, to
  /// check that rows may be joined and to make the first plans. If both are the same, it makes a second row from the
  /// first one. Empty: numbers are made up. That works only if no dimension but the rows' is free.
  NamedValues sample = {};
  /// The serving ends after more than `intensity` crashes of workers within `period`.
  unsigned intensity = 10;
  std::chrono::nanoseconds period = std::chrono::seconds{60};
  /// How long running batches are waited for when the serving is stopped.
  std::chrono::nanoseconds shutdown = std::chrono::seconds{30};
};

struct ServingRequestOptions {
  /// Counted from the call. The request is answered with deadline_exceeded if it has no result by then, wherever it is.
  std::optional<std::chrono::nanoseconds> deadline = {};
};

/// Counts since the serving was started.
struct ServingTotals {
  std::uint64_t accepted = 0;   ///< requests; each of them counts once more in one of the next four
  std::uint64_t answered = 0;   ///< with a result
  std::uint64_t failed = 0;     ///< for any reason but the next two
  std::uint64_t cancelled = 0;  ///< by cancel()
  std::uint64_t expired = 0;    ///< by their deadline
  std::uint64_t refused = 0;    ///< not accepted, because the queue was full
  std::uint64_t batches = 0;    ///< that ran, also those that failed
  std::uint64_t rows = 0;       ///< of these batches, without padding
  std::uint64_t padding = 0;    ///< rows that were added
  std::uint64_t retries = 0;    ///< batches that were run again
  std::uint64_t crashes = 0;    ///< of workers
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
  double requests_per_second = 0;  ///< answered, averaged over about the last second
  double rows_per_second = 0;      ///< that ran, likewise
  ServingTotals totals = {};
  std::map<std::int64_t, std::uint64_t> batches =
      {};  ///< number of batches by their rows, with padding
};

}  // namespace stoker
