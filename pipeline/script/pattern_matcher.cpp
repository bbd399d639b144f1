#include "stoker/pipeline/script/pattern_matcher.hpp"

#include <utility>

namespace stoker::script {

void PatternMatcher::step(std::uint64_t steps) {
  constexpr std::uint64_t batch = 256;
  steps_ += steps;
  if (steps_ >= batch) spend(L_, std::exchange(steps_, 0));
}

const char* PatternMatcher::match(const char* at) {
  depth_ = 0;
  return match_from(0, at);
}

bool PatternMatcher::fits(const Pattern::Item& item, const char* at) const noexcept {
  if (at == end_) return false;
  const auto c = static_cast<unsigned char>(*at);
  return item.set >= 0 ? pattern_.set(item.set)[c] : item.first == c;
}

// Recurses where it may have to come back and try something else; the rest is the loop.
const char* PatternMatcher::match_from(std::size_t index, const char* at) {
  constexpr int deepest = 200;
  if (++depth_ > deepest) luaL_error(L_, "pattern too complex");
  const auto& items = pattern_.items();
  const auto byte = [&](const char* p) { return p < begin_ || p >= end_ ? '\0' : *p; };
  while (at != nullptr && index < items.size()) {
    step();
    const Pattern::Item& item = items[index++];
    switch (item.kind) {
      case Pattern::Kind::single:
        if (item.repeat == Pattern::Repeat::optional) {
          const char* const end = fits(item, at) ? match_from(index, at + 1) : nullptr;
          if (end == nullptr) break;
          --depth_;
          return end;
        }
        if (item.repeat != Pattern::Repeat::once) {
          at = match_repeated(item, index, at);
          --depth_;
          return at;
        }
        at = fits(item, at) ? at + 1 : nullptr;
        break;
      case Pattern::Kind::open:
      case Pattern::Kind::position: {
        Capture& capture = captures_[item.capture];
        const Capture before = std::exchange(capture, {at, nullptr});
        const char* const end = match_from(index, at);
        if (end == nullptr) capture = before;
        --depth_;
        return end;
      }
      case Pattern::Kind::close: {
        Capture& capture = captures_[item.capture];
        const char* const before = std::exchange(capture.to, at);
        const char* const end = match_from(index, at);
        if (end == nullptr) capture.to = before;
        --depth_;
        return end;
      }
      case Pattern::Kind::back: at = match_back(item, at); break;
      case Pattern::Kind::balance: at = match_balance(item, at); break;
      case Pattern::Kind::frontier: {
        const Pattern::CharSet& set = pattern_.set(item.set);
        const bool enters = !set[static_cast<unsigned char>(at == begin_ ? '\0' : at[-1])] &&
                            set[static_cast<unsigned char>(byte(at))];
        if (!enters) at = nullptr;
        break;
      }
      case Pattern::Kind::end:
        if (at != end_) at = nullptr;
        break;
    }
  }
  --depth_;
  return at;
}

const char* PatternMatcher::match_repeated(const Pattern::Item& item, std::size_t next,
                                           const char* at) {
  if (item.repeat == Pattern::Repeat::lazy) {
    for (;; ++at) {
      step();
      if (const char* const end = match_from(next, at)) return end;
      if (!fits(item, at)) return nullptr;
    }
  }
  const char* last = at;
  for (; fits(item, last); ++last) step();
  const char* const least = item.repeat == Pattern::Repeat::plus ? at + 1 : at;
  for (; last >= least; --last) {
    step();
    if (const char* const end = match_from(next, last)) return end;
  }
  return nullptr;
}

const char* PatternMatcher::match_balance(const Pattern::Item& item, const char* at) {
  if (at == end_ || static_cast<unsigned char>(*at) != item.first) return nullptr;
  std::size_t open = 1;
  for (++at; at != end_; ++at) {
    step();
    const auto c = static_cast<unsigned char>(*at);
    if (c == item.last) {
      if (--open == 0) return at + 1;
    } else if (c == item.first) {
      ++open;
    }
  }
  return nullptr;
}

const char* PatternMatcher::match_back(const Pattern::Item& item, const char* at) {
  const Capture& capture = captures_[item.capture];
  if (capture.to == nullptr) return nullptr;  // a position is equal to no text
  const auto size = static_cast<std::size_t>(capture.to - capture.from);
  step(size / 16);
  if (static_cast<std::size_t>(end_ - at) < size) return nullptr;
  return std::string_view{capture.from, size} == std::string_view{at, size} ? at + size : nullptr;
}

void PatternMatcher::push_capture(std::size_t index, const char* from, const char* to) const {
  if (index >= pattern_.captures()) {
    if (index != 0) luaL_error(L_, "invalid capture index %%%d", static_cast<int>(index) + 1);
    push_text(L_, {from, static_cast<std::size_t>(to - from)});
    return;
  }
  const Capture& capture = captures_[index];
  if (capture.to == nullptr) {
    lua_pushinteger(L_, capture.from - begin_ + 1);
  } else {
    push_text(L_, {capture.from, static_cast<std::size_t>(capture.to - capture.from)});
  }
}

int PatternMatcher::push_captures(const char* from, const char* to, bool without_whole) const {
  const std::size_t count = pattern_.captures() == 0 && !without_whole ? 1 : pattern_.captures();
  luaL_checkstack(L_, static_cast<int>(count), "too many captures");
  for (std::size_t i = 0; i < count; ++i) push_capture(i, from, to);
  return static_cast<int>(count);
}

}  // namespace stoker::script
