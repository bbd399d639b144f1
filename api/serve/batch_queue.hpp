// The requests that wait, and the batches that are made of them.
//
// Requests of one signature wait in a line of their own, first come first served. A batch takes rows from the line
// whose first request has waited longest. A request with `batch_size` rows or more runs alone; one with more is cut,
// and its last rows join others. Batches that run again come before all others, as they were.
//
// Pure: no thread, no clock, no timer. Threads: one at a time. `now` never goes back.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "stoker/api/serve/served_call.hpp"
#include "stoker/api/serve/serving_options.hpp"

namespace stoker::serve {

/// Rows of a call.
struct Piece {
  CallHolder call;
  std::int64_t first_row = 0;
  std::int64_t rows = 1;
  Clock::time_point arrived = {};

  [[nodiscard]] bool is_whole() const noexcept { return rows == call->request().rows; }
};

/// What runs together.
struct Batch {
  std::vector<Piece> pieces = {};
  std::int64_t rows = 0;
  std::int64_t size = 0;  ///< with padding
  bool again = false;     ///< it has failed before

  /// Whether a caller still waits for any of its rows.
  [[nodiscard]] bool wanted() const noexcept;
};

struct BatchRules {
  std::int64_t batch_size = 32;
  Clock::duration timeout = {};
  BatchWait wait = BatchWait::none;
  std::vector<std::int64_t> sizes = {};  ///< ascending
  bool padding = true;
};

class BatchQueue {
 public:
  explicit BatchQueue(BatchRules rules) : rules_{std::move(rules)} {}

  [[nodiscard]] const BatchRules& rules() const noexcept { return rules_; }
  /// From the next batch on.
  void set_batch_size(std::int64_t rows) noexcept { rules_.batch_size = rows; }
  void set_timeout(Clock::duration timeout) noexcept { rules_.timeout = timeout; }

  void add(CallHolder call, Clock::time_point now);
  /// The next batch, if one may run now. Calls that were answered meanwhile are dropped.
  [[nodiscard]] std::optional<Batch> take(Clock::time_point now);
  /// When take() gives a batch although nothing comes; time_point::max() if nothing waits.
  [[nodiscard]] Clock::time_point next_ready() const noexcept;
  /// Runs again, before others. Calls that were answered are dropped when it is taken.
  void put_back(Batch batch);
  /// Drops a call that was answered.
  void remove(const ServedCall& call);
  /// All that wait, which then wait no more.
  [[nodiscard]] std::vector<CallHolder> clear();
  [[nodiscard]] bool empty() const noexcept { return lines_.empty() && again_.empty(); }

 private:
  struct Line {
    std::deque<Piece> pieces;
    std::int64_t rows = 0;
  };
  using Lines = std::map<Signature, Line>;

  [[nodiscard]] std::optional<Batch> take_again();
  [[nodiscard]] Batch take_from(Line& line);
  /// When the line has a batch. Precondition: it is not empty.
  [[nodiscard]] Clock::time_point ready_at(const Line& line) const noexcept;
  [[nodiscard]] static std::int64_t drop_answered(Line& line);
  [[nodiscard]] std::int64_t most_rows(const Line& line) const noexcept;
  [[nodiscard]] std::int64_t padded(std::int64_t rows) const noexcept;

  BatchRules rules_;
  Lines lines_;  ///< none is empty
  std::deque<Batch> again_;
};

}  // namespace stoker::serve
