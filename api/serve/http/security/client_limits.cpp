#include "stoker/api/serve/http/security/client_limits.hpp"

#include <algorithm>

namespace stoker::serve::http {

using std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

std::optional<ClientLimits::Place> ClientLimits::enter(const std::string& client,
                                                       Clock::time_point now) {
  if (client.empty() || (connections_ == 0 && rate_ <= 0)) return Place{nullptr, {}};
  std::string name = client;
  const std::lock_guard lock{mutex_};
  if (clients_.size() >= prune_at_) prune(now);
  const auto [known, is_new] = clients_.try_emplace(client, Client{.left = burst(), .at = now});
  if (connections_ != 0 && known->second.connections >= connections_) return std::nullopt;
  ++known->second.connections;
  return Place{this, std::move(name)};
}

void ClientLimits::leave(const std::string& client) noexcept {
  const std::lock_guard lock{mutex_};
  const auto known = clients_.find(client);
  if (known == clients_.end()) return;
  --known->second.connections;
  // One that is limited by its rate could come again as somebody new.
  if (known->second.connections == 0 && rate_ <= 0) clients_.erase(known);
}

double ClientLimits::left(const Client& client, Clock::time_point now) const noexcept {
  return std::min(burst(), client.left + rate_ * Seconds{now - client.at}.count());
}

nanoseconds ClientLimits::ask(const std::string& client, Clock::time_point now) {
  if (rate_ <= 0) return nanoseconds::zero();
  const std::lock_guard lock{mutex_};
  Client& known = clients_.at(client);
  known.left = left(known, now);
  known.at = now;
  if (known.left < 1)
    return std::chrono::duration_cast<nanoseconds>(Seconds{(1 - known.left) / rate_}) +
           nanoseconds{1};
  known.left -= 1;
  return nanoseconds::zero();
}

void ClientLimits::prune(Clock::time_point now) {
  std::erase_if(clients_, [&](const auto& entry) {
    return entry.second.connections == 0 && left(entry.second, now) >= burst();
  });
  prune_at_ = std::max<std::size_t>(64, 2 * clients_.size());
}

std::size_t ClientLimits::clients() const {
  const std::lock_guard lock{mutex_};
  return clients_.size();
}

}  // namespace stoker::serve::http
