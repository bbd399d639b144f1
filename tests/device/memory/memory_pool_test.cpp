#include <gtest/gtest.h>

#include <new>
#include <random>
#include <thread>

#include "stoker/device/memory/memory_pool.hpp"
#include "stoker/device/null/null_backend.hpp"
#include "stoker/tests/actors/failing_allocation.hpp"

namespace stoker {
namespace {

struct NoSink final : CompletionSink {
  void on_completed(Completion) noexcept override {}
  void on_lost(Error) noexcept override {}
};

/// The null device, with its blocks counted.
class CountingBackend final : public Backend {
 public:
  struct Block final : MemoryBlock {
    explicit Block(std::unique_ptr<MemoryBlock> real) : MemoryBlock{*real}, held{std::move(real)} {
      ++count;
    }
    ~Block() override { --count; }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    std::unique_ptr<MemoryBlock> held;
  };
  explicit CountingBackend(CompletionSink& sink) : null_{sink} {}
  [[nodiscard]] const DeviceInfo& info() const noexcept override { return null_.info(); }
  [[nodiscard]] Result<std::unique_ptr<MemoryBlock>> allocate(std::uint64_t bytes,
                                                              MemoryKind kind) override {
    STOKER_ASSIGN(auto block, null_.allocate(bytes, kind));
    return std::unique_ptr<MemoryBlock>{std::make_unique<Block>(std::move(block))};
  }
  [[nodiscard]] Result<std::shared_ptr<const Executable>> prepare(
      std::shared_ptr<const Kernel> kernel, const KernelCall& call,
      std::span<const TensorSpec> outputs) override {
    return null_.prepare(std::move(kernel), call, outputs);
  }
  [[nodiscard]] Result<std::unique_ptr<Recording>> record(std::span<const Step> steps) override {
    return null_.record(steps);
  }
  [[nodiscard]] Result<void> submit(const Submission& submission) override {
    return null_.submit(submission);
  }
  bool wait(QueuePoint point, std::chrono::steady_clock::time_point deadline) noexcept override {
    return null_.wait(point, deadline);
  }
  [[nodiscard]] BackendCounters counters() const noexcept override { return null_.counters(); }

  static inline int count = 0;  ///< of blocks there are

 private:
  device::null::NullBackend null_;
};

class Pool : public testing::Test {
 protected:
  static constexpr std::uint64_t mib = 1 << 20;
  NoSink sink;
  std::shared_ptr<Backend> backend = std::make_shared<device::null::NullBackend>(sink);
  std::shared_ptr<MemoryPool> pool =
      std::make_shared<MemoryPool>(backend, MemoryPool::Options{64 * mib, 32 * mib});

