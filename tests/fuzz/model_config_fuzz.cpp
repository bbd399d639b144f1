// Configurations of served models, in both forms: the first byte says which, the rest is the text.
#include "fuzz.hpp"
#include "stoker/api/serve/repository/model_config.hpp"

namespace stoker::fuzz::model_config {

void run(Bytes bytes) {
  if (bytes.empty()) return;
  const auto form = (bytes.front() & std::byte{1}) == std::byte{0} ? serve::ConfigForm::text
                                                                   : serve::ConfigForm::json;
  const Bytes rest = bytes.subspan(1);
  const std::string_view text{reinterpret_cast<const char*>(rest.data()), rest.size()};
  const auto config =
      accepted([&] { return serve::read_model_config(serve::read_config(text, form), "m", {}); });
  if (!config) return;
  require(config->serving.batch_size >= 1 && config->serving.workers >= 1,
          "a configuration that is accepted has options in their range");
  require(config->max_batch_size == 0 || config->serving.batch_size == config->max_batch_size,
          "the most rows of a batch are those of the configuration");
}

}  // namespace stoker::fuzz::model_config
