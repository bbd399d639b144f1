#include "record.hpp"

namespace stoker::compare {

Record::Record(const std::filesystem::path& folder)
    : cases_{folder / "cases.jsonl"}, data_{folder / "data.bin", std::ios::binary} {
  if (!cases_ || !data_)
    throw Error{"compare", ErrorCode::invalid_argument, "cannot write into " + folder.string()};
}

Json Record::written(const Tensor& tensor) {
  const std::vector<std::byte> bytes = tensor.to_bytes();
  data_.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  Json made{{"dtype", std::string{to_string(tensor.dtype())}},
            {"shape", std::vector<std::int64_t>(tensor.shape().begin(), tensor.shape().end())},
            {"at", at_},
            {"bytes", bytes.size()}};
  at_ += bytes.size();
  return made;
}

void Record::add(std::string_view op, Json attributes, const Tensors& inputs,
                 const Function& function, Way way) {
  static constexpr const char* names[] = {"together", "apart", "traced"};
  Json one{{"number", number_++},
           {"op", std::string{op}},
           {"attributes", std::move(attributes)},
           {"way", names[static_cast<std::size_t>(way)]},
           {"in", Json::array()},
           {"out", Json::array()}};
  for (const Tensor& input : inputs) one["in"].push_back(written(input));
  try {
    const Tensors results = way == Way::traced ? jit(function)(inputs) : function(inputs);
    for (const Tensor& result : results) {
      one["out"].push_back(written(result));
      values_ += static_cast<std::size_t>(result.size());
    }
  } catch (const Error& error) {
    one["refused"] = error.what();
    one["code"] = std::string{to_string(error.code())};
  }
  cases_ << one.dump() << '\n';
}

}  // namespace stoker::compare
