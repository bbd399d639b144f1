// The fields of one message of a configuration, taken by name. What nobody has taken is refused at the end, by name.
//
//     ConfigFields fields{message, form, "dynamic_batching"};
//     const std::uint64_t delay = fields.whole("max_queue_delay_microseconds").value_or(0);
//     fields.end();
//
// Threads: one at a time. Lifetime: the message outlives it. Errors are thrown: invalid_argument, naming the field by
// its path.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/api/serve/repository/config_tree.hpp"

namespace stoker::serve {

class ConfigFields {
 public:
  /// `path`: of the message, for errors; empty for the whole configuration.
  ConfigFields(const ConfigValue& message, ConfigForm form, std::string path);

  /// Each of these takes the field; none: it is not there. A field that has one value must not come twice.
  [[nodiscard]] std::optional<std::string> text(std::string_view name);
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name);
  /// At least 0.
  [[nodiscard]] std::optional<std::uint64_t> whole(std::string_view name);
  [[nodiscard]] std::optional<bool> flag(std::string_view name);
  /// A name of an enumeration: one of `names`, whose position is returned.
  [[nodiscard]] std::optional<std::size_t> choice(std::string_view name,
                                                  std::initializer_list<std::string_view> names);
  /// A name of an enumeration with too many to be listed.
  [[nodiscard]] std::optional<std::string> word(std::string_view name);
  [[nodiscard]] std::optional<ConfigFields> message(std::string_view name);
  [[nodiscard]] std::vector<ConfigFields> messages(std::string_view name);
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name);
  /// The entries of a map, by key. In JSON a map is an object; in text it is messages of `key` and `value`.
  [[nodiscard]] std::vector<std::pair<std::string, ConfigFields>> map(std::string_view name);

  /// Fields that change no answer and have no effect here; those that are there are logged.
  void leave_out(std::initializer_list<std::string_view> names, const std::string& model);
  /// Whether there is such a field.
  [[nodiscard]] bool has(std::string_view name) const noexcept;
  /// Refuses `name` if it is there, with the reason.
  void refuse(std::string_view name, std::string_view reason) const;
  /// Refuses the fields that are left.
  void end() const;

  [[nodiscard]] std::string path_of(std::string_view name) const;

 private:
  [[nodiscard]] std::vector<const ConfigValue*> take(std::string_view name);
  [[nodiscard]] const ConfigValue* take_one(std::string_view name);
  [[nodiscard]] const std::string& word_of(std::string_view name, const ConfigValue& value) const;
  [[nodiscard]] std::int64_t integer_of(std::string_view name, const ConfigValue& value) const;
  [[nodiscard]] ConfigFields below(std::string_view name, const ConfigValue& value) const;
  [[noreturn]] void expected(std::string_view name, std::string_view what) const;

  const ConfigValue* message_;
  ConfigForm form_;
  std::string path_;
  std::vector<std::string> known_;  ///< names that were asked for
};

}  // namespace stoker::serve
