#include "stoker/runtime/execution/timer_queue.hpp"

#include <utility>

namespace stoker {

bool TimerQueue::before(const TimerNode& a, const TimerNode& b) noexcept {
  return a.due_ != b.due_ ? a.due_ < b.due_ : a.order_ < b.order_;
}

// Makes the later root the first child of the earlier one.
TimerNode* TimerQueue::meld(TimerNode* a, TimerNode* b) noexcept {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (before(*b, *a)) std::swap(a, b);
  b->previous_ = a;
  b->sibling_ = a->child_;
  if (a->child_) a->child_->previous_ = b;
  a->child_ = b;
  return a;
}

// Melds a list of siblings into one heap: in pairs from left to right, then the pairs from right to
// left, which is what makes the bound hold.
TimerNode* TimerQueue::combine(TimerNode* first) noexcept {
  TimerNode* pairs = nullptr;
  while (first != nullptr) {
    TimerNode* a = first;
    TimerNode* b = a->sibling_;
    first = b ? b->sibling_ : nullptr;
    a->sibling_ = a->previous_ = nullptr;
    if (b) b->sibling_ = b->previous_ = nullptr;
    TimerNode* pair = meld(a, b);
    pair->sibling_ = pairs;
    pairs = pair;
  }
  TimerNode* root = nullptr;
  while (pairs != nullptr) {
    TimerNode* pair = pairs;
    pairs = pair->sibling_;
    pair->sibling_ = nullptr;
    root = meld(root, pair);
  }
  return root;
}

void TimerQueue::unlink(TimerNode& node) noexcept {
  TimerNode* children = combine(std::exchange(node.child_, nullptr));
  if (&node == root_) {
    root_ = children;
  } else {
    (node.previous_->child_ == &node ? node.previous_->child_ : node.previous_->sibling_) =
        node.sibling_;
    if (node.sibling_) node.sibling_->previous_ = node.previous_;
    root_ = meld(root_, children);
  }
  node.previous_ = node.sibling_ = nullptr;
  node.armed_ = false;
}

bool TimerQueue::arm(TimerNode& node, time_point due) noexcept {
  const std::lock_guard lock{mutex_};
  node.due_ = due;
  node.order_ = next_order_++;
  node.armed_ = true;
  root_ = meld(root_, &node);
  return root_ == &node;
}

bool TimerQueue::disarm(TimerNode& node) noexcept {
  std::unique_lock lock{mutex_};
  if (node.armed_) {
    unlink(node);
    return true;
  }
  if (firing_thread_ != std::this_thread::get_id())
    fired_.wait(lock, [&] { return firing_ != &node; });
  return false;
}

bool TimerQueue::expire_one(time_point now, time_point* due) noexcept {
  std::unique_lock lock{mutex_};
  if (firing_ != nullptr && firing_thread_ == std::this_thread::get_id()) return false;
  fired_.wait(lock, [&] { return firing_ == nullptr; });
  if (root_ == nullptr || root_->due_ > now) return false;
  TimerNode& node = *root_;
  unlink(node);
  firing_ = &node;
  firing_thread_ = std::this_thread::get_id();
  if (due) *due = node.due_;
  lock.unlock();
  node.expired();  // may destroy the node
  lock.lock();
  firing_ = nullptr;
  firing_thread_ = {};
  lock.unlock();
  fired_.notify_all();
  return true;
}

TimerQueue::time_point TimerQueue::next_due() const noexcept {
  const std::lock_guard lock{mutex_};
  return root_ ? root_->due_ : time_point::max();
}

}  // namespace stoker
