// `stoker run` for scripts that use models.
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/train/script/model_library.hpp"

namespace stoker::command_line {

void add_model_run(CLI::App& app, Choice& choice) {
  add_run(app, choice, []() -> std::shared_ptr<ScriptExtension> {
    return std::make_shared<nn::ModelLibrary>();
  });
}

}  // namespace stoker::command_line
