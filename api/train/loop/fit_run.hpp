// The loop of fit(), in small parts, for callers that stop or do other work between them.
//
//     FitRun run{model, data, {.epochs = 5}};
//     while (run.advance() != FitRun::Progress::nothing) if (enough()) break;
//     run.rewind();                       // the model as after the last whole epoch
//
// Each advance() does one part: it begins an epoch, starts the step of a batch, ends an epoch (reads the remaining
// losses and the validation data), or calls one callback. After advance() has thrown, rewind() returns to the last
// completed epoch, and advance() continues: it repeats a failed epoch from its beginning, or calls the callback that
// threw again. Order and seeds depend only on the epoch, so the result equals that of uninterrupted training to the
// bit.
//
// at() returns a place between two epochs or two callbacks. With the place and Model::state() you can
// continue from there: rewind(place, state).
//
// Threads: one at a time. advance() waits for readers and for the losses of 64 steps ago, so do not call it on a
// host's event loop. It sets the model's device itself.
// Errors: thrown. The constructor refuses options, metrics and data that do not fit the model, and changes nothing.
#pragma once

#include "stoker/api/train/loop/fit.hpp"

namespace stoker::nn {

class FitRun {
 public:
  FitRun(Model model, Dataset data, FitOptions options);
  FitRun(FitRun&&) noexcept;
  FitRun& operator=(FitRun&&) noexcept;
  /// Stops reading ahead, and waits for the batches that are being prepared.
  ~FitRun();

  enum class Progress : std::uint8_t {
    batch,     ///< started a step
    epoch,     ///< ended an epoch: the history has grown, its callbacks come next
    callback,  ///< called one callback
    nothing,   ///< all epochs are over, or a callback stopped the training
  };
  Progress advance();

  /// The number of completed epochs, and of callbacks that were called after the last one.
  struct Place {
    std::size_t epochs = 0;
    std::size_t callbacks = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// The last place that was reached.
  [[nodiscard]] Place at() const noexcept;
  /// Whether the model is in the state of that place: no epoch has begun since.
  [[nodiscard]] bool between_epochs() const noexcept;

  /// Discards the current epoch, also in the model.
  void rewind();
  /// Returns to an earlier place, with the state that the model had there.
  void rewind(const Place& place, TrainingState state);

  /// Waits for the losses of all started steps, and calls the batch callbacks with them.
  void settle();
  /// Excludes idle time from epoch durations and from the remaining-time estimate.
  void idled(std::chrono::nanoseconds time) noexcept;

  [[nodiscard]] const History& history() const noexcept;
  [[nodiscard]] const Model& model() const noexcept;
  [[nodiscard]] const FitOptions& options() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace stoker::nn
