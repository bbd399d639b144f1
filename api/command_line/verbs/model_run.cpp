// `stoker run` with models and the functions of tensors.
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/model/script/model_table.hpp"

namespace stoker::command_line {

void add_model_run(CLI::App& app, Choice& choice) {
  add_run(app, choice,
          []() -> std::shared_ptr<ScriptExtension> { return std::make_shared<ModelTable>(); });
}

}  // namespace stoker::command_line
