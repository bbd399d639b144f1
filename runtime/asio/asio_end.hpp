// The end of an execution context, for what keeps an executor of it and may outlive it: posting to a
// context that is gone is undefined.
//
// Threads: watch_end() from any; context_ends() on the thread that destroys the context, before Asio
// destroys its handlers.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

namespace stoker {

class AsioEnd {
 public:
  /// Nothing may touch the context any more when this has returned.
  virtual void context_ends() noexcept = 0;

 protected:
  ~AsioEnd() = default;
};

/// Tells `who` of the end of the executor's context, if it still is there then. Throws std::bad_alloc.
void watch_end(const boost::asio::any_io_executor& executor, const std::shared_ptr<AsioEnd>& who);

}  // namespace stoker
