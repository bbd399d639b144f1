// The connections of an HTTP server that are open.
//
// Threads: any. Lifetime: connections hold it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/api/serve/http/http_counts.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker::serve::http {

class Connection;

class Connections {
 public:
  explicit Connections(std::shared_ptr<HttpCounts> counts) noexcept : counts_{std::move(counts)} {}

  /// How many there are then.
  std::size_t add(const std::shared_ptr<Connection>& connection);
  /// Called by the connection's destructor.
  void remove(const Connection* connection) noexcept;

  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> all() const;
  /// Ready when there is none.
  [[nodiscard]] Future<void> when_none();

 private:
  const std::shared_ptr<HttpCounts> counts_;
  mutable std::mutex mutex_;
  std::unordered_map<const Connection*, std::weak_ptr<Connection>> open_;
  std::vector<Promise<void>> waiting_;
};

}  // namespace stoker::serve::http
