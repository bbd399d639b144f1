#include "stoker/api/serve/http/server/connections.hpp"

#include <utility>

#include "stoker/api/serve/http/server/connection.hpp"

namespace stoker::serve::http {

std::size_t Connections::add(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock{mutex_};
  open_.emplace(connection.get(), connection);
  counts_->connections.fetch_add(1, std::memory_order_relaxed);
  counts_->connected.fetch_add(1, std::memory_order_relaxed);
  return open_.size();
}

void Connections::remove(const Connection* connection) noexcept {
  std::vector<Promise<void>> told;
  {
    const std::lock_guard lock{mutex_};
    if (open_.erase(connection) != 0) counts_->connections.fetch_sub(1, std::memory_order_relaxed);
    if (open_.empty()) told = std::exchange(waiting_, {});
  }
  for (Promise<void>& one : told) one.set();
}

std::size_t Connections::count() const {
  const std::lock_guard lock{mutex_};
  return open_.size();
}

std::vector<std::shared_ptr<Connection>> Connections::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(open_.size());
  for (const auto& [address, connection] : open_)
    if (auto held = connection.lock()) all.push_back(std::move(held));
  return all;
}

Future<void> Connections::when_none() {
  const std::lock_guard lock{mutex_};
  if (open_.empty()) return make_ready_future();
  return waiting_.emplace_back().future();
}

}  // namespace stoker::serve::http
