// Training progress, and its display.
//
//     fit(model, data, {.epochs = 5, .on_batch = {callbacks::progress_bar(std::cerr)}});
//
//     epoch 2/5 [=========>          ]  48/100  loss 0.3141  12800 rows/s  2.1 s left
//
// progress_line() is a function of its arguments alone. A ProgressBar redraws one line on a
// terminal; elsewhere it writes one line at the end of each epoch, to keep logs short.
//
// Threads: progress_line() any; a ProgressBar belongs to one thread at a time. The stream must
// outlive the bar.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace stoker::nn {

/// The progress after a batch whose loss is known. Later steps may have been started.
struct TrainingProgress {
  std::int64_t epoch = 0;   ///< from 1 on
  std::int64_t epochs = 0;  ///< the last epoch's number
  std::int64_t batch = 0;   ///< batches of the epoch computed so far
  std::int64_t batches = 0;
  std::int64_t rows = 0;         ///< of those batches
  double loss = 0;               ///< the mean over those rows
  double rows_per_second = 0;    ///< in this epoch
  double epoch_remaining = 0;    ///< estimated seconds to the end of the epoch
  double remaining_seconds = 0;  ///< estimated, to the end of the training

  [[nodiscard]] bool ends_epoch() const noexcept { return batch == batches; }
};

/// "12800", "0.5", and with units "3.2 s", "4 min 05 s", "2 h 01 min": for people.
[[nodiscard]] std::string rate_text(double per_second);
[[nodiscard]] std::string duration_text(double seconds);

/// One line without a newline, of at most `columns` characters. The bar shrinks from 30 characters
/// to none to make room; numbers are never cut.
[[nodiscard]] std::string progress_line(const TrainingProgress& progress, std::size_t columns = 80);

/// The width of the terminal that `out` writes to; nullopt if it is not a terminal. Only std::cout,
/// std::cerr and std::clog can be recognized; TERM=dumb counts as no terminal.
[[nodiscard]] std::optional<std::size_t> terminal_columns(const std::ostream& out);

class ProgressBar {
 public:
  /// Draws at most every `interval`, and always at the end of an epoch.
  explicit ProgressBar(std::ostream& out,
                       std::chrono::milliseconds interval = std::chrono::milliseconds{100});
  /// Treats `out` as a terminal of that width, or as no terminal.
  ProgressBar(std::ostream& out, std::optional<std::size_t> columns,
              std::chrono::milliseconds interval);

  void show(const TrainingProgress& progress);

 private:
  std::ostream* out_;
  std::optional<std::size_t> columns_;
  std::chrono::milliseconds interval_;
  std::optional<std::chrono::steady_clock::time_point> drawn_;
  std::size_t width_ = 0;  ///< of the line as last drawn
};

}  // namespace stoker::nn
