#include "markdown.hpp"

#include <algorithm>

namespace stoker::command_line {
namespace {

struct Group {
  std::string_view name;
  std::vector<std::string_view> members;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {"floats", {"f32", "f64", "f16", "bf16"}},
      {"integers", {"s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"}}};
  return all;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    if (std::string_view{"\\|*_<>`[]#"}.find(c) != std::string_view::npos) shown += '\\';
    shown += c;
  }
  return shown;
}

std::string dtypes_in_words(std::span<const std::string> names) {
  std::string words;
  const auto add = [&](std::string_view word) {
    if (!words.empty()) words += ", ";
    words += word;
  };
  std::vector<std::string_view> left{names.begin(), names.end()};
  for (const Group& group : groups()) {
    const auto is_listed = [&](std::string_view name) {
      return std::ranges::find(left, name) != left.end();
    };
    if (!std::ranges::all_of(group.members, is_listed)) continue;
    add(group.name);
    std::erase_if(left, [&](std::string_view name) {
      return std::ranges::find(group.members, name) != group.members.end();
    });
  }
  for (const std::string_view name : left) add(name);
  return words;
}

std::string page_head(std::string_view title, std::string_view introduction) {
  return "# " + std::string{title} +
         "\n\n<!-- Made from the definitions by ./dev docs: change those, not this page. -->\n\n" +
         std::string{introduction} + "\n";
}

}  // namespace stoker::command_line
