// Serves a model to many callers: requests that come together run together, as batches.
//
//     const Serving faces = start_serving(system.supervisor(), model, {.batch_size = 32});
//     const NamedValues out = faces.run({{"input", photo}}, {.deadline = 200ms}).get();
//
// Requests whose inputs have equal types and extents share a batch, along the dimension that the model leaves free.
// start_serving() checks by a few runs that this changes no result; the requests of other models run one at a time, and
// status() says why. Every accepted request gets exactly one answer: its outputs, computed, or an error. A caller never
// sees rows of others.
//
// Threads: a handle; any thread may call. Only start_serving() blocks. Lifetime: the serving lives until stop() or the
// end of its supervisor, not with its handles. A system must outlive its servings. A dropped future cancels nothing;
// Future::cancel() does.
//
// Errors of requests. run() throws what is wrong with the request: not_found for a name that no input has or a key that
// was not declared (with the nearest one), invalid_argument for an input that is missing or of another kind and for a
// priority that does not exist, dtype_mismatch, shape_mismatch (also if inputs differ in their rows). An input that has
// a value in the model's file cannot be given. All other errors are in the future:
//
//     overloaded         too many requests wait, of its key or of its priority; the detail `retry_after_ms` says when
//                        to come again
//     limit_exceeded     the request alone has more bytes than may wait, or more rows than `max_request_batches` hold
//     deadline_exceeded  its deadline passed, while it waited or while it ran; or it waited for longer than its
//                        priority allows
//     cancelled          cancel() was called
//     closed             the serving was drained, was stopped, or has ended. Unless it was drained, the detail
//                        `exit_reason` says why
//     others             why the model failed, or how the worker crashed
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "stoker/actors/exit_reason.hpp"
#include "stoker/api/serve/serving_options.hpp"

namespace stoker {

class Supervisor;  // api/actors.hpp

namespace serve {
class ServingCore;
}  // namespace serve

class Serving {
 public:
  /// An empty handle: only assignment and destruction are allowed.
  Serving() = default;
  explicit Serving(std::shared_ptr<const serve::ServingCore> core) noexcept
      : core_{std::move(core)} {}

  [[nodiscard]] const AnyModel& model() const noexcept;
  /// How many priority levels there are, and the level of requests that name none.
  [[nodiscard]] std::size_t priorities() const noexcept;
  [[nodiscard]] std::size_t default_priority() const noexcept;

  /// Does not wait. The future holds the outputs by name; cancel() on it cancels the request. An idle serving may
  /// start the model on the calling thread, and compute it there if that takes no longer than waking another one.
  [[nodiscard]] Future<NamedValues> run(const NamedValues& inputs,
                                        const ServingRequestOptions& options = {}) const;
  /// run() with a completion token of Asio. Include api/serve_async.hpp.
  template <class Token>
  auto async_run(const NamedValues& inputs, Token&& token,
                 const ServingRequestOptions& options = {}) const;

  /// Changes the options of that name, from the next batch on. Throws invalid_argument for values out of range, and
  /// unsupported for another batch size of a model whose requests do not join.
  void with_batch_size(std::int64_t rows) const;
  void with_timeout(std::chrono::nanoseconds timeout) const;

  /// Fails with closed when the serving has ended.
  [[nodiscard]] Future<ServingStatus> status() const;
  /// Accepts no further requests; those that wait for a full batch run as they are. Ready when all accepted ones are
  /// answered; the serving then still exists.
  [[nodiscard]] Future<void> drain() const;
  /// Ends the serving: requests that wait are told at once, batches that run are waited for, at most for
  /// ServingOptions::shutdown. Ready when it has ended.
  Future<ExitReason> stop() const;

 private:
  std::shared_ptr<const serve::ServingCore> core_;
};

/// Starts a serving as a child of that supervisor, such as System::supervisor(). It is not restarted when it ends.
/// Blocks for a few runs of the model; on an event loop, call it by System::run_blocking(). Throws invalid_argument for
/// options out of range, already_exists if the supervisor has a child of that name, closed, and for
/// ServingOptions::sample what AnyModel::predict() throws.
[[nodiscard]] Serving start_serving(const Supervisor& supervisor, const AnyModel& model,
                                    const ServingOptions& options = {});

}  // namespace stoker
