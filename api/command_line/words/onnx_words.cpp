#include "onnx_words.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "stoker/api/command_line/numbers.hpp"
#include "stoker/api/command_line/words/predict_words.hpp"

namespace stoker::command_line {

namespace {

/// --optimize and --without, for what else they need.
std::array<CLI::Option*, 2> add_pass_words(CLI::App& verb, OnnxPassWords& words) {
  add_precision_word(verb, words.precision);
  return {verb.add_option("--optimize", words.optimize,
                          "How far the graph is rewritten when it is loaded")
              ->check(CLI::IsMember({"none", "basic", "all"}))
              ->capture_default_str(),
          verb.add_option("--without", words.without, "A pass that is left out; may be repeated")
              ->allow_extra_args(false)};
}

CLI::Option* add_input_words(CLI::App& verb, InputWords& inputs, const std::string& summary) {
  const auto read = [&inputs](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const auto [name, value] = named("--input", word);
      if (!is_value(value))
        throw CLI::ValidationError{"--input",
                                   "'" + value + "' is no .npy or .pb, nor like zeros:1x3x240x320"};
      if (!inputs.emplace(name, value).second)
        throw CLI::ValidationError{"--input", "'" + name + "' is given twice"};
    }
  };
  return verb.add_option_function<std::vector<std::string>>("--input", read, summary)
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

}  // namespace

void add_precision_word(CLI::App& verb, std::string& precision) {
  verb.add_option("--precision", precision,
                  "In what f32 numbers are stored and computed, where the device gains")
      ->check(CLI::IsMember({"full", "f16", "bf16"}))
      ->capture_default_str();
}

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
      "type are compared. Exit code 0: all pass; 1: one fails;\n2: wrong words; 3: none fails, "
      "but one is not supported, or there is no case.");
  return test;
}

CLI::App* add_onnx_info_words(CLI::App& verb, OnnxInfoWords& words) {
  CLI::App* const info = verb.add_subcommand(
      "info", "Say what a model's file holds, what of it is not supported, and how it would run");
  info->add_option("MODEL", words.model, "The model's file")->required();
  CLI::Option* const plan = info->add_flag(
      "--plan", words.plan,
      "Trace it and run it, on zeros unless --input says other values: programs, kernels, memory, "
      "cuts and what was folded");
  CLI::Option* const batching =
      info->add_flag("--batching", words.batching,
                     "Run it a few times, and say whether the requests of a serving would share "
                     "its runs, or why they would not");
  std::vector<CLI::Option*> of_runs{
      add_named_shapes(*info, "--shape", words.shapes,
                       "The extents of an input for a run, NAME=1x3x240x320; may be repeated"),
      add_input_words(*info, words.inputs,
                      "The value of an input for a run, a .npy or .pb file or zeros:1x3x240x320; "
                      "may be repeated")};
  std::ranges::copy(add_pass_words(*info, words.passes), std::back_inserter(of_runs));
  info->parse_complete_callback([plan, batching, of_runs] {
    if (plan->count() > 0 || batching->count() > 0) return;
    for (const CLI::Option* const option : of_runs)
      if (option->count() > 0) throw CLI::RequiresError(option->get_name(), "--plan or --batching");
  });
  info->add_option("--device", words.device, "Where it runs: cpu, vulkan, vulkan:0, …");
  CLI::Option* const json =
      info->add_flag("--json", words.json, "The same, with what else is asked for, as JSON");
  info->add_flag("--dot", words.dot, "The graph for Graphviz instead: dot -Tsvg")
      ->excludes(json)
      ->excludes(plan)
      ->excludes(batching);
  info->footer(
      "An input without --shape has the extents of the file; symbols take those of inputs that "
      "have one.\n--precision f16 or bf16 also says which nodes stay in f32, and why.\nText of the "
      "file that a terminal would obey, or that is no UTF-8, is shown as "
      "\\xNN. Exit code 0: all nodes\nare supported; 1: the file is damaged or its graph not in "
      "order, or a run fails; 2: wrong words; 3: there is\nno such file, device or input, or "
      "nodes "
      "are not supported, which are listed with the reasons.");
  return info;
}

