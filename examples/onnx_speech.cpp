// Speech found in a sound, a line for each second. The network hears window after window, and takes what it remembers
// along. It is not here: examples/data/README.md says where it is.
//
//     example_onnx_speech silero_vad_16k_op15.onnx talk.wav        16 bits, one channel, 16 kHz
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/model.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/api/tensor.hpp"

using stoker::Tensor;

namespace {

constexpr std::int64_t rate = 16'000;
constexpr std::int64_t window = 512;  // new samples
constexpr std::int64_t context = 64;  // the last samples before them, heard again
constexpr float is_speech = 0.5F;

stoker::Error no_sound(const std::string& why) {
  return {"speech", stoker::ErrorCode::unsupported, why};
}

/// A number of `bytes` bytes, the lowest first.
std::uint32_t number(std::span<const char> at, std::size_t bytes) {
  if (at.size() < bytes) throw no_sound("the file is cut off");
  std::uint32_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8U | static_cast<unsigned char>(at[i]);
  return value;
}

/// Samples from -1 to 1. A WAV file is a list of parts: four letters, a length, content.
/// http://soundfile.sapp.org/doc/WaveFormat/
std::vector<float> read_wav(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  const std::vector<char> bytes{std::istreambuf_iterator<char>{file}, {}};
  std::span<const char> rest{bytes};
  const auto begins = [&](const char* letters) {
    return rest.size() >= 8 && std::memcmp(rest.data(), letters, 4) == 0;
  };
  if (!begins("RIFF") || bytes.size() < 12) throw no_sound("'" + path + "' is no WAV file");
  rest = rest.subspan(12);
  bool is_known = false;
  while (rest.size() >= 8) {
    const std::size_t length = std::min<std::size_t>(number(rest.subspan(4), 4), rest.size() - 8);
    const std::span<const char> content = rest.subspan(8, length);
    if (begins("fmt ")) {
      is_known = number(content, 2) == 1 && number(content.subspan(2), 2) == 1 &&
                 number(content.subspan(4), 4) == rate && number(content.subspan(14), 2) == 16;
      if (!is_known) throw no_sound("expected 16 bits, one channel, 16 kHz");
    } else if (begins("data") && is_known) {
      std::vector<float> samples;
      for (std::size_t i = 0; i + 1 < length; i += 2) {
        const auto sample = static_cast<std::int16_t>(number(content.subspan(i), 2));
        samples.push_back(static_cast<float>(sample) / 32768);
      }
      return samples;
    }
    rest = rest.subspan(std::min(rest.size(), 8 + length + length % 2));
  }
  throw no_sound("'" + path + "' has no samples");
}

void print_second(std::int64_t second, float share) {
  std::cout << std::setw(4) << second << " s  " << std::setw(3) << static_cast<int>(100 * share)
            << " %" << (share >= is_speech ? "  speech\n" : "\n");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: example_onnx_speech MODEL SOUND.wav\n";
    return 2;
  }
  const stoker::System system;
  const stoker::Device device = system.device("cpu");  // windows are small: a GPU would mostly wait
  const stoker::DeviceScope scope{device};
  const stoker::AnyModel model = stoker::load_model(argv[1], {.device = device});
  std::vector<float> samples = read_wav(argv[2]);
  samples.insert(samples.begin(), context, 0.0F);

  const Tensor sr = stoker::as_type(stoker::tensor(rate), stoker::DType::s64);
  Tensor state = stoker::zeros({2, 1, 128});
  std::int64_t second = 0;
  std::int64_t heard = 0;  // windows of this second
  std::int64_t spoken = 0;
  const auto end = static_cast<std::int64_t>(samples.size()) - context - window;
  for (std::int64_t at = 0; at <= end; at += window) {
    if (at / rate > second) {
      print_second(second, static_cast<float>(spoken) / static_cast<float>(heard));
      second = at / rate;
      heard = spoken = 0;
    }
    const std::span<const float> part{samples.data() + at, context + window};
    const stoker::NamedValues out =
        model
            .predict({{"input", stoker::tensor(part, {1, context + window})},
                      {"state", state},
                      {"sr", sr}})
            .get();
    state = out.at("stateN").tensor();  // stays where it is
    ++heard;
    if (out.at("output").tensor().item<float>() >= is_speech) ++spoken;
  }
  if (heard > 0) print_second(second, static_cast<float>(spoken) / static_cast<float>(heard));
} catch (const stoker::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
