// What the programs of the `stoker` command have in common: they read the command line, answer --help and
// mistakes, and turn failures into exit codes.
//
// `stoker` itself links what scripts need. A verb that needs more is a program of its own, stoker-VERB,
// which `stoker VERB` becomes.
#pragma once

#include <span>

#include "verbs.hpp"

namespace stoker::command_line {

using AddVerb = void (*)(CLI::App&, Choice&);

/// A verb of this program, or one that a neighbour of it is.
struct Verb {
  AddVerb add = nullptr;
  const SeparateVerb* separate = nullptr;
};

/// What main() of `stoker` returns.
[[nodiscard]] int run_program(std::span<char*> arguments, std::span<const Verb> verbs);
/// What main() of stoker-VERB returns; its arguments are those after `stoker VERB`.
[[nodiscard]] int run_program(std::span<char*> arguments, const SeparateVerb& verb, AddVerb add);

}  // namespace stoker::command_line
