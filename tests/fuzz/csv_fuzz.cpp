// Tables of text. The first bytes choose the options, the rest is the file; plain or packed by gzip.
#include "fuzz.hpp"
#include "stoker/api/data/csv.hpp"
#include "stoker/api/data/loader.hpp"

namespace stoker::fuzz::csv {
namespace {

nn::CsvOptions options_of(Decisions& decide) {
  nn::CsvOptions options;
  const std::uint8_t flags = decide.byte();
  options.header = (flags & 1U) != 0;
  options.missing = (flags & 2U) != 0 ? nn::MissingValue::nan : nn::MissingValue::refused;
  options.finite = (flags & 4U) != 0;
  options.scalar_targets = (flags & 8U) != 0;
  if ((flags & 16U) != 0) options.targets.emplace_back(static_cast<int>(decide.in(-3, 3)));
  if ((flags & 32U) != 0) options.inputs.emplace_back("a");
  if ((flags & 64U) != 0) options.skip_lines = decide.in(-1, 3);
  if ((flags & 128U) != 0) {
    options.delimiter = static_cast<char>(decide.byte());
    options.input_dtype = static_cast<DType>(decide.below(stored_dtype_count));
    options.target_dtype = static_cast<DType>(decide.below(stored_dtype_count));
  }
  return options;
}

}  // namespace

void run(Bytes bytes) {
  const DeviceScope scope{device()};
  Decisions decide{bytes};
  const nn::CsvOptions options = options_of(decide);
  const MemoryFile file{decide.rest()};
  const auto table = accepted([&] { return nn::load_csv(file.path(), options); });
  if (!table) return;
  require(table->data.size() > 0, "a table has rows");
  const auto all = accepted([&] { return nn::whole_batch(table->data); });
  if (!all) return;
  require(all->inputs[0].shape()[1] == static_cast<std::int64_t>(table->input_names.size()),
          "each column has a name");
  require(all->inputs[0].dtype() == options.input_dtype,
          "the table has the dtype that was asked for");
}

}  // namespace stoker::fuzz::csv
