// The text form of a pipeline's stage. What was read and is written again reads the same.
#include <array>
#include <charconv>

#include "fuzz.hpp"
#include "stoker/pipeline/kernel_graph/text_form.hpp"

namespace stoker::fuzz::stage {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

/// Reals with an exponent: without one they may read as integers.
std::string text_of_value(const ParamValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return *text;
  const auto* const real = std::get_if<double>(&value);
  if (real == nullptr) return to_string(value);
  std::array<char, 40> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), *real,
                                     std::chars_format::scientific);
  return {digits.data(), written.ptr};
}

}  // namespace

void run(Bytes bytes) {
  const Result<StageText> stage = parse_stage(text_of(bytes));
  if (stage.has_error()) return require_refusal(stage.error());
  require(!stage->kernel.empty() && !stage->outputs.empty(), "a stage has a kernel and an output");
  std::string text = stage->kernel + ":" + joined(stage->inputs) + ":" + joined(stage->outputs);
  char separator = '?';
  for (const auto& [name, value] : stage->params.entries()) {
    require(!name.empty(), "a parameter has a name");
    text += separator + name + "=" + text_of_value(value);
    separator = '&';
  }
  const StageText again = parse_stage(text).value();
  require(again.kernel == stage->kernel && again.inputs == stage->inputs &&
              again.outputs == stage->outputs,
          "a stage that is written has the same names: " + text);
  const auto before = stage->params.entries();
  const auto after = again.params.entries();
  require(after.size() == before.size(), "a stage that is written has as many parameters: " + text);
  for (std::size_t i = 0; i < before.size(); ++i)
    require(after[i].name == before[i].name &&
                text_of_value(after[i].value) == text_of_value(before[i].value),
            "a parameter that is written is the same: " + text);
}

}  // namespace stoker::fuzz::stage
