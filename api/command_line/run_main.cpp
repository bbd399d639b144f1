// The program stoker-run, which `stoker run` becomes where it is there.
#include "program.hpp"

int main(int argc, char** argv) {
  using namespace stoker::command_line;
  return run_program({argv, static_cast<std::size_t>(argc)}, run_verb, add_model_run);
}
