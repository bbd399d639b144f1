// Observations for people: the tree in aligned columns, then the devices.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "stoker/api/observe/observation.hpp"

namespace stoker {
namespace {

using State = ActorObservation::State;
using Row = std::vector<std::string>;

/// Columns as wide as their widest cell; the last is not padded.
class Table {
 public:
  /// Numbers begin at column `numbers`, aligned to the right, and end before the last column.
  Table(Row head, std::size_t numbers) : numbers_{numbers} { add(std::move(head)); }
  void add(Row row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const Row& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    std::string text;
    for (const Row& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const bool last = i + 1 == row.size();
        const std::string padding(widths[i] - width(row[i]), ' ');
        const bool right = i >= numbers_ && !last;
        line += (i > 0 ? "  " : "") + (right ? padding + row[i] : row[i] + padding);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
    return text;
  }

 private:
  /// In characters of UTF-8.
  static std::size_t width(const std::string& cell) {
    return static_cast<std::size_t>(
        std::ranges::count_if(cell, [](char c) { return (c & 0xC0) != 0x80; }));
  }

  std::size_t numbers_;
  std::vector<Row> rows_;
};

template <class... Values> std::string formatted(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string_view name_of(State state) {
  switch (state) {
    case State::running: return "running";
    case State::restarting: return "restarting";
    case State::stopped: break;
  }
  return "stopped";
}

/// "stoker::ProcessActor<stoker::Request<…" is a ProcessActor to people.
std::string short_type(std::string_view type) {
  type = type.substr(0, type.find('<'));
  if (const std::size_t colons = type.rfind("::"); colons != std::string_view::npos)
    type.remove_prefix(colons + 2);
  return std::string{type};
}

template <class Key> std::string rate_of(const std::map<Key, double>& rates, const Key& key) {
  const auto at = rates.find(key);
  return at == rates.end() ? "-" : formatted("%.1f", at->second);
}

void add_rows(Table& table, const ActorObservation& seen, const ObservationRates* rates,
              std::size_t depth) {
  const bool runs = seen.actor != 0;
  const std::string none = "-";
  std::string mailbox = none;
  if (runs) {
    mailbox = std::to_string(seen.mailbox_depth);
    if (seen.mailbox_depth >= seen.mailbox_capacity) mailbox += " (full)";
  }
  table.add({std::string(2 * depth, ' ') + seen.id,
             seen.kind == ChildKind::supervisor ? "supervisor" : "worker",
             std::string{name_of(seen.state)}, std::to_string(seen.restarts), mailbox,
             runs ? std::to_string(seen.delivered) : none,
             runs && rates ? rate_of(rates->messages, seen.actor) : none,
             seen.no_answer.empty() ? short_type(seen.type)
                                    : short_type(seen.type) + ": " + seen.no_answer});
  for (const ActorObservation& child : seen.children) add_rows(table, child, rates, depth + 1);
}

std::string device_text(const DeviceObservation& seen, const ObservationRates* rates) {
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  const SchedulerStats& commands = seen.commands;
  std::string text = seen.name + ": " + seen.description + '\n';
  text += seen.ready ? "  ready" : "  LOST";
  if (seen.reopened > 0) text += ", opened again " + number(seen.reopened) + "×";
  text += ", mailbox " + number(seen.mailbox_depth) + '\n';
  text += "  commands  " + number(commands.queued) + " queued, " + number(commands.in_flight) +
          " in flight, " + number(commands.commands_completed) + " completed";
  if (rates) text += " (" + rate_of(rates->completed, seen.name) + "/s)";
  text += ", " + number(commands.commands_failed) + " failed, " +
          number(commands.commands_cancelled) + " cancelled, " + number(commands.submissions) +
          " submissions";
  if (commands.quarantined > 0) text += ", " + number(commands.quarantined) + " given up";
  text += "\n  memory    " + readable_bytes(seen.memory.in_use) + " in use by " +
          number(seen.buffers) + " buffers, " + number(seen.pipelines) +
          " pipelines and work, peak " + readable_bytes(seen.memory.peak) + ", " +
          readable_bytes(seen.memory.cached) + " cached, budget " +
          readable_bytes(seen.memory.budget) + '\n';
  return text;
}

}  // namespace

std::string to_text(const SystemObservation& seen, const ObservationRates* rates) {
  const std::time_t time = std::chrono::system_clock::to_time_t(seen.time);
  std::tm local{};
  localtime_r(&time, &local);
  std::string text = "process " + std::to_string(seen.pid) +
                     formatted(", %02d:%02d:%02d", local.tm_hour, local.tm_min, local.tm_sec) +
                     ", " + std::to_string(seen.live_processes) + " live processes\n\n";
  if (seen.tree) {
    constexpr std::size_t numbers = 3;
    Table table{{"ACTOR", "KIND", "STATE", "RESTARTS", "WAITING", "MESSAGES", "PER S", "CLASS"},
                numbers};
    add_rows(table, *seen.tree, rates, 0);
    text += table.text();
  } else {
    text += "Nothing is supervised.\n";
  }
  for (const DeviceObservation& device : seen.devices) text += '\n' + device_text(device, rates);
  return text;
}

std::string readable_bytes(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return formatted(unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

}  // namespace stoker
