// On the CPU, images of chains of convolutions have their channels last, and constant weights lie in blocks. What plans
// come to says where, so the graph stays as it is.
#include "stoker/api/onnx/optimize/pass.hpp"

namespace stoker::onnx::passes::layouts {

void define(PassTable& table) {
  table.add({.name = "layouts",
             .summary = "on the CPU, convolutions have channels last and constant weights in "
                        "blocks where that takes less time",
             .level = Optimize::all,
             .stage = PassStage::plans,
             .choose = [](PlanChoices& choices) { choices.layouts = true; }});
}

}  // namespace stoker::onnx::passes::layouts
