// Batches of a dataset, epoch by epoch, read ahead in the background.
//
//     const Loader loader{{x, y}, {.batch_size = 64, .seed = 1}};
//     for (std::int64_t n = 0; n < 10; ++n)
//       for (const Batch& batch : loader.epoch(n)) train(batch.inputs[0], batch.targets[0]);
//
// Seed and epoch alone decide the order, whatever the number of workers. An interrupted epoch can
// be resumed from its position, a pair of numbers:
//
//     Epoch epoch = loader.epoch(3);
//     while (auto batch = epoch.next()) … epoch.position() …
//     Epoch rest = loader.resume(position);
//
// Threads: a Loader is immutable; use it from any thread. An Epoch belongs to one thread at a time.
// It starts its own worker threads, because readers block on files, which executor threads must not
// do. The workers make the batches and call map_rows and map; at most `prefetch` batches are in
// progress or waiting to be taken. Destroying an Epoch stops the workers and blocks until the
// batches in progress are done. next() blocks, so do not call it on a host's event loop. Batches
// live on the device that was current_device() when the epoch began. Throws invalid_parameter for
// options, invalid_argument for a dataset without rows or a position out of range. next() rethrows
// an exception of a source or map in place of that batch, which is then the last. In a child of
// fork() next() throws forked_process.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/api/data/dataset.hpp"

namespace stoker::nn {

struct Batch {
  std::vector<Tensor> inputs;
  std::vector<Tensor> targets;
  std::int64_t rows = 0;
};
template <class V> void visit_tensors(Batch& batch, V&& visitor) {
  visitor(batch.inputs);
  visitor(batch.targets);
}

/// Identifies the next batch.
struct LoaderPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  friend bool operator==(const LoaderPosition&, const LoaderPosition&) = default;
};

struct LoaderOptions {
  std::int64_t batch_size = 32;
  bool shuffle = true;
  bool drop_last = false;                  ///< skip the last batch if it is smaller
  std::optional<std::uint64_t> seed = {};  ///< default: a different seed for each loader
  std::int64_t prefetch = 2;               ///< batches prepared ahead; 0: none, and no threads
  std::int64_t workers = 1;  ///< threads that prepare batches; more than `prefetch` are of no use
  /// Changes the bytes and their specs before they go to the device. Called on several threads at
  /// once if there are several workers. Derive randomness from the position, to keep runs
  /// reproducible.
  std::function<void(HostRows& rows, const LoaderPosition& where)> map_rows = {};
  /// Changes the tensors of a batch, under the same rules.
  std::function<Batch(Batch batch, const LoaderPosition& where)> map = {};
};

/// The batches of one epoch, each returned once.
class Epoch {
 public:
  Epoch(Epoch&&) noexcept;
  Epoch& operator=(Epoch&&) noexcept;
  ~Epoch();

  /// Returns the next batch, or nullopt at the end. Blocks.
  [[nodiscard]] std::optional<Batch> next();
  /// The position of the batch that next() returns; after the last one, the start of the next
  /// epoch.
  [[nodiscard]] LoaderPosition position() const;

  class Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(Epoch& epoch) : epoch_{&epoch}, batch_{epoch.next()} {}
    [[nodiscard]] const Batch& operator*() const { return *batch_; }
    [[nodiscard]] const Batch* operator->() const { return &*batch_; }
    Iterator& operator++() {
      batch_.reset();  // its memory is reused for the next batch
      batch_ = epoch_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return !it.batch_; }

   private:
    Epoch* epoch_;
    std::optional<Batch> batch_;
  };
  [[nodiscard]] Iterator begin() { return Iterator{*this}; }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  friend class Loader;
  struct Work;
  explicit Epoch(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

class Loader {
 public:
  explicit Loader(Dataset data, LoaderOptions options = {});

  /// The number of batches in an epoch.
  [[nodiscard]] std::int64_t batches() const noexcept;
  /// The seed in use: pass it to make the same loader again.
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] const Dataset& data() const noexcept { return data_; }
  [[nodiscard]] const LoaderOptions& options() const noexcept { return *options_; }

  [[nodiscard]] Epoch epoch(std::int64_t number) const { return resume({number, 0}); }
  /// An epoch, starting at one of its batches.
  [[nodiscard]] Epoch resume(const LoaderPosition& from) const;

 private:
  Dataset data_;
  std::shared_ptr<const LoaderOptions> options_;
  std::uint64_t seed_;
};

/// Copies rows to tensors on current_device().
[[nodiscard]] Batch to_batch(const HostRows& rows);
/// All rows in one batch, in their order.
[[nodiscard]] Batch whole_batch(const Dataset& data);

}  // namespace stoker::nn
