// What planning costs by the number of kernels: it should grow with that and not with its square.
#include <algorithm>

#include "stoker/api/stoker.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/bench/harness/groups.hpp"

namespace stoker::bench {
namespace {

/// Each kernel reads the one before.
Pipeline chain(const System& system, int kernels) {
  Pipeline made = system.pipeline("cpu");
  made.input("v0", {DType::f32, {8, 8}});
  for (int i = 0; i < kernels; ++i)
    made.add("transpose", {"v" + std::to_string(i)}, "v" + std::to_string(i + 1));
  made.output("v" + std::to_string(kernels));
  return made;
}

/// One-dimensional pieces of which each is computed, joined.
double seconds_to_join(int pieces, int length) {
  const Tensor x = ones({length});
  std::vector<Tensor> each;
  for (int i = 0; i < pieces; ++i) each.push_back(x * static_cast<float>(i));
  return seconds_of([&] { concatenate(each).computed().get(); });
}

/// All read one value, and all of theirs are alive until they are joined, sixteen by sixteen.
Pipeline wide(const System& system, int kernels) {
  Pipeline made = system.pipeline("cpu");
  made.input("x", {DType::f32, {8, 8}});
  std::vector<std::string> open;
  int stages = 0;
  for (; stages < kernels * 15 / 16; ++stages) {
    open.push_back("v" + std::to_string(stages));
    made.add("transpose", {"x"}, open.back());
  }
  while (open.size() > 1) {
    std::vector<std::string> joined;
    for (std::size_t i = 0; i < open.size(); i += 16) {
      const std::size_t end = std::min(i + 16, open.size());
      std::vector<PipelineValue> pieces(open.begin() + static_cast<std::ptrdiff_t>(i),
                                        open.begin() + static_cast<std::ptrdiff_t>(end));
      joined.push_back("v" + std::to_string(stages++));
      made.add("concatenate", std::move(pieces), joined.back());
    }
    open = std::move(joined);
  }
  made.output(open[0]);
  return made;
}

}  // namespace

void planning(Context& context) {
  const System system;
  const std::pair<const char*, Pipeline (*)(const System&, int)> kinds[] = {
      {"a chain", &chain}, {"side by side", &wide}};
  for (const auto& [name, make] : kinds)
    for (const int kernels : {1000, 10'000}) {
      const Samples each = sample(context.repeats(5), [&] {
        const Pipeline pipeline = make(system, kernels);
        return seconds_of([&] { pipeline.compile(); }) / kernels * 1e6;
      });
      context.report.add(Row{"of " + std::to_string(kernels) + " kernels, " + name + ", each", each,
                             "µs", Better::lower}
                             .remark("Pipeline::compile() on the CPU"));
    }
  const DeviceScope scope{system.device("cpu")};
  int length = 4;  // another one each time: no program is known yet
  for (const int pieces : {1000, 20'000}) {
    const Samples each = sample(context.repeats(5),
                                [&] { return seconds_to_join(pieces, length++) / pieces * 1e6; });
    context.report.add(Row{"concatenate of " + std::to_string(pieces) + " computed tensors, each",
                           each, "µs", Better::lower}
                           .remark("planned and run"));
  }
}

}  // namespace stoker::bench
