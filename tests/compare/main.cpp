// compare FOLDER SEED COUNT [DEVICE]: draws COUNT cases from SEED, computes them on a device and writes
// them to FOLDER, where compare.py computes them once more. `./dev compare` runs both.
#include <charconv>
#include <iostream>

#include "families.hpp"
#include "stoker/api/system.hpp"

namespace stoker::compare {
namespace {

struct Family {
  void (*draw)(Draw&, Record&);
  double share;
};

constexpr Family families[] = {{&elementwise, 30}, {&reductions, 12},    {&orders, 8},
                               {&products, 10},    {&factorizations, 6}, {&complex_functions, 8},
                               {&programs, 10},    {&slopes, 10},        {&training, 5},
                               {&layers, 6},       {&image_layers, 6},   {&recurrent, 4},
                               {&attention, 4},    {&loss_functions, 6}, {&large, 1}};

void run(const std::filesystem::path& folder, std::uint64_t seed, std::uint64_t count,
         const std::string& name) {
  const System system;
  const Device device = system.device(name);
  const DeviceScope scope{device};
  std::filesystem::create_directories(folder);
  Record record{folder};
  double all = 0;
  for (const Family& family : families) all += family.share;
  for (std::uint64_t i = 0; i < count; ++i) {
    // Each case from a seed of its own, so that it can be repeated alone.
    Draw draw{seed * 1'000'003 + i, name == "cpu"};
    double left = draw.real(0, all);
    const Family* chosen = families;
    while (left > chosen->share && chosen + 1 < std::end(families)) left -= (chosen++)->share;
    chosen->draw(draw, record);
  }
  std::cout << count << " cases, " << record.values() << " values on " << device.info().name
            << '\n';
}

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size())
    throw Error{"compare", ErrorCode::invalid_argument, "expected a number, got '" + text + "'"};
  return value;
}

}  // namespace
}  // namespace stoker::compare

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() < 3) {
    std::cerr << "usage: compare FOLDER SEED COUNT [DEVICE]\n";
    return 2;
  }
  try {
    stoker::compare::run(given[0], stoker::compare::number(given[1]),
                         stoker::compare::number(given[2]), given.size() > 3 ? given[3] : "cpu");
  } catch (const std::exception& error) {
    std::cerr << "compare: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
