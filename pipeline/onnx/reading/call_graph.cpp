#include "stoker/pipeline/onnx/reading/call_graph.hpp"

#include <cstdint>
#include <utility>

namespace stoker::onnx {

const CallGraph::Calls& CallGraph::calls_of(const Function* caller) const {
  static const Calls none;
  const auto found = calls_.find(caller);
  return found == calls_.end() ? none : found->second;
}

std::vector<const Function*> CallGraph::recursive(const std::vector<Function>& functions) const {
  enum class State : std::uint8_t { open, circle, done };
  std::unordered_map<const Function*, State> states;
  std::vector<std::pair<const Function*, std::size_t>> path;  // with how many calls were followed
  std::vector<const Function*> found;
  for (const Function& first : functions) {
    if (!states.emplace(&first, State::open).second) continue;
    path.emplace_back(&first, 0);
    while (!path.empty()) {
      const Function* const caller = path.back().first;
      const Calls& calls = calls_of(caller);
      if (path.back().second == calls.size()) {
        states[caller] = State::done;
        path.pop_back();
        continue;
      }
      const Function* const called = calls[path.back().second++];
      const auto [state, is_new] = states.emplace(called, State::open);
      if (is_new) {
        path.emplace_back(called, 0);
      } else if (state->second == State::open) {
        state->second = State::circle;
        found.push_back(called);
      }
    }
  }
  return found;
}

}  // namespace stoker::onnx
