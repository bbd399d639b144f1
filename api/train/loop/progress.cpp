#include "stoker/api/train/loop/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string_view>

namespace stoker::nn {
namespace {

constexpr std::int64_t widest_bar = 30;
constexpr std::int64_t narrowest_bar = 5;

/// [=====>    ]: whole cells, and an arrow where the next one grows.
std::string bar(std::int64_t batch, std::int64_t batches, std::int64_t cells) {
  const std::int64_t done =
      batches > 0 ? std::clamp<std::int64_t>(batch * cells / batches, 0, cells) : 0;
  std::string text(static_cast<std::size_t>(cells), ' ');
  std::fill_n(text.begin(), done, '=');
  if (done < cells) text[static_cast<std::size_t>(done)] = '>';
  return "[" + text + "]";
}

int descriptor_of(const std::ostream& out) {
  if (&out == &std::cout) return STDOUT_FILENO;
  if (&out == &std::cerr || &out == &std::clog) return STDERR_FILENO;
  return -1;
}

}  // namespace

std::string rate_text(double per_second) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(per_second < 10 ? 1 : 0) << per_second;
  return text.str();
}

std::string duration_text(double seconds) {
  std::ostringstream text;
  const double shown = std::max(seconds, 0.0);
  if (!std::isfinite(shown)) return "?";
  if (shown < 59.95) {
    text << std::fixed << std::setprecision(1) << shown << " s";
    return text.str();
  }
  const auto whole = static_cast<std::int64_t>(std::llround(shown));
  text << std::setfill('0');
  if (whole < 3600)
    text << whole / 60 << " min " << std::setw(2) << whole % 60 << " s";
  else
    text << whole / 3600 << " h " << std::setw(2) << whole / 60 % 60 << " min";
  return text.str();
}

std::string progress_line(const TrainingProgress& progress, std::size_t columns) {
  std::ostringstream head;
  head << "epoch " << progress.epoch << '/' << progress.epochs << ' ';
  std::ostringstream tail;
  // As wide as it gets, so that the line does not jump about.
  tail << ' ' << std::setw(static_cast<int>(std::to_string(progress.batches).size()))
       << progress.batch << '/' << progress.batches << "  loss " << std::fixed
       << std::setprecision(4) << progress.loss << "  " << rate_text(progress.rows_per_second)
       << " rows/s";
  if (progress.remaining_seconds > 0)
    tail << "  " << duration_text(progress.remaining_seconds) << " left";
  const auto taken = static_cast<std::int64_t>(head.str().size() + tail.str().size()) + 2;
  const std::int64_t cells =
      std::min(widest_bar, static_cast<std::int64_t>(std::min<std::size_t>(columns, 1000)) - taken);
  if (cells < narrowest_bar) return head.str() + tail.str().substr(1);
  return head.str() + bar(progress.batch, progress.batches, cells) + tail.str();
}

std::optional<std::size_t> terminal_columns(const std::ostream& out) {
  const int descriptor = descriptor_of(out);
  if (descriptor < 0 || ::isatty(descriptor) != 1) return std::nullopt;
  const char* kind = std::getenv("TERM");
  if (kind == nullptr || std::string_view{kind} == "dumb") return std::nullopt;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

ProgressBar::ProgressBar(std::ostream& out, std::chrono::milliseconds interval)
    : ProgressBar{out, terminal_columns(out), interval} {}

ProgressBar::ProgressBar(std::ostream& out, std::optional<std::size_t> columns,
                         std::chrono::milliseconds interval)
    : out_{&out}, columns_{columns}, interval_{interval} {}

void ProgressBar::show(const TrainingProgress& progress) {
  if (!columns_) {
    if (progress.ends_epoch()) *out_ << progress_line(progress) << std::endl;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && now - *drawn_ < interval_ && !progress.ends_epoch()) return;
  drawn_ = now;
  // One column is left free: a terminal that is full wraps.
  const std::string line = progress_line(progress, *columns_ - 1);
  const std::size_t rest = width_ > line.size() ? width_ - line.size() : 0;
  *out_ << '\r' << line << std::string(rest, ' ');
  width_ = line.size();
  if (progress.ends_epoch()) {
    *out_ << '\n';
    width_ = 0;
    drawn_.reset();
  }
  out_->flush();
}

}  // namespace stoker::nn
