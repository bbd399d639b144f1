// What is noted of one inference request while it is answered: for the access log, and for the trace.
//
// In the trace, each request has a lane of the group "requests" for itself while it runs:
//
//     model ───────────────────────────────────────────────
//       read   queue   batch ────────────────────   write
//                        gather   compute   scatter
//
// The kernels of the batch stand in the lanes of their device, on the same clock.
//
// Threads: one at a time, but for the functions that are const. Lifetime: the recorder outlives it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stoker/api/serve/batch_times.hpp"
#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/api/serve/http/trace_parent.hpp"
#include "stoker/api/serve/protocol/infer_response.hpp"
#include "stoker/runtime/observe/trace.hpp"

namespace stoker::serve::http {

/// Where the requests of a service are traced.
class RequestLanes {
 public:
  explicit RequestLanes(TraceRecorder& trace) noexcept : trace_{&trace} {}

  [[nodiscard]] TraceRecorder& trace() const noexcept { return *trace_; }
  /// The first lane that no request has. Beyond 64 requests they share the last one.
  [[nodiscard]] unsigned take() noexcept;
  void give_back(unsigned lane) noexcept;

 private:
  TraceRecorder* const trace_;
  std::atomic<std::uint64_t> taken_{0};
};

class RequestWatch {
 public:
  /// `lanes`: null for no trace.
  RequestWatch(std::shared_ptr<RequestLanes> lanes, const protocol::ModelLabel& label,
               std::string_view traceparent);
  /// Records the spans.
  ~RequestWatch();
  RequestWatch(const RequestWatch&) = delete;
  RequestWatch& operator=(const RequestWatch&) = delete;

  /// Its body was read, and had this id.
  void read(std::string id);
  /// It has a result.
  void ran(const RequestTimes& times);

  /// What is known from the start.
  [[nodiscard]] HttpInference beginning() const;
  /// What is known now.
  [[nodiscard]] HttpInference noted() const;

 private:
  void record() const noexcept;

  const std::shared_ptr<RequestLanes> lanes_;
  const protocol::ModelLabel label_;
  const std::optional<TraceParent> parent_;
  unsigned lane_ = 0;
  std::uint64_t began_ns_ = 0;  ///< 0: it is not traced
  std::uint64_t read_ns_ = 0;
  std::string id_;
  std::optional<RequestTimes> times_;
};

}  // namespace stoker::serve::http
