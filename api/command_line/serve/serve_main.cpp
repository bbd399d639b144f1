// The program stoker-serve, which `stoker serve` becomes.
#include "stoker/api/command_line/program.hpp"

int main(int argc, char** argv) {
  using namespace stoker::command_line;
  return run_program({argv, static_cast<std::size_t>(argc)}, serve_verb, add_serve);
}
