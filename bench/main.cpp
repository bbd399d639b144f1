// stoker_bench [GROUP…] [--json | --markdown] [--quick] [--device NAME] [--list]
//
// Measures, never judges: it ends with 0 unless a benchmark could not run at all. The table goes to
// standard output; with --json or --markdown it goes to standard error and the data to standard
// output. `stoker_bench --peer` is what a benchmark starts as a process of its own for a library
// whose threads would disturb ours (bench/kernels/onednn_peer.hpp), `stoker_bench --actors …` what it starts
// for one row of an actor runtime (bench/actors/actor_programs.hpp), `stoker_bench --onnx …` what the group `onnx`
// starts (bench/onnx/onnx_programs.hpp), `stoker_bench --exit-busy SEED` what the soak starts
// (bench/soak/soak_children.hpp).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/bench/actors/actor_programs.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/table.hpp"
#include "stoker/bench/kernels/onednn_peer.hpp"
#include "stoker/bench/onnx/onnx_programs.hpp"
#include "stoker/bench/soak/soak_children.hpp"

namespace stoker::bench {
namespace {

struct Group {
  std::string_view name;
  std::string_view what;
  void (*run)(Context&);
};

constexpr Group groups[] = {
    {"machine", "cores, memory and FMA peak: what the rest is measured on", machine},
    {"overhead", "our own cost per command, on the null device", overhead},
    {"actors", "actors against Asio strands, CAF and BEAM", actors},
    {"vulkan_latency", "submit to complete, against a raw Vulkan program", vulkan_latency},
    {"cpu_matmul", "matrix products, against oneDNN", cpu_matmul},
    {"cpu_conv", "convolutions, against oneDNN", cpu_conv},
    {"cpu_integers", "products and convolutions of 8-bit integers, against oneDNN", cpu_integers},
    {"cpu_memory", "memory-bound kernels, against a triad", cpu_memory},
    {"planning", "planning pipelines of a thousand kernels and of ten thousand", planning},
    {"photo", "image kernels and the photo pipeline, against OpenCV", photo},
    {"tensors", "tensors on the CPU, against LibTorch and a triad", tensors},
    {"tensors_first_call", "the first call of a fused kernel, and the second start",
     tensors_first_call},
    {"epilogues", "products with what follows them, in one kernel and in two", epilogues},
    {"training", "steps of training, against LibTorch", training},
    {"predictions", "predictions of models, traced once and built anew, against LibTorch",
     predictions},
    {"onnx", "ONNX models from the call to the result, against ONNX Runtime", onnx},
    {"serving", "batches for many callers, against batches offline and direct runs", serving},
    {"gpu_kernels", "kernels on a GPU, against its memory and arithmetic", gpu_kernels},
    {"gpu_tensors", "tensors on a GPU, against copies", gpu_tensors},
    {"server", "an event loop that shares its thread with Stoker", server},
    {"memory", "what ten thousand runs leave behind", memory},
    {"memory_onnx", "what a million runs of an ONNX model and ten thousand loads leave behind",
     memory_onnx},
    {"soak", "a minute of crashes, lost devices, killed scripts, forks and exits", soak},
};

struct Choice {
  std::vector<std::string> names;
  bool json = false;
  bool markdown = false;
  bool quick = false;
  bool list = false;
  std::string device;
};

/// `name` itself, or all groups whose names start with it ("cpu": cpu_matmul, cpu_conv, …).
bool chosen(const Choice& choice, std::string_view group) {
  return choice.names.empty() || std::ranges::any_of(choice.names, [&](const std::string& name) {
           return group == name || group.starts_with(name + "_");
         });
}

int run(const Choice& choice) {
  if (choice.list) {
    for (const Group& group : groups)
      std::printf("%-16s %s\n", std::string{group.name}.c_str(), std::string{group.what}.c_str());
    return 0;
  }
  for (const std::string& name : choice.names)
    if (std::ranges::none_of(groups, [&](const Group& group) {
          return group.name == name || group.name.starts_with(name + "_");
        })) {
      std::fprintf(stderr, "stoker_bench: there is no group '%s'; see --list\n", name.c_str());
      return 2;
    }
  Table table{choice.json || choice.markdown ? stderr : stdout};
  Report report{[&](const Row& row) { table.show(row); }};
  Context context{report, choice.quick, choice.device};
  int status = 0;
  for (const Group& group : groups) {
    // The machine is part of every result.
    if (group.run != machine && !chosen(choice, group.name)) continue;
    report.begin(group.name);
    try {
      group.run(context);
    } catch (const std::exception& error) {
      report.skip("the rest of this group", error.what());
      status = 1;
    }
  }
  if (choice.json) std::printf("%s\n", to_json(report.rows()).c_str());
  if (choice.markdown) std::printf("%s", to_markdown(report.rows()).c_str());
  return status;
}

}  // namespace
}  // namespace stoker::bench

int main(int argc, char** argv) try {
  if (argc > 1 && std::string_view{argv[1]} == "--peer") return stoker::bench::serve_onednn_peer();
  if (argc > 1 && std::string_view{argv[1]} == "--actors")
    return stoker::bench::serve_actor_program({argv + 2, argv + argc});
  if (argc > 1 && std::string_view{argv[1]} == "--onnx")
    return stoker::bench::serve_onnx_program({argv + 2, argv + argc});
  if (argc == 3 && std::string_view{argv[1]} == "--exit-busy")
    return stoker::bench::exit_busy(static_cast<unsigned>(std::atoi(argv[2])));
  stoker::bench::Choice choice;
  CLI::App app{"Stoker's benchmarks"};
  app.add_option("GROUP", choice.names, "groups to run; all if none is named");
  app.add_flag("--json", choice.json, "print the rows as JSON");
  app.add_flag("--markdown", choice.markdown, "print the rows as Markdown tables");
  app.add_flag("--quick", choice.quick, "a tenth of the repeats");
  app.add_flag("--list", choice.list, "list the groups");
  app.add_option("--device", choice.device, "the GPU to measure, \"vulkan:0\"");
  CLI11_PARSE(app, argc, argv);
  return stoker::bench::run(choice);
} catch (const std::exception& error) {
  std::fprintf(stderr, "stoker_bench: %s\n", error.what());
  return 1;
}
