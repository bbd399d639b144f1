#include "stoker/runtime/process/fiber_adaptor.hpp"

#include <atomic>
#include <boost/fiber/condition_variable.hpp>
#include <boost/fiber/mutex.hpp>
#include <mutex>

namespace stoker {
namespace {

/// Lies on the fiber's stack while it is parked.
class ParkedFiber final : public Resumable {
 public:
  void block(Parker& parker, const std::chrono::steady_clock::time_point* deadline) {
    parker.bind(*this);
    if (!parker.commit()) return;
    std::unique_lock lock{mutex_};
    const auto resumed = [this] { return resumed_.load(std::memory_order_acquire); };
    if (deadline != nullptr && !wake_.wait_until(lock, *deadline, resumed)) {
      lock.unlock();
      if (parker.time_out()) return;
      lock.lock();
    }
    wake_.wait(lock, resumed);
  }
  void resume() noexcept override {
    // Under the lock to the end, so that the fiber cannot return, and destroy this, before.
    const std::lock_guard lock{mutex_};
    resumed_.store(true, std::memory_order_release);
    wake_.notify_one();
  }

 private:
  boost::fibers::mutex mutex_;
  boost::fibers::condition_variable wake_;
  std::atomic<bool> resumed_{
      false};  // atomic for the thread sanitizer, which cannot see into Boost.Fiber
};

}  // namespace

void FiberAdaptor::block(Parker& parker,
                         const std::chrono::steady_clock::time_point* deadline) noexcept {
  ParkedFiber fiber;
  fiber.block(parker, deadline);
}

}  // namespace stoker
