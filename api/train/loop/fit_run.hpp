// The loop of fit(), in small parts: for whoever wants to stop between them, or do something else.
//
//     FitRun run{model, data, {.epochs = 5}};
//     while (run.advance() != FitRun::Did::nothing) if (enough()) break;
//     run.rewind();                       // the model as after the last whole epoch
//
// advance() does one of: begin an epoch or start the step of a batch; end an epoch (look at the losses
// that are left, and at the validation data); call one callback. What it throws leaves the run where
// rewind() can go back from, and advance() then goes on: an epoch that failed is trained once more from its
// begin, a callback that threw is called again. Since order and seeds depend on the epoch alone, what comes
// out is what uninterrupted training gives, to the bit.
//
// A place between two epochs or two callbacks is at(), and together with Model::state() it is all that
// goes on needs: rewind(place, state).
//
// Threads: one at a time; advance() waits (for readers, for losses 64 steps back), so not on a host's
// event loop. It sets the model's device for itself. Errors are thrown: the constructor's for options,
// metrics and data that do not fit the model, changing nothing.
#pragma once

#include "stoker/api/train/loop/fit.hpp"

namespace stoker::nn {

class FitRun {
 public:
  FitRun(Model model, Dataset data, FitOptions options);
  FitRun(FitRun&&) noexcept;
  FitRun& operator=(FitRun&&) noexcept;
  /// Stops reading ahead, and waits for the batches that are just being made.
  ~FitRun();

  enum class Did : std::uint8_t {
    batch,     ///< started a step
    epoch,     ///< ended an epoch: the history has grown, its callbacks come next
    callback,  ///< called one
    nothing,   ///< all epochs are over, or a callback stopped the training
  };
  Did advance();

  /// Whole epochs, and how many of the callbacks after the last one have been called.
  struct Place {
    std::size_t epochs = 0;
    std::size_t callbacks = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// The last one that was reached.
  [[nodiscard]] Place at() const noexcept;
  /// Whether the model is as it is there: no epoch is begun.
  [[nodiscard]] bool between_epochs() const noexcept;

  /// Forgets the epoch that is begun, also in the model.
  void rewind();
  /// Goes to an earlier place, with the state that the model had there.
  void rewind(const Place& place, TrainingState state);

  /// Waits for the losses of all steps that were started, and tells the batch callbacks.
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
