#include "stoker/api/asio.hpp"

#include "stoker/runtime/asio/asio_clock.hpp"
#include "stoker/runtime/asio/asio_executor.hpp"

namespace stoker {

void use_event_loop(SystemOptions& options, boost::asio::any_io_executor executor) {
  options.clock = std::make_shared<AsioClock>(executor);
  options.executor = make_asio_executor(std::move(executor), options.clock);
}

}  // namespace stoker
