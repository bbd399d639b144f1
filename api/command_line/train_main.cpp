// The program stoker-train, which `stoker train` becomes.
#include "program.hpp"

int main(int argc, char** argv) {
  using namespace stoker::command_line;
  return run_program({argv, static_cast<std::size_t>(argc)}, train_verb, add_train);
}
