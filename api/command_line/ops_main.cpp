// The program stoker-ops, which `stoker ops` becomes.
#include "program.hpp"

int main(int argc, char** argv) {
  using namespace stoker::command_line;
  return run_program({argv, static_cast<std::size_t>(argc)}, ops_verb, add_ops);
}
