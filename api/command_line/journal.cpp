#include "journal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

// A script may run any number of commands and save any number of files; these are kept one by one.
constexpr std::size_t kept_commands = 10'000;
constexpr std::size_t kept_files = 1'000;
// More than this are shown grouped.
constexpr std::size_t shown_commands = 40;

double microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

/// The beginning of a text, cut between two characters of UTF-8: of a long one no long copy is made.
std::string_view first_part(std::string_view text) {
  std::size_t size = std::min(text.size(), std::size_t{64} << 10);
  const auto goes_on = [&] { return (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80; };
  for (int i = 0; i < 3 && size < text.size() && goes_on(); ++i) --size;
  return text.substr(0, size);
}

/// Calls of the same kernel with the same output on the same line.
struct Row {
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
  std::chrono::nanoseconds time{0};
};

void print_row(int line, const std::string& kernel, const std::string& output, const Row& row) {
  std::printf("  line %-4d %-20s %-22s", line, kernel.c_str(), output.c_str());
  if (row.time.count() > 0)
    std::printf(" %12.1f µs", microseconds(row.time));
  else
    std::printf(" %12s   ", "not timed");
  if (row.calls > 1) std::printf("  in %llu calls", static_cast<unsigned long long>(row.calls));
  if (row.failures > 0) std::printf("  %llu failed", static_cast<unsigned long long>(row.failures));
  std::printf("\n");
}

}  // namespace

Journal::Journal(Options options)
    : options_{options}, shown_on_terminal_{isatty(STDOUT_FILENO) == 1} {}

void Journal::on_print(std::string_view text) noexcept {
  end_progress();
  if (options_.collect_text) {
    const std::lock_guard lock{mutex_};
    text_ += text;
    return;
  }
  while (!text.empty()) {
    const std::string_view part = shown_on_terminal_ ? first_part(text) : text;
    const std::string shown = shown_on_terminal_ ? printable(part) : std::string{};
    const std::string_view written = shown_on_terminal_ ? shown : part;
    std::fwrite(written.data(), 1, written.size(), stdout);
    text.remove_prefix(part.size());
  }
  std::fflush(stdout);
}

void Journal::on_command(const ScriptCommand& command) noexcept {
  const std::lock_guard lock{mutex_};
  ++count_;
  if (commands_.size() < kept_commands) commands_.push_back(command);
  if (count_ == kept_commands && options_.trace != nullptr) options_.trace->enable(false);
  if (!options_.progress) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < std::chrono::milliseconds{100}) return;
  shown_ = now;
  line_shown_ = true;
  std::fprintf(stderr, "\r%llu commands, now %s\033[K", static_cast<unsigned long long>(count_),
               command.kernel.c_str());
}

void Journal::on_saved(const std::filesystem::path& path, const TensorSpec& spec) noexcept {
  const std::lock_guard lock{mutex_};
  if (++saved_count_ <= kept_files) saved_.push_back({path.string(), spec});
}

void Journal::end_progress() noexcept {
  const std::lock_guard lock{mutex_};
  if (!line_shown_) return;
  line_shown_ = false;
  std::fprintf(stderr, "\r\033[K");
}

void Journal::print_report(const DeviceInfo& device) const {
  std::printf("\nran on %s: %s\n", device.name.c_str(), device.description.c_str());
  Row all;
  std::map<std::tuple<int, std::string, std::string>, Row> grouped;
  for (const ScriptCommand& command : commands_) {
    const Row one{1, command.failure ? 1U : 0U, command.duration};
    const std::string output = command.output.to_string();
    if (commands_.size() <= shown_commands) {
      print_row(command.line, command.kernel, output, one);
    } else {
      Row& row = grouped[{command.line, command.kernel, output}];
      row = {row.calls + 1, row.failures + one.failures, row.time + one.time};
    }
    all.time += one.time;
  }
  for (const auto& [key, row] : grouped)
    print_row(std::get<0>(key), std::get<1>(key), std::get<2>(key), row);
  if (count_ > 1)
    std::printf("  %llu commands %53.1f µs\n", static_cast<unsigned long long>(count_),
                microseconds(all.time));
  if (count_ > commands_.size())
    std::printf("  (the times are those of the first %zu commands)\n", commands_.size());
  for (const Saved& one : saved_)
    std::printf("saved %s (%s)\n", printable(one.path).c_str(), one.spec.to_string().c_str());
  if (saved_count_ > saved_.size())
    std::printf("saved %llu files in all\n", static_cast<unsigned long long>(saved_count_));
  std::fflush(stdout);
}

nlohmann::json Journal::take_json() {
  nlohmann::json commands = nlohmann::json::array();
  for (const ScriptCommand& command : commands_) {
    nlohmann::json entry{{"kernel", command.kernel},
                         {"output", command.output.to_string()},
                         {"line", command.line},
                         {"microseconds", microseconds(command.duration)}};
    if (command.failure) entry["failure"] = command.failure->what();
    commands.push_back(std::move(entry));
  }
  nlohmann::json saved = nlohmann::json::array();
  for (const Saved& one : saved_)
    saved.push_back({{"path", one.path}, {"spec", one.spec.to_string()}});
  return {{"commands", commands}, {"saved", saved}, {"printed", std::move(text_)}};
}

}  // namespace stoker::command_line
