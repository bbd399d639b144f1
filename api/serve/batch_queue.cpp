#include "stoker/api/serve/batch_queue.hpp"

#include <algorithm>

namespace stoker::serve {

bool Batch::wanted() const noexcept {
  return std::ranges::any_of(pieces, [](const Piece& piece) { return !piece.call->ready(); });
}

bool BatchQueue::empty() const noexcept {
  return again_.empty() &&
         std::ranges::all_of(keys_, [](const Key& key) { return key.lines.empty(); });
}

void BatchQueue::add(CallHolder call, Clock::time_point now) {
  const CheckedRequest& request = call->request();
  Line& line = keys_[request.key].lines[request.signature];
  line.rows += request.rows;
  const std::int64_t rows = request.rows;
  const std::size_t rank = request.level;
  insert(line, {.call = std::move(call), .rows = rows, .arrived = now, .rank = rank});
}

void BatchQueue::insert(Line& line, Piece piece) {
  const auto behind = std::ranges::upper_bound(line.pieces, piece.rank, {}, &Piece::rank);
  line.pieces.insert(behind, std::move(piece));
}

void BatchQueue::put_back(Batch batch) {
  batch.again = true;
  again_.push_back(std::move(batch));
}

Clock::time_point BatchQueue::ready_at(const Line& line) const noexcept {
  const bool apart = line.pieces.front().call->request().apart;
  if (rules_.wait == BatchWait::none || flushing_ || apart || line.rows >= rules_.batch_size)
    return Clock::time_point::min();
  auto first = Clock::time_point::max();
  for (const Piece& piece : line.pieces) first = std::min(first, piece.arrived);
  return deadline_after(first, rules_.timeout);
}

Clock::time_point BatchQueue::next_ready() const noexcept {
  if (!again_.empty()) return Clock::time_point::min();
  auto next = Clock::time_point::max();
  for (const Key& key : keys_)
    for (const auto& [signature, line] : key.lines) next = std::min(next, ready_at(line));
  return next;
}

bool BatchQueue::Chosen::comes_before(const Chosen& other) const noexcept {
  if (other.key == nullptr) return true;
  const Piece& mine = line->second.pieces.front();
  const Piece& theirs = other.line->second.pieces.front();
  if (mine.rank != theirs.rank) return mine.rank < theirs.rank;
  if (key->served != other.key->served) return key->served < other.key->served;
  return mine.arrived < theirs.arrived;
}

BatchQueue::Chosen BatchQueue::choose(Clock::time_point now) {
  Chosen chosen;
  for (Key& key : keys_)
    for (auto line = key.lines.begin(); line != key.lines.end(); ++line)
      if (const Chosen one{&key, line}; ready_at(line->second) <= now && one.comes_before(chosen))
        chosen = one;
  return chosen;
}

std::optional<Batch> BatchQueue::take(Clock::time_point now) {
  if (auto batch = take_again()) return batch;
  for (;;) {
    const Chosen chosen = choose(now);
    if (chosen.key == nullptr) return std::nullopt;
    Line& line = chosen.line->second;
    // Without those that wait no more it may have to wait for others.
    const bool as_it_was = drop_answered(line) == 0;
    std::optional<Batch> batch;
    if (as_it_was) batch = take_from(line);
    if (line.pieces.empty()) chosen.key->lines.erase(chosen.line);
    if (!batch) continue;
    batch->key = static_cast<std::size_t>(chosen.key - keys_.data());
    // A key without a batch that competes with this one gets no claim on later batches from its having waited. The keys
    // that compete have been served no less than the chosen one, so this does not change them.
    for (Key& key : keys_) key.served = std::max(key.served, chosen.key->served);
    chosen.key->served += batch->size;
    return batch;
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
    batch.size = padded(batch);
    keys_[batch.key].served += batch.size;
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
  const Piece& front = line.pieces.front();
  if (front.call->request().apart || front.rows >= rules_.batch_size)
    take(std::min(front.rows, rules_.batch_size));
  else
    do take(line.pieces.front().rows);
    while (!line.pieces.empty() && line.pieces.front().rows < rules_.batch_size &&
           batch.rows + line.pieces.front().rows <= most);
  batch.size = padded(batch);
  return batch;
}

std::int64_t BatchQueue::most_rows(const Line& line) const noexcept {
  if (rules_.padding || line.rows >= rules_.batch_size) return rules_.batch_size;
  const auto above = std::ranges::upper_bound(rules_.sizes, line.rows);
  return above == rules_.sizes.begin() ? rules_.batch_size : *std::prev(above);
}

std::int64_t BatchQueue::padded(const Batch& batch) const noexcept {
  const std::int64_t rows = batch.rows;
  if (!rules_.padding || rules_.sizes.empty() || batch.pieces.front().call->request().apart)
    return rows;
  const auto next = std::ranges::lower_bound(rules_.sizes, rows);
  const std::int64_t size =
      next == rules_.sizes.end() ? rules_.batch_size : std::min(*next, rules_.batch_size);
  return std::max(size, rows);
}

void BatchQueue::remove(const ServedCall& call) {
  auto& lines = keys_[call.request().key].lines;
  const auto found = lines.find(call.request().signature);
  if (found == lines.end()) return;
  static_cast<void>(drop_answered(found->second));
  if (found->second.pieces.empty()) lines.erase(found);
}

// --- those that have waited too long -------------------------------------------------------------

std::deque<Piece>::const_iterator BatchQueue::first_of(const Line& line,
                                                       std::size_t level) noexcept {
  auto first = std::ranges::lower_bound(line.pieces, level, {}, &Piece::rank);
  // Only the first of a rank may have begun.
  if (first != line.pieces.end() && first->first_row != 0) ++first;
  return first != line.pieces.end() && first->rank == level ? first : line.pieces.end();
}

Clock::time_point BatchQueue::next_late() const noexcept {
  auto next = Clock::time_point::max();
  for (std::size_t level = 0; level < rules_.levels.size(); ++level) {
    if (!rules_.levels[level].timeout) continue;
    for (const Key& key : keys_)
      for (const auto& [signature, line] : key.lines)
        if (const auto first = first_of(line, level); first != line.pieces.end())
          next = std::min(next, deadline_after(first->arrived, *rules_.levels[level].timeout));
  }
  return next;
}

std::vector<CallHolder> BatchQueue::take_late(Clock::time_point now) {
  std::vector<CallHolder> rejected;
  for (std::size_t level = 0; level < rules_.levels.size(); ++level) {
    const PriorityLevel& rule = rules_.levels[level];
    if (!rule.timeout) continue;
    for (Key& key : keys_)
      for (auto at = key.lines.begin(); at != key.lines.end();) {
        Line& line = at->second;
        for (auto first = first_of(line, level);
             first != line.pieces.end() && deadline_after(first->arrived, *rule.timeout) <= now;
             first = first_of(line, level)) {
          Piece piece = *first;
          line.pieces.erase(first);
          if (piece.call->ready()) {  // it waits for nothing
            line.rows -= piece.rows;
            piece.call->left_queue();
            continue;
          }
          ++late_[level];
          if (rule.action == LateAction::delay) {
            piece.rank = rules_.levels.size();
            insert(line, std::move(piece));
            continue;
          }
          line.rows -= piece.rows;
          piece.call->left_queue();
          rejected.push_back(std::move(piece.call));
        }
        at = line.pieces.empty() ? key.lines.erase(at) : std::next(at);
      }
  }
  return rejected;
}

std::vector<CallHolder> BatchQueue::clear() {
  std::vector<CallHolder> all;
  for (Batch& batch : again_)
    for (Piece& piece : batch.pieces) all.push_back(std::move(piece.call));
  for (Key& key : keys_)
    for (auto& [signature, line] : key.lines)
      for (Piece& piece : line.pieces) {
        piece.call->left_queue();
        all.push_back(std::move(piece.call));
      }
  again_.clear();
  for (Key& key : keys_) key.lines.clear();
  return all;
}

}  // namespace stoker::serve
