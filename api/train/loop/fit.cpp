#include "stoker/api/train/loop/fit.hpp"

#include <iomanip>
#include <sstream>

#include "stoker/api/train/loop/fit_run.hpp"

namespace stoker::nn {

std::string epoch_line(const EpochMetrics& metrics) {
  std::ostringstream line;
  line << "epoch " << metrics.epoch << '/' << metrics.epochs << std::fixed << std::setprecision(4)
       << "  loss " << metrics.loss;
  if (metrics.validation_loss) line << "  validation loss " << *metrics.validation_loss;
  for (const auto& [name, value] : metrics.validation_metrics) line << "  " << name << ' ' << value;
  line << std::setprecision(0) << "  " << metrics.rows_per_second << " rows/s  "
       << metrics.milliseconds << " ms";
  if (metrics.remaining_milliseconds)
    line << "  " << std::setprecision(1) << *metrics.remaining_milliseconds / 1000 << " s left";
  return line.str();
}

double watched_loss(const EpochMetrics& metrics) {
  return metrics.validation_loss.value_or(metrics.loss);
}

History fit(Model& model, const Dataset& data, const FitOptions& options) {
  FitRun run{model, data, options};
  try {
    while (run.advance() != FitRun::Progress::nothing) {
    }
  } catch (...) {
    run.rewind();
    throw;
  }
  return run.history();
}

}  // namespace stoker::nn
