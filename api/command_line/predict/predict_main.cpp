// The program stoker-predict, which `stoker predict` becomes.
#include "stoker/api/command_line/program.hpp"

int main(int argc, char** argv) {
  using namespace stoker::command_line;
  return run_program({argv, static_cast<std::size_t>(argc)}, predict_verb, add_predict);
}
