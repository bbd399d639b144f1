// The `stoker` command.
#include <array>

#include "program.hpp"

int main(int argc, char** argv) {
  using namespace stoker::command_line;
  // In the order of `stoker --help`.
  constexpr std::array verbs{Verb{add_devices},
                             Verb{add_doctor},
                             Verb{add_kernels},
                             Verb{nullptr, &ops_verb},
                             Verb{nullptr, &layers_verb},
                             Verb{add_run},
                             Verb{nullptr, &train_verb},
                             Verb{nullptr, &predict_verb},
                             Verb{nullptr, &serve_verb},
                             Verb{nullptr, &onnx_verb},
                             Verb{add_observe},
                             Verb{add_bench},
                             Verb{add_manual}};
  return run_program({argv, static_cast<std::size_t>(argc)}, verbs);
}
