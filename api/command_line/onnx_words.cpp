#include "onnx_words.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace stoker::command_line {

CLI::App* add_onnx_words(CLI::App& verb, OnnxTestWords& words) {
  verb.require_subcommand(1);
  CLI::App* const test = verb.add_subcommand(
      "test", "Run test cases in the layout of ONNX's backend tests and compare the outputs");
  test->add_option("DIR", words.folders,
                   "A case (model.onnx and test_data_set_N with input_K.pb and output_K.pb), or a "
                   "folder of cases")
      ->required();
  test->add_option("--device", words.device, "Where to compute: cpu, vulkan, vulkan:0, …");
  test->add_flag("--json", words.json, "All cases and the totals, as JSON");
  test->add_flag("--table", words.table, "Operators by opset as a table of Markdown");
  test->add_flag("--quiet", words.quiet, "Only cases that do not pass, and the totals");
  test->add_option("--rtol", words.rtol, "How far floats may be off, as a part of what is expected")
      ->check(CLI::Range(0.0, 1.0));
  test->add_option("--atol", words.atol, "How far floats may be off besides")
      ->check(CLI::Range(0.0, 1e9));
  test->footer(
      "A line is a case and pass, fail (the output, the largest difference and where) or "
      "unsupported (why).\nFloats may be off by 0.001 of what is expected and, besides, 1e-5 (f16: "
      "2e-3, bf16: 1e-2, f64: 1e-7; with DFT or STFT\nin the model 4e-4). Of random outputs shape "
      "and "
      "type are compared. Exit code 0: all pass; 1: one fails;\n3: none fails, but one is not "
      "supported, or there is no case.");
  return test;
}

void describe_onnx(CLI::App& verb) {
  const auto words = std::make_shared<OnnxTestWords>();
  add_onnx_words(verb, *words)->callback([words] {});  // keeps the words for as long as the parser
}

}  // namespace stoker::command_line
