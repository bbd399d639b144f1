#include "stoker/tests/onnx/run/random_loops.hpp"

#include <random>

namespace stoker::onnx {
namespace {

class RandomLoopsTest : public OnnxTest {};

TEST_F(RandomLoopsTest, give_what_plain_code_gives) {
  std::mt19937 random{22};
  const auto below = [&](int n) {
    return static_cast<int>(random() % static_cast<std::uint32_t>(n));
  };
  for (int program = 0; program < 60; ++program) {
    const RandomLoops loops{below};
    LoadOptions options = here();
    options.optimize = Optimize::none;  // which keeps what nobody reads
    options.max_plans =
        std::array<std::size_t, 4>{64, 16, 3, 1}[static_cast<std::size_t>(below(4))];
    const Model model = loops.builder().load(options);
    for (int run = 0; run < 6; ++run) {
      const RandomLoops::Values values{{"x", {below(97), below(97)}},
                                       {"y", {below(97), below(97)}}};
      NamedValues inputs;
      for (const auto& [name, pair] : values)
        inputs.emplace(name, tensor(std::span<const std::int64_t>{pair}, Shape{2}));
      const NamedValues came = model.run(inputs).get();
      const RandomLoops::Values expected = loops.computed(values);
      for (const std::string& name : loops.outputs()) {
        const RandomLoops::Pair& pair = expected.at(name);
        EXPECT_EQ(whole(came, name.c_str()), (std::vector<std::int64_t>{pair[0], pair[1]}))
            << "program " << program << " run " << run << " value " << name << " max_plans "
            << options.max_plans;
      }
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace stoker::onnx
