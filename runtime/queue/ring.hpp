// A queue that keeps its memory: first in first out, growing when full, never shrinking by itself.
// std::deque frees and allocates chunks as it moves along, which a queue on a hot path must not.
//
// Threads: as any container. Lifetime: references are invalid after push_back and erase.
#pragma once

#include <algorithm>
#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <utility>

namespace stoker {

template <class T> class Ring {
 public:
  using iterator = typename boost::circular_buffer<T>::iterator;

  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] T& front() noexcept { return items_.front(); }
  [[nodiscard]] const T& front() const noexcept { return items_.front(); }
  [[nodiscard]] T& back() noexcept { return items_.back(); }
  [[nodiscard]] iterator begin() noexcept { return items_.begin(); }
  [[nodiscard]] iterator end() noexcept { return items_.end(); }

  void push_back(T item) {
    if (items_.full()) items_.set_capacity(std::max<std::size_t>(16, 2 * items_.capacity()));
    items_.push_back(std::move(item));
  }
  void pop_front() { items_.pop_front(); }
  void pop_back() { items_.pop_back(); }
  /// The element after the erased one.
  iterator erase(iterator position) {
    if (position == items_.begin()) {
      items_.pop_front();
      return items_.begin();
    }
    return items_.erase(position);
  }
  void swap(Ring& other) noexcept { items_.swap(other.items_); }

 private:
  boost::circular_buffer<T> items_;
};

}  // namespace stoker
