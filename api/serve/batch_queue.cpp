#include "stoker/api/serve/batch_queue.hpp"

#include <algorithm>

namespace stoker::serve {

bool Batch::wanted() const noexcept {
  return std::ranges::any_of(pieces, [](const Piece& piece) { return !piece.call->ready(); });
}

void BatchQueue::add(CallHolder call, Clock::time_point now) {
  Line& line = lines_[call->request().signature];
  const std::int64_t rows = call->request().rows;
  line.rows += rows;
  line.pieces.push_back({.call = std::move(call), .first_row = 0, .rows = rows, .arrived = now});
}

void BatchQueue::put_back(Batch batch) {
  batch.again = true;
  again_.push_back(std::move(batch));
}

Clock::time_point BatchQueue::ready_at(const Line& line) const noexcept {
  if (rules_.wait == BatchWait::none || line.rows >= rules_.batch_size)
    return Clock::time_point::min();
  return deadline_after(line.pieces.front().arrived, rules_.timeout);
}

Clock::time_point BatchQueue::next_ready() const noexcept {
  if (!again_.empty()) return Clock::time_point::min();
  auto next = Clock::time_point::max();
  for (const auto& [signature, line] : lines_) next = std::min(next, ready_at(line));
  return next;
}

std::optional<Batch> BatchQueue::take(Clock::time_point now) {
  if (auto batch = take_again()) return batch;
  for (;;) {
    auto chosen = lines_.end();
    for (auto line = lines_.begin(); line != lines_.end(); ++line)
      if (ready_at(line->second) <= now &&
          (chosen == lines_.end() ||
           line->second.pieces.front().arrived < chosen->second.pieces.front().arrived))
        chosen = line;
    if (chosen == lines_.end()) return std::nullopt;
    Line& line = chosen->second;
    // Without those that wait no more it may have to wait for others.
    const bool as_it_was = drop_answered(line) == 0;
    std::optional<Batch> batch;
    if (as_it_was) batch = take_from(line);
    if (line.pieces.empty()) lines_.erase(chosen);
    if (batch) return batch;
  }
}

std::optional<Batch> BatchQueue::take_again() {
  while (!again_.empty()) {
    Batch batch = std::move(again_.front());
    again_.pop_front();
    std::erase_if(batch.pieces, [&](const Piece& piece) {
      if (!piece.call->ready()) return false;
      batch.rows -= piece.rows;
      return true;
    });
    if (batch.pieces.empty()) continue;
    batch.size = padded(batch.rows);
    return batch;
  }
  return std::nullopt;
}

std::int64_t BatchQueue::drop_answered(Line& line) {
  return static_cast<std::int64_t>(std::erase_if(line.pieces, [&](const Piece& piece) {
    if (!piece.call->ready()) return false;
    line.rows -= piece.rows;
    piece.call->left_queue();
    return true;
  }));
}

Batch BatchQueue::take_from(Line& line) {
  Batch batch;
  batch.pieces.reserve(std::min(line.pieces.size(), static_cast<std::size_t>(rules_.batch_size)));
  const auto take = [&](std::int64_t rows) {
    Piece& first = line.pieces.front();
    Piece taken = first;
    taken.rows = rows;
    first.first_row += rows;
    first.rows -= rows;
    line.rows -= rows;
    batch.rows += rows;
    if (first.rows == 0) {
      first.call->left_queue();
      line.pieces.pop_front();
    }
    batch.pieces.push_back(std::move(taken));
  };
  const std::int64_t most = most_rows(line);
  if (line.pieces.front().rows >= rules_.batch_size)
    take(rules_.batch_size);
  else
    do take(line.pieces.front().rows);
    while (!line.pieces.empty() && line.pieces.front().rows < rules_.batch_size &&
           batch.rows + line.pieces.front().rows <= most);
  batch.size = padded(batch.rows);
  return batch;
}

std::int64_t BatchQueue::most_rows(const Line& line) const noexcept {
  if (rules_.padding || line.rows >= rules_.batch_size) return rules_.batch_size;
  const auto above = std::ranges::upper_bound(rules_.sizes, line.rows);
  return above == rules_.sizes.begin() ? rules_.batch_size : *std::prev(above);
}

std::int64_t BatchQueue::padded(std::int64_t rows) const noexcept {
  if (!rules_.padding || rules_.sizes.empty()) return rows;
  const auto next = std::ranges::lower_bound(rules_.sizes, rows);
  const std::int64_t size =
      next == rules_.sizes.end() ? rules_.batch_size : std::min(*next, rules_.batch_size);
  return std::max(size, rows);
}

void BatchQueue::remove(const ServedCall& call) {
  const auto found = lines_.find(call.request().signature);
  if (found == lines_.end()) return;
  static_cast<void>(drop_answered(found->second));
  if (found->second.pieces.empty()) lines_.erase(found);
}

std::vector<CallHolder> BatchQueue::clear() {
  std::vector<CallHolder> all;
  for (Batch& batch : again_)
    for (Piece& piece : batch.pieces) all.push_back(std::move(piece.call));
  for (auto& [signature, line] : lines_)
    for (Piece& piece : line.pieces) {
      piece.call->left_queue();
      all.push_back(std::move(piece.call));
    }
  again_.clear();
  lines_.clear();
  return all;
}

}  // namespace stoker::serve
