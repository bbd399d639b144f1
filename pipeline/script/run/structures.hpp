// The structures of programs that a script has evaluated. The compiled programs themselves are the device's,
// which all scripts and tensors share: whether one was there already is nothing that a script's costs may
// depend on.
//
// Threads: the script's process only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>
#include <unordered_set>

namespace stoker::script {

class Structures {
 public:
  /// As many as a device keeps programs. Beyond, the oldest is forgotten.
  static constexpr std::size_t most = 1024;

  /// Notes the structure; whether it is new to the script.
  bool note(std::string_view key) {
    const std::size_t hash = std::hash<std::string_view>{}(key);
    if (!known_.insert(hash).second) return false;
    ++noted_;
    order_.push_back(hash);
    if (order_.size() > most) {
      known_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }
  /// How many were new.
  [[nodiscard]] std::uint64_t noted() const noexcept { return noted_; }

 private:
  std::unordered_set<std::size_t> known_;
  std::deque<std::size_t> order_;  // oldest first
  std::uint64_t noted_ = 0;
};

}  // namespace stoker::script
