#include "stoker/api/asio.hpp"

#include "stoker/runtime/asio_clock.hpp"
#include "stoker/runtime/asio_executor.hpp"

namespace stoker {

void use_event_loop(SystemOptions& options, boost::asio::any_io_executor executor) {
  auto clock = std::make_shared<AsioClock>(executor);
  // The executor refers to the clock, so it keeps it.
  struct Host {
    Host(boost::asio::any_io_executor loop, std::shared_ptr<AsioClock> timers)
        : clock{std::move(timers)}, executor{std::move(loop), *clock} {}
    std::shared_ptr<AsioClock> clock;
    AsioExecutor executor;
  };
  auto host = std::make_shared<Host>(std::move(executor), clock);
  options.clock = std::move(clock);
  options.executor = std::shared_ptr<Executor>{host, &host->executor};
}

}  // namespace stoker
