// How many connections one client may have, and how often it may ask. A client is an address; of IPv6, the network of
// 64 bits, which is what one gets.
//
// Threads: any. Lifetime: it outlives its places.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace stoker::serve::http {

class ClientLimits {
 public:
  using Clock = std::chrono::steady_clock;

  /// `connections`: of one client; 0: any number. `rate`: requests of one client a second, of which as many may come at
  /// once; 0: any number.
  ClientLimits(std::size_t connections, double rate) noexcept
      : connections_{connections}, rate_{rate} {}

  /// A connection of a client.
  class Place {
   public:
    Place(ClientLimits* limits, std::string client) noexcept
        : limits_{limits}, client_{std::move(client)} {}
    Place(Place&& other) noexcept
        : limits_{std::exchange(other.limits_, nullptr)}, client_{std::move(other.client_)} {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (limits_ != nullptr) limits_->leave(client_);
    }

    /// Zero if the client may ask now, which then counts; else after how long it may.
    [[nodiscard]] std::chrono::nanoseconds ask(Clock::time_point now) const {
      return limits_ != nullptr ? limits_->ask(client_, now) : std::chrono::nanoseconds::zero();
    }

   private:
    ClientLimits* limits_;  ///< null: none apply
    std::string client_;
  };

  /// Nothing if the client has as many connections as it may. An empty name has no limits.
  [[nodiscard]] std::optional<Place> enter(const std::string& client, Clock::time_point now);
  /// How many clients it knows.
  [[nodiscard]] std::size_t clients() const;

 private:
  struct Client {
    std::size_t connections = 0;
    double left = 0;  ///< requests that it may make at `at`
    Clock::time_point at = {};
  };

  [[nodiscard]] std::chrono::nanoseconds ask(const std::string& client, Clock::time_point now);
  void leave(const std::string& client) noexcept;
  [[nodiscard]] double burst() const noexcept { return rate_ > 1 ? rate_ : 1; }
  /// What the client may ask at that time.
  [[nodiscard]] double left(const Client& client, Clock::time_point now) const noexcept;
  /// Forgets those whom it need not remember.
  void prune(Clock::time_point now);

  const std::size_t connections_;
  const double rate_;
  mutable std::mutex mutex_;  // of what follows
  std::unordered_map<std::string, Client> clients_;
  std::size_t prune_at_ = 64;
};

}  // namespace stoker::serve::http
