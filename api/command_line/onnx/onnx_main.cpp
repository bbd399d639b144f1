// The program stoker-onnx, which `stoker onnx` becomes.
#include "stoker/api/command_line/program.hpp"

int main(int argc, char** argv) {
  using namespace stoker::command_line;
  return run_program({argv, static_cast<std::size_t>(argc)}, onnx_verb, add_onnx);
}
