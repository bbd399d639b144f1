#include <array>

#include "stoker/kernels/cases.hpp"
#include "stoker/kernels/image/suite.hpp"

namespace stoker::kernels::convert_color {
namespace {

using Colour = std::array<double, 3>;

// By cases and sectors, unlike the kernels: as the sources write them down.

double hue_of(const Colour& rgb, double max, double d) {
  if (d == 0) return 0;
  double sector = 4 + (rgb[0] - rgb[1]) / d;
  if (max == rgb[1]) sector = 2 + (rgb[2] - rgb[0]) / d;
  if (max == rgb[0]) sector = (rgb[1] - rgb[2]) / d;
  return (sector < 0 ? sector + 6 : sector) / 6;
}

/// The colour of a hue with the chroma d, over the least number m.
Colour of_hue(double hue, double d, double m) {
  const double sector = 6 * (hue - std::floor(hue));
  const double x = d * (1 - std::abs(std::fmod(sector, 2) - 1));
  const std::array<Colour, 6> sectors{
      {{d, x, 0}, {x, d, 0}, {0, d, x}, {0, x, d}, {x, 0, d}, {d, 0, x}}};
  Colour colour = sectors[std::min<std::size_t>(static_cast<std::size_t>(sector), 5)];
  for (double& value : colour) value += m;
  return colour;
}

Colour to_rgb(const std::string& from, const Colour& c, double neutral) {
  if (from == "bgr") return {c[2], c[1], c[0]};
  if (from == "hsv") return of_hue(c[0], c[2] * c[1], c[2] - c[2] * c[1]);
  if (from == "hsl") {
    const double d = (1 - std::abs(2 * c[2] - 1)) * c[1];
    return of_hue(c[0], d, c[2] - d / 2);
  }
  if (from != "ycbcr") return c;
  const double red = c[0] + 1.402 * (c[2] - neutral);
  const double blue = c[0] + 1.772 * (c[1] - neutral);
  return {red, (c[0] - 0.299 * red - 0.114 * blue) / 0.587, blue};
}

Colour from_rgb(const std::string& to, const Colour& c, double neutral) {
  if (to == "rgb") return c;
  if (to == "bgr") return {c[2], c[1], c[0]};
  if (to == "ycbcr") {
    const double y = 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2];
    return {y, (c[2] - y) / (2 * (1 - 0.114)) + neutral, (c[0] - y) / (2 * (1 - 0.299)) + neutral};
  }
  const double max = std::max({c[0], c[1], c[2]});
  const double min = std::min({c[0], c[1], c[2]});
  const double hue = hue_of(c, max, max - min);
  if (to == "hsv") return {hue, max == 0 ? 0 : (max - min) / max, max};
  const double range = 1 - std::abs(max + min - 1);
  return {hue, range == 0 ? 0 : (max - min) / range, (max + min) / 2};
}

std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const image::Picture x{image::extent(call.shape()), inputs[0]};
  const bool bytes = call.dtype() == DType::u8;
  const double white = bytes ? 255.0 : 1.0;
  const double neutral = bytes ? 128.0 / 255.0 : 0.5;
  const std::string& from = call.params.text("from");
  const std::string& to = call.params.text("to");
  Colour converted{};
  return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
    if (from == to || c == 3) return x.at(row, column, c);
    if (c == 0) {
      Colour own{};
      for (std::int64_t k = 0; k < 3; ++k)
        own[static_cast<std::size_t>(k)] = x.at(row, column, k) / white;
      converted = from_rgb(to, to_rgb(from, own, neutral), neutral);
    }
    return converted[static_cast<std::size_t>(c)] * white;
  });
}

bool has_hue(const std::string& space) { return space == "hsv" || space == "hsl"; }

/// Hues that come of rounded colours: those of the full circle may become 0 or 1, and colours that are no
/// RGB have large saturations.
bool is_delicate(const std::string& from, const std::string& to) {
  return has_hue(to) && from != "rgb" && from != "bgr" && from != to;
}
Fill middle(DType dtype, const std::string& from) {
  if (dtype == DType::u8) return {.low = 0, .high = 254};
  return from == "ycbcr" ? Fill{.low = 0.4, .high = 0.6} : Fill{.low = 0, .high = 1};
}

/// Where colours come out of another space, their rounding is divided by how far they are from grey.
ErrorBound bound(const KernelCall& call) {
  const std::string& from = call.params.text("from");
  const std::string& to = call.params.text("to");
  if (from == to) return {};
  ErrorBound bound = image::rounding_bound(call);
  if (is_delicate(from, to) && call.dtype() != DType::u8) bound.absolute = 1e-3;
  return bound;
}

}  // namespace

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "convert_color";
  const std::array spaces{"rgb", "bgr", "hsv", "hsl", "ycbcr"};
  for (const char* from : spaces)
    for (const char* to : spaces)
      for (const DType dtype : image::dtypes())
        for (const std::int64_t channels : {3, 4}) {
          image::add_case(
              suite, dtype,
              std::string{from} + " to " + to + ", " + std::to_string(channels) + " channels",
              {{13, 17, channels}}, {{"from", from}, {"to", to}});
          if (is_delicate(from, to)) suite.cases.back().fills = {middle(dtype, from)};
        }
  for (const auto& [name, shape] : image::awkward_images())
    if (shape[2] != 1)
      for (const char* to : {"hsv", "ycbcr"}) {
        image::add_cases(suite, name + ", to " + to, {shape}, {{"to", to}});
        image::add_cases(suite, name + ", from " + to, {shape}, {{"from", to}});
      }
  // Greys, primaries and their mixtures.
  for (const DType dtype : image::dtypes())
    for (const char* to : {"hsv", "hsl", "ycbcr"}) {
      image::add_case(suite, dtype, std::string{"corners to "} + to, {{23, 29, 3}}, {{"to", to}});
      suite.cases.back().fills = {dtype == DType::u8 ? Fill{.low = 0, .high = 1} : Fill{0, 0}};
      image::add_case(suite, dtype, std::string{"corners from "} + to, {{23, 29, 3}},
                      {{"from", to}});
      suite.cases.back().fills = {dtype == DType::u8 ? Fill{.low = 254, .high = 255} : Fill{1, 1}};
    }
  image::add_cases(suite, "photo", {{480, 641, 3}}, {{"to", "hsv"}}, true);
  suite.reference = reference;
  suite.bound = bound;
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::convert_color
