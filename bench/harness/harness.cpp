#include "stoker/bench/harness/harness.hpp"

#include <algorithm>
#include <cmath>

namespace stoker::bench {

double Samples::quantile(double share) const {
  if (values_.empty()) return 0;
  if (!sorted_) {
    std::ranges::sort(values_);
    sorted_ = true;
  }
  const double place = share * static_cast<double>(values_.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, values_.size() - 1);
  return std::lerp(values_[low], values_[high], place - std::floor(place));
}

double Samples::spread() const {
  const double middle = median();
  return middle == 0 ? 0 : 100 * (quantile(0.75) - quantile(0.25)) / middle;
}

Samples Samples::rates(double factor) const {
  Samples result;
  for (const double value : values_) result.add(factor / value);
  return result;
}

Samples Samples::scaled(double factor) const {
  Samples result;
  for (const double value : values_) result.add(factor * value);
  return result;
}

Row::Row(std::string what, const Samples& samples, std::string unit_, Better better_)
    : Row{std::move(what), samples.median(), std::move(unit_), better_} {
  spread = samples.spread();
  n = samples.size();
}

Row& Row::against(std::string peer_name, const Samples& samples) {
  against(std::move(peer_name), samples.median());
  peer_spread = samples.spread();
  return *this;
}

Row& Row::against(std::string peer_name, double of_peer) {
  peer = std::move(peer_name);
  peer_value = of_peer;
  return *this;
}

Row& Row::aim(double bound) {
  aim_value = bound;
  return *this;
}

Row& Row::aim_ratio(std::optional<double> bound) {
  aim_of_ratio = bound;
  return *this;
}

Row& Row::remark(std::string text) {
  note = std::move(text);
  return *this;
}

std::optional<double> Row::ratio() const {
  if (peer.empty() || peer_value == 0) return std::nullopt;
  return value / peer_value;
}

std::optional<bool> Row::met() const {
  const auto holds = [this](double reached, double bound) {
    return better == Better::higher ? reached >= bound : reached <= bound;
  };
  if (aim_value) return holds(value, *aim_value);
  if (aim_of_ratio && ratio()) return holds(*ratio(), *aim_of_ratio);
  return std::nullopt;
}

void Report::add(Row row) {
  row.group = group_;
  if (show_) show_(row);
  rows_.push_back(std::move(row));
}

void Report::skip(std::string what, std::string why) {
  add(Row{std::move(what), 0, "", Better::higher}.remark("left out: " + std::move(why)));
}

}  // namespace stoker::bench
