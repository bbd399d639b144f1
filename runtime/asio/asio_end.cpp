#include "stoker/runtime/asio/asio_end.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <mutex>
#include <utility>
#include <vector>

namespace stoker {
namespace {

/// Asio shuts its services down before it destroys what they hold, the newest first.
class AsioEnds final : public boost::asio::execution_context::service {
 public:
  using key_type = AsioEnds;
  static boost::asio::execution_context::id id;

  explicit AsioEnds(boost::asio::execution_context& context)
      : boost::asio::execution_context::service(context) {}

  void add(const std::shared_ptr<AsioEnd>& who) {
    const std::lock_guard lock{mutex_};
    std::erase_if(watching_, [](const auto& one) { return one.expired(); });
    watching_.push_back(who);
  }

 private:
  void shutdown() noexcept override {
    std::vector<std::weak_ptr<AsioEnd>> told;
    {
      const std::lock_guard lock{mutex_};
      told.swap(watching_);
    }
    for (const auto& one : told)
      if (const auto who = one.lock()) who->context_ends();
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<AsioEnd>> watching_;
};

boost::asio::execution_context::id AsioEnds::id;

}  // namespace

void watch_end(const boost::asio::any_io_executor& executor, const std::shared_ptr<AsioEnd>& who) {
  namespace asio = boost::asio;
  asio::execution_context& context =
      asio::query(executor, asio::execution::context_as<asio::execution_context&>);
  asio::use_service<AsioEnds>(context).add(who);
}

}  // namespace stoker
