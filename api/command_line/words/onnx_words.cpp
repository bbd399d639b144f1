#include "onnx_words.hpp"

#include <array>
#include <memory>

namespace stoker::command_line {

namespace {

/// The options, for what else they need.
std::array<CLI::Option*, 2> add_pass_words(CLI::App& verb, OnnxPassWords& words) {
  return {verb.add_option("--optimize", words.optimize,
                          "How far the graph is rewritten when it is loaded")
              ->check(CLI::IsMember({"none", "basic", "all"}))
              ->capture_default_str(),
          verb.add_option("--without", words.without,
                          "A pass that does not rewrite it; may be repeated")
              ->allow_extra_args(false)};
}

}  // namespace

CLI::App* add_onnx_test_words(CLI::App& verb, OnnxTestWords& words) {
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
  add_pass_words(*test, words.passes);
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

CLI::App* add_onnx_info_words(CLI::App& verb, OnnxInfoWords& words) {
  CLI::App* const info = verb.add_subcommand(
      "info", "Say what a model's file holds, what of it is not supported, and how it would run");
  info->add_option("MODEL", words.model, "The model's file")->required();
  CLI::Option* const plan = info->add_flag(
      "--plan", words.plan,
      "Trace it and run it on zeros: programs, kernels, memory, cuts and what was folded");
  add_named_shapes(*info, "--shape", words.shapes,
                   "The extents of an input for --plan, NAME=1x3x240x320; may be repeated")
      ->needs(plan);
  info->add_option("--device", words.device, "Where --plan runs: cpu, vulkan, vulkan:0, …");
  for (CLI::Option* const option : add_pass_words(*info, words.passes)) option->needs(plan);
  CLI::Option* const json =
      info->add_flag("--json", words.json, "The same, with the plan if it is asked for, as JSON");
  info->add_flag("--dot", words.dot, "The graph for Graphviz instead: dot -Tsvg")
      ->excludes(json)
      ->excludes(plan);
  info->footer(
      "An input without --shape has the extents of the file; symbols take those of inputs that "
      "have one.\nText of the file that a terminal would obey, or that is no UTF-8, is shown as "
      "\\xNN. Exit code 0: all nodes\nare supported; 1: the file is damaged or its graph not in "
      "order, or the plan fails; 3: there is no such file,\ndevice or input, or nodes are not "
      "supported, which are listed with the reasons.");
  return info;
}

void describe_onnx(CLI::App& verb) {
  struct Words {
    OnnxTestWords test;
    OnnxInfoWords info;
  };
  const auto words = std::make_shared<Words>();
  verb.require_subcommand(1);
  // The callbacks keep the words for as long as the parser.
  add_onnx_info_words(verb, words->info)->callback([words] {});
  add_onnx_test_words(verb, words->test)->callback([words] {});
}

}  // namespace stoker::command_line