  std::shared_ptr<MemoryLease> lease(std::uint64_t bytes) {
    return pool->lease(bytes, MemoryKind::device, "test").value();
  }
};

TEST_F(Pool, gives_memory_back_to_the_next_taker) {
  const auto* block = lease(3 * mib)->view().block;
  EXPECT_EQ(lease(3 * mib)->view().block, block);
  EXPECT_EQ(pool->stats().allocations, 1U);
  EXPECT_EQ(pool->stats().reuses, 1U);
}

TEST_F(Pool, aligns_pieces_and_keeps_them_apart) {
  std::vector<std::shared_ptr<MemoryLease>> leases;
  std::mt19937 random{1};
  for (int i = 0; i < 300; ++i) {
    leases.push_back(lease(random() % 5000));
    const MemoryView view = leases.back()->view();
    EXPECT_EQ(view.address() % 64, 0U);
    std::fill_n(view.host(), view.bytes, static_cast<std::byte>(i));
  }
  for (int i = 0; i < 300; ++i) {
    const MemoryView view = leases[static_cast<std::size_t>(i)]->view();
    EXPECT_TRUE(std::all_of(view.host(), view.host() + view.bytes,
                            [&](std::byte b) { return b == static_cast<std::byte>(i); }));
  }
}

TEST_F(Pool, counts_right_after_any_allocation_of_the_host_has_failed) {
  pool = std::make_shared<MemoryPool>(std::make_shared<CountingBackend>(sink),
                                      MemoryPool::Options{64 * mib, 32 * mib});
  for (const std::uint64_t bytes : {std::uint64_t{10'000}, 3 * mib}) {
    // Of small pieces more than two slabs hold, so that slabs are made among the allocations that fail.
    const std::size_t count = bytes < mib ? 300 : 3;
    bool failed = true;
    for (std::size_t which = 0; failed; ++which) {
      SCOPED_TRACE(testing::Message{} << bytes << " bytes, allocation " << which);
      std::vector<std::shared_ptr<MemoryLease>> leases;
      leases.reserve(count);
      {
        const FailingAllocation failing{which};
        try {
          while (leases.size() < count)
            leases.push_back(pool->lease(bytes, MemoryKind::device, "test").value());
        } catch (const std::bad_alloc&) {  // as ordered
        } catch (const Error& error) {
          ASSERT_EQ(error.code(), ErrorCode::out_of_memory);
        }
        failed = failing.failed();
      }
      ASSERT_EQ(pool->stats().leases, leases.size());
      ASSERT_GE(pool->stats().in_use, leases.size() * bytes);
      leases.clear();
      pool->trim();
      ASSERT_EQ(pool->stats().in_use, 0U);
      ASSERT_EQ(pool->stats().cached, 0U);
      ASSERT_EQ(CountingBackend::count, 0) << "a block is nobody's";
    }
  }
}

TEST_F(Pool, does_not_keep_more_than_its_cache_limit) {
  std::vector<std::shared_ptr<MemoryLease>> leases;
  for (int i = 0; i < 5; ++i) leases.push_back(lease(10 * mib));
  leases.clear();
  EXPECT_LE(pool->stats().cached, 32 * mib);
  EXPECT_EQ(pool->stats().in_use, 0U);
}

TEST_F(Pool, gives_cached_memory_up_before_it_refuses) {
  lease(30 * mib);
  EXPECT_EQ(pool->stats().cached, 30 * mib);
  const auto large = lease(50 * mib);  // fits the budget only without the cached block
  EXPECT_EQ(pool->stats().cached, 0U);
  const auto refused = pool->lease(20 * mib, MemoryKind::device, "test");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(refused.error().detail("in_use"), std::to_string(50 * mib));
}

TEST_F(Pool, gives_everything_idle_back_when_trimmed) {
  const auto kept = lease(100);
  for (int i = 0; i < 50; ++i) lease(1000 * static_cast<std::uint64_t>(i));
  lease(5 * mib);
  EXPECT_GT(pool->trim(), 5 * mib);
  EXPECT_LE(pool->stats().cached, 64U * 1024);  // the slab that `kept` lies in
  EXPECT_EQ(pool->stats().leases, 1U);
}

TEST_F(Pool, reaches_a_plateau_over_many_mixed_sizes) {
  std::mt19937 random{7};
  std::uint64_t after_warm_up = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::shared_ptr<MemoryLease>> leases;
    for (int i = 0; i < 4; ++i) leases.push_back(lease(std::uint64_t{1} << (random() % 22)));
    if (round == 1000) after_warm_up = pool->stats().allocations;
  }
  EXPECT_LE(pool->stats().allocations, after_warm_up + 8);
}

TEST_F(Pool, soon_stops_growing_when_large_sizes_vary) {
  std::mt19937 random{7};
  std::uint64_t after_a_hundred = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::shared_ptr<MemoryLease>> leases;
    for (int i = 0; i < 3; ++i) leases.push_back(lease(mib / 4 + random() % (4 * mib)));
    if (round == 100) after_a_hundred = pool->stats().cached + pool->stats().in_use;
  }
  const std::uint64_t at_last = pool->stats().cached + pool->stats().in_use;
  EXPECT_LE(at_last, after_a_hundred + after_a_hundred / 10);
}

TEST_F(Pool, lends_blocks_up_to_half_as_large_again) {
  lease(12 * mib);
  EXPECT_EQ(lease(8 * mib)->capacity(), 12 * mib);
  EXPECT_EQ(lease(7 * mib)->capacity(), 7 * mib);
}

TEST_F(Pool, serves_many_threads) {
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      std::mt19937 random{t};
      for (int i = 0; i < 2000; ++i) {
        const auto one = lease(random() % 100000);
        *one->view().host() = std::byte{1};
      }
    });
  threads.clear();
  EXPECT_EQ(pool->stats().leases, 0U);
  EXPECT_EQ(pool->stats().in_use, 0U);
}

TEST_F(Pool, outlives_the_one_who_made_it_in_its_leases) {
  const auto one = lease(1000);
  pool.reset();
  backend.reset();
  *one->view().host() = std::byte{1};
}

}  // namespace
}  // namespace stoker
