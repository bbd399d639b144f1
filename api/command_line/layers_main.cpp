// The program stoker-layers, which `stoker layers` becomes.
#include "program.hpp"

int main(int argc, char** argv) {
  using namespace stoker::command_line;
  return run_program({argv, static_cast<std::size_t>(argc)}, layers_verb, add_layers);
}
