// The requests that wait, and the batches that are made of them.
//
// Requests of one key and one signature wait in a line of their own, by priority level, and first come first served in
// each. A batch takes rows from the line whose first request has the highest priority. Of several, it is one of the key
// that has had the fewest rows while they competed, and in this key the one whose first request has waited longest.
//
// A request with `batch_size` rows or more runs alone; one with more is cut, and its last rows join others. One that is
// apart runs alone, as it is, and never waits for a full batch. Batches that run again come before all others, as they
// were. A request that has waited for longer than its level allows is given back by take_late(), or stands behind all
// levels from then on.
//
// Pure: no thread, no clock, no timer. Threads: one at a time. `now` never goes back.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "stoker/api/serve/batch_times.hpp"
#include "stoker/api/serve/served_call.hpp"
#include "stoker/api/serve/serving_options.hpp"

namespace stoker::serve {

/// Rows of a call.
struct Piece {
  CallHolder call;
  std::int64_t first_row = 0;
  std::int64_t rows = 1;
  Clock::time_point arrived = {};
  std::size_t rank = 0;  ///< its level; behind all of them for one that is delayed

  [[nodiscard]] bool is_whole() const noexcept { return rows == call->request().rows; }
  /// Whether it has the last rows of its call.
  [[nodiscard]] bool is_last() const noexcept { return first_row + rows == call->request().rows; }
};

/// What runs together.
struct Batch {
  std::vector<Piece> pieces = {};
  std::int64_t rows = 0;
  std::int64_t size = 0;  ///< with padding
  bool again = false;     ///< it has failed before
  std::size_t key = 0;
  /// Written by who has the batch: the batcher, the runner that computes it, the thread that ends it.
  mutable BatchMoments moments = {};

  /// Whether a caller still waits for any of its rows.
  [[nodiscard]] bool wanted() const noexcept;
  /// Whether it is one request, all of it.
  [[nodiscard]] bool is_whole_request() const noexcept {
    return pieces.size() == 1 && pieces.front().is_whole();
  }
};

struct BatchRules {
  std::int64_t batch_size = 32;
  Clock::duration timeout = {};
  BatchWait wait = BatchWait::none;
  std::vector<std::int64_t> sizes = {};  ///< ascending
  bool padding = true;
  std::vector<PriorityLevel> levels = {{}};  ///< at least one
  std::size_t keys = 1;
};

class BatchQueue {
 public:
  explicit BatchQueue(BatchRules rules)
      : rules_{std::move(rules)}, keys_(rules_.keys), late_(rules_.levels.size()) {}

  [[nodiscard]] const BatchRules& rules() const noexcept { return rules_; }
  /// From the next batch on.
  void set_batch_size(std::int64_t rows) noexcept { rules_.batch_size = rows; }
  void set_timeout(Clock::duration timeout) noexcept { rules_.timeout = timeout; }

  /// Nothing more will come: from now on no batch waits to be full.
  void flush() noexcept { flushing_ = true; }

  void add(CallHolder call, Clock::time_point now);
  /// The next batch, if one may run now. Calls that were answered meanwhile are dropped.
  [[nodiscard]] std::optional<Batch> take(Clock::time_point now);
  /// When take() gives a batch although nothing comes; time_point::max() if nothing waits.
  [[nodiscard]] Clock::time_point next_ready() const noexcept;
  /// Those that have waited for longer than their level allows and are rejected: they wait no more. The others are
  /// delayed.
  [[nodiscard]] std::vector<CallHolder> take_late(Clock::time_point now);
  /// When take_late() has something to do; time_point::max() if never.
  [[nodiscard]] Clock::time_point next_late() const noexcept;
  /// How many have waited too long, of that level.
  [[nodiscard]] std::uint64_t late(std::size_t level) const noexcept { return late_[level]; }
  /// Runs again, before others. Calls that were answered are dropped when it is taken.
  void put_back(Batch batch);
  /// Drops a call that was answered.
  void remove(const ServedCall& call);
  /// All that wait, which then wait no more.
  [[nodiscard]] std::vector<CallHolder> clear();
  [[nodiscard]] bool empty() const noexcept;

 private:
  struct Line {
    std::deque<Piece> pieces;  ///< by rank, then by arrival
    std::int64_t rows = 0;
  };
  struct Key {
    std::map<Signature, Line> lines;  ///< none is empty
    std::int64_t served = 0;          ///< rows, as if it had always competed for them
  };

  [[nodiscard]] std::optional<Batch> take_again();
  static void insert(Line& line, Piece piece);
  /// The first piece of the level that has not begun; the line's end if there is none.
  [[nodiscard]] static std::deque<Piece>::const_iterator first_of(const Line& line,
                                                                  std::size_t level) noexcept;
  /// The line that comes next, with its key; ends if none may run now.
  struct Chosen {
    Key* key = nullptr;
    std::map<Signature, Line>::iterator line = {};
    [[nodiscard]] bool comes_before(const Chosen& other) const noexcept;
  };
  [[nodiscard]] Chosen choose(Clock::time_point now);
  [[nodiscard]] Batch take_from(Line& line);
  /// When the line has a batch. Precondition: it is not empty.
  [[nodiscard]] Clock::time_point ready_at(const Line& line) const noexcept;
  [[nodiscard]] static std::int64_t drop_answered(Line& line);
  [[nodiscard]] std::int64_t most_rows(const Line& line) const noexcept;
  [[nodiscard]] std::int64_t padded(const Batch& batch) const noexcept;

  BatchRules rules_;
  bool flushing_ = false;
  std::vector<Key> keys_;
  std::vector<std::uint64_t> late_;
  std::deque<Batch> again_;
};

}  // namespace stoker::serve
