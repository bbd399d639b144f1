#include "stoker/bench/harness/table.hpp"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace stoker::bench {
namespace {

std::string format(const char* pattern, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), pattern, value);
  return text.data();
}

/// Three significant digits or more, never an exponent.
std::string number(double value) {
  const double size = std::abs(value);
  if (size >= 100 || value == std::floor(value)) return format("%.0f", value);
  return format(size >= 10 ? "%.1f" : size >= 0.1 ? "%.2f" : "%.4f", value);
}

std::string value_of(const Row& row) {
  return row.unit.empty() ? number(row.value) : number(row.value) + " " + row.unit;
}

std::string peer_of(const Row& row) {
  return row.peer.empty() ? "" : row.peer + " " + number(row.peer_value);
}

std::string aim_of(const Row& row) {
  if (!row.met()) return "";
  const char* const sign = row.better == Better::higher ? "≥ " : "≤ ";
  std::string text = row.aim_value ? sign + number(*row.aim_value)
                                   : sign + format("%.2f", *row.aim_of_ratio) + "×";
  return text + (*row.met() ? " ✓" : " ✗");
}

/// Pads to `width` columns; counts code points, not bytes.
std::string pad(const std::string& text, std::size_t width, bool right = false) {
  std::size_t columns = 0;
  for (const char c : text) columns += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  const std::string space(columns < width ? width - columns : 0, ' ');
  return right ? space + text : text + space;
}

bool is_remark(const Row& row) {
  return row.unit.empty() && row.value == 0 && row.peer.empty() && !row.aim_value;
}

}  // namespace

void Table::show(const Row& row) {
  if (row.group != group_) {
    group_ = row.group;
    std::fprintf(file_, "\n%s %s %s %s %s %s note\n", pad(group_, 44).c_str(),
                 pad("value", 15, true).c_str(), pad("spread", 7, true).c_str(),
                 pad("peer or floor", 28).c_str(), pad("ratio", 7, true).c_str(),
                 pad("aim", 11).c_str());
  }
  if (is_remark(row)) {
    std::fprintf(file_, "  %s %s\n", pad(row.name, 42).c_str(), row.note.c_str());
  } else {
    std::fprintf(file_, "  %s %s %s %s %s %s %s\n", pad(row.name, 42).c_str(),
                 pad(value_of(row), 15, true).c_str(),
                 pad(row.spread > 0 ? format("%.0f%%", row.spread) : "", 7, true).c_str(),
                 pad(peer_of(row), 28).c_str(),
                 pad(row.ratio() ? format("%.2f", *row.ratio()) : "", 7, true).c_str(),
                 pad(aim_of(row), 11).c_str(), row.note.c_str());
  }
  std::fflush(file_);
}

std::string to_json(std::span<const Row> rows) {
  auto all = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    nlohmann::ordered_json one;
    one["group"] = row.group;
    one["name"] = row.name;
    one["value"] = row.value;
    one["unit"] = row.unit;
    one["better"] = row.better == Better::higher ? "higher" : "lower";
    one["spread_percent"] = row.spread;
    one["n"] = row.n;
    if (!row.peer.empty()) {
      one["peer"] = row.peer;
      one["peer_value"] = row.peer_value;
      one["peer_spread_percent"] = row.peer_spread;
    }
    if (row.ratio()) one["ratio"] = *row.ratio();
    if (row.aim_value) one["aim"] = *row.aim_value;
    if (row.aim_of_ratio) one["aim_ratio"] = *row.aim_of_ratio;
    if (row.met()) one["met"] = *row.met();
    if (!row.note.empty()) one["note"] = row.note;
    all.push_back(std::move(one));
  }
  return all.dump(1);
}

std::string to_markdown(std::span<const Row> rows) {
  std::string text;
  std::string group;
  for (const Row& row : rows) {
    if (row.group != group) {
      group = row.group;
      text += "\n### " + group +
              "\n\n| row | value | spread | peer or floor | ratio | aim | note "
              "|\n|---|---:|---:|---|---:|---|---|\n";
    }
    text += "| " + row.name + " | " + (is_remark(row) ? "" : value_of(row)) + " | " +
            (row.spread > 0 ? format("%.0f%%", row.spread) : "") + " | " + peer_of(row) + " | " +
            (row.ratio() ? format("%.2f", *row.ratio()) : "") + " | " + aim_of(row) + " | " +
            row.note + " |\n";
  }
  return text;
}

}  // namespace stoker::bench