CLI::App* add_onnx_bench_words(CLI::App& verb, OnnxBenchWords& words) {
  CLI::App* const bench =
      verb.add_subcommand("bench", "Measure how long a model takes, and how many samples a second");
  bench->add_option("MODEL", words.model, "The model's file")->required();
  add_named_shapes(*bench, "--shape", words.shapes,
                   "The extents of an input, NAME=1x3x240x320; may be repeated");
  add_input_words(
      *bench, words.inputs,
      "The value of an input, a .npy or .pb file or zeros:1x3x240x320; may be repeated");
  bench
      ->add_option("--batch", words.batches,
                   "The first extent of all inputs, instead of that of --shape: a row for each")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  add_whole(
      *bench, "--threads", {.least = 1, .most = 4096},
      [&words](std::uint64_t threads) { words.threads = static_cast<unsigned>(threads); },
      "Threads that the CPU computes with; else those of STOKER_THREADS, or one a core");
  bench->add_option("--device", words.device, "Where to compute: cpu, vulkan, vulkan:0, …");
  CLI::Option* const seconds = add_seconds(*bench, "--seconds", 0.001, words.seconds,
                                           "How long each row is measured; 2 if nothing is said");
  add_whole(
      *bench, "--runs", {.least = 1, .most = 1'000'000'000},
      [&words](std::uint64_t runs) { words.runs = runs; }, "Runs of each row, instead")
      ->excludes(seconds);
  bench->add_flag(
      "--profile", words.profile,
      "Each kernel's time on the device with the nodes that it computes, longest first");
  add_pass_words(*bench, words.passes);
  bench->add_flag("--json", words.json, "The same as JSON");
  bench->footer(
      "Runs follow one another, each from the call to the computed outputs, on zeros where no "
      "--input is given, after runs\nthat are not counted. Exit code 0: it was measured; 1: a file "
      "is damaged or a "
      "run fails; 2: wrong words; 3: there\nis no such file, device or input, the first extent of "
      "an "
      "input is fixed and no such --batch, or nodes are not supported.");
  return bench;
}

CLI::App* add_onnx_export_words(CLI::App& verb, OnnxExportWords& words) {
  CLI::App* const exported =
      verb.add_subcommand("export", "Write a model of Stoker's as an ONNX file");
  exported
      ->add_option("MODEL", words.model, "A model that `stoker train` or nn::Model::save() wrote")
      ->required();
  exported->add_option("OUT", words.output, "The file to write, OUT.onnx")->required();
  exported->add_option("--opset", words.opset, "The version of the operators")
      ->check(CLI::Range(13, 21))
      ->capture_default_str();
  exported
      ->add_option_function<std::string>(
          "--batch",
          [&words](const std::string& given) {
            if (given == "symbolic") return words.batch.reset();
            const auto number = CLI::Range(std::int64_t{1}, std::int64_t{1} << 31);
            std::string text = given;
            if (const std::string wrong = number(text); !wrong.empty())
              throw CLI::ValidationError{"--batch",
                                         "expected symbolic or a number, not '" + given + "'"};
            words.batch = std::stoll(given);
          },
          "The batch's size; symbolic, which is the default: any")
      ->type_name("symbolic|N");
  exported->add_option("--device", words.device, "Where constants are computed: cpu, vulkan, …");
  exported->add_flag("--json", words.json, "What was written, as JSON");
  exported->footer(
      "Exit code 0: it was written; 1: a file is damaged or could not be written; 2: wrong words; "
      "3: there is no such\nfile or device, or the model or an operation in it has no ONNX form: "
      "all of these are named.");
  return exported;
}

void describe_onnx(CLI::App& verb) {
  struct Words {
    OnnxTestWords test;
    OnnxInfoWords info;
    OnnxBenchWords bench;
    OnnxExportWords exported;
  };
  const auto words = std::make_shared<Words>();
  verb.require_subcommand(1);
  // The callbacks keep the words for as long as the parser.
  add_onnx_bench_words(verb, words->bench)->callback([words] {});
  add_onnx_export_words(verb, words->exported)->callback([words] {});
  add_onnx_info_words(verb, words->info)->callback([words] {});
  add_onnx_test_words(verb, words->test)->callback([words] {});
}

}  // namespace stoker::command_line
