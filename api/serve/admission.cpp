#include "stoker/api/serve/admission.hpp"

#include <algorithm>
#include <string>

namespace stoker::serve {

void Admission::Ticket::give_back() noexcept {
  if (const auto from = std::exchange(given_by_, nullptr)) from->give_back(bytes_, level_);
}

void Admission::give_back(std::uint64_t bytes, std::size_t level) noexcept {
  levels_[level].requests.fetch_sub(1, std::memory_order_relaxed);
  requests_.fetch_sub(1, std::memory_order_relaxed);
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

bool Admission::enter(std::size_t level) noexcept {
  std::atomic<std::size_t>& requests = levels_[level].requests;
  std::size_t before = requests.load(std::memory_order_relaxed);
  while (before < level_limits_[level])
    if (requests.compare_exchange_weak(before, before + 1, std::memory_order_relaxed)) return true;
  return false;
}

Result<Admission::Ticket> Admission::admit(std::uint64_t bytes, std::size_t level) {
  if ((requests_.load(std::memory_order_acquire) & closed_bit) != 0) return *closed();
  if (!enter(level)) {
    levels_[level].refused.fetch_add(1, std::memory_order_relaxed);
    return overloaded("priority").with("priority", std::to_string(level + 1));
  }
  Result<Ticket> ticket = admit_in_level(bytes, level);
  if (!ticket) levels_[level].requests.fetch_sub(1, std::memory_order_relaxed);
  return ticket;
}

Result<Admission::Ticket> Admission::admit_in_level(std::uint64_t bytes, std::size_t level) {
  std::size_t before = requests_.load(std::memory_order_acquire);
  if ((before & closed_bit) != 0) return *closed();
  if (bytes > max_bytes_)
    return Error{"serving",
                 ErrorCode::limit_exceeded,
                 "the request has more bytes than may wait",
                 {{"bytes", std::to_string(bytes)}, {"max_bytes", std::to_string(max_bytes_)}}};
  const char* limit = "max_requests";
  if (before < max_requests_) {
    limit = "max_bytes";
    if (bytes_.fetch_add(bytes, std::memory_order_relaxed) <= max_bytes_ - bytes) {
      limit = "max_requests";
      while ((before & closed_bit) == 0 && before < max_requests_)
        if (requests_.compare_exchange_weak(before, before + 1, std::memory_order_acq_rel,
                                            std::memory_order_acquire))
          return Ticket{shared_from_this(), bytes, level};
    }
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    if ((before & closed_bit) != 0) return *closed();
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  return overloaded(limit);
}

void Admission::close(Error why) noexcept {
  const std::lock_guard lock{mutex_};
  if (!why_) why_ = std::move(why);
  requests_.fetch_or(closed_bit, std::memory_order_acq_rel);
}

std::optional<Error> Admission::closed() const {
  const std::lock_guard lock{mutex_};
  return why_;
}

std::chrono::milliseconds Admission::retry_after() const noexcept {
  using std::chrono::milliseconds;
  constexpr milliseconds least{1};
  constexpr milliseconds most{60'000};
  const double rate = rate_.load(std::memory_order_relaxed);
  if (rate <= 0) return std::clamp(std::chrono::ceil<milliseconds>(first_patience_), least, most);
  const double needed = 1000 * static_cast<double>(requests()) / rate;
  if (needed >= static_cast<double>(most.count())) return most;
  return std::max(least, milliseconds{static_cast<std::int64_t>(needed) + 1});
}

Error Admission::overloaded(const char* limit) const {
  return Error{"serving",
               ErrorCode::overloaded,
               "too many requests wait",
               {{"limit", limit},
                {"queued", std::to_string(requests())},
                {"queued_bytes", std::to_string(bytes())},
                {"retry_after_ms", std::to_string(retry_after().count())}}};
}

}  // namespace stoker::serve
