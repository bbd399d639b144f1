// Batches of a dataset, epoch by epoch, read ahead in the background.
//
//     const Loader loader{{x, y}, {.batch_size = 64, .seed = 1}};
//     for (std::int64_t n = 0; n < 10; ++n)
//       for (const Batch& batch : loader.epoch(n)) train(batch.inputs[0], batch.targets[0]);
//
// Seed and epoch alone decide the order, whatever the number of workers. An epoch that ended
// early is gone on with by its position, which two numbers describe:
//
//     Epoch epoch = loader.epoch(3);
//     while (auto batch = epoch.next()) … epoch.position() …
//     Epoch rest = loader.resume(position);
//
// Threads: a Loader is immutable, any thread. An Epoch belongs to one thread at a time; it starts
// threads of its own, because readers block on files, which an executor's threads must not. They
// make the batches, also call map_rows and map, and have at most `prefetch` batches begun that
// nobody took. Dropping an Epoch at any moment stops them, and waits for the batches that are
// just being made. next() waits, so not on a host's event loop. Batches live on the device that
// was current_device() when the epoch began.
// Errors are thrown: invalid_parameter for options, invalid_argument for a set without rows or a
// position that is not there. What a source or map throws comes out of next() in its batch's place;
// nothing comes after it. In a child of fork() next() throws forked_process.
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

/// The next batch to come.
struct LoaderPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  friend bool operator==(const LoaderPosition&, const LoaderPosition&) = default;
};

struct LoaderOptions {
  std::int64_t batch_size = 32;
  bool shuffle = true;
  bool drop_last = false;  ///< leave out a last batch that is smaller; else it is kept
  std::optional<std::uint64_t> seed = {};  ///< none given: another one for each loader
  std::int64_t prefetch = 2;               ///< batches made ahead; 0: none, and no threads
  std::int64_t workers = 1;  ///< threads that make them; no more than prefetch are of use
  /// Changes the bytes, and their specs, before they go to the device. Called on several threads at
  /// once if there are several workers; whatever is random there should come from the position.
  std::function<void(HostRows& rows, const LoaderPosition& where)> map_rows = {};
  /// The same with tensors.
  std::function<Batch(Batch batch, const LoaderPosition& where)> map = {};
};

/// The batches of one epoch, each of them once.
class Epoch {
 public:
  Epoch(Epoch&&) noexcept;
  Epoch& operator=(Epoch&&) noexcept;
  ~Epoch();

  /// The next batch, or nothing at the end.
  [[nodiscard]] std::optional<Batch> next();
  /// After the last batch: the next epoch's begin.
  [[nodiscard]] LoaderPosition position() const;

  class Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(Epoch& epoch) : epoch_{&epoch}, batch_{epoch.next()} {}
    [[nodiscard]] const Batch& operator*() const { return *batch_; }
    [[nodiscard]] const Batch* operator->() const { return &*batch_; }
    Iterator& operator++() {
      batch_.reset();  // its memory is wanted for what is read next
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

  /// How many batches an epoch has.
  [[nodiscard]] std::int64_t batches() const noexcept;
  /// To make the same loader again.
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] const Dataset& data() const noexcept { return data_; }
  [[nodiscard]] const LoaderOptions& options() const noexcept { return *options_; }

  [[nodiscard]] Epoch epoch(std::int64_t number) const { return resume({number, 0}); }
  /// An epoch from one of its batches on.
  [[nodiscard]] Epoch resume(const LoaderPosition& from) const;

 private:
  Dataset data_;
  std::shared_ptr<const LoaderOptions> options_;
  std::uint64_t seed_;
};

/// Rows as tensors on current_device().
[[nodiscard]] Batch to_batch(const HostRows& rows);
/// All rows in one batch, in their order.
[[nodiscard]] Batch whole_batch(const Dataset& data);

}  // namespace stoker::nn
