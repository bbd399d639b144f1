// Image kernels and the photo pipeline of examples/scripts/edges.lua on the CPU device, against the
// same steps in OpenCV with two threads, on the photo as it is and scaled to 4K.
#include <filesystem>
#include <functional>
#include <memory>

#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"
#include "stoker/pipeline/image/image_io.hpp"
#include "stoker/tests/checkout/checkout.hpp"

#ifdef STOKER_BENCH_OPENCV
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#endif

namespace stoker::bench {
namespace {

constexpr int blur_radius = 2;

/// What is timed on our side: one submission, or one run of a pipeline.
using Ours = std::function<Command()>;
/// The peer's version, or empty.
using Peer = std::function<void()>;

struct Picture {
  std::string name;
  Buffer colour;  ///< [height, width, 3] u8
  [[nodiscard]] std::int64_t height() const { return colour.shape()[0]; }
  [[nodiscard]] std::int64_t width() const { return colour.shape()[1]; }
};

void compare(Context& context, const std::string& name, const Ours& ours, const Peer& peer,
             std::optional<double> aim = {}) {
  const int calls = calls_to_fill(0.02, [&] { ours().get(); });
  const auto mine = [&] { return seconds_per_command(calls, ours) * 1e3; };
  const auto repeats = context.repeats(20);
  if (!peer) {
    context.report.add(
        Row{name, sample(repeats, mine), "ms", Better::lower}.remark("built without OpenCV"));
    return;
  }
  const Duel turns = duel(repeats, mine, [&] {
    peer();
    return seconds_of([&] {
             for (int i = 0; i < calls; ++i) peer();
           }) *
           1e3 / calls;
  });
  context.report.add(
      Row{name, turns.ours, "ms", Better::lower}.against("OpenCV", turns.peer).aim_ratio(aim));
}

#ifdef STOKER_BENCH_OPENCV
/// The picture as OpenCV has it, in memory of its own.
cv::Mat matrix_of(const Picture& picture) {
  const auto bytes = picture.colour.read<std::uint8_t>().get();
  return cv::Mat(static_cast<int>(picture.height()), static_cast<int>(picture.width()), CV_8UC3,
                 const_cast<std::uint8_t*>(bytes.data()))
      .clone();
}

/// OpenCV's sigma for a kernel of this size, which is Stoker's default, too.
double sigma_of(int radius) { return 0.3 * (radius - 1) + 0.8; }

void blur(const cv::Mat& from, cv::Mat& to, int radius) {
  cv::GaussianBlur(from, to, {2 * radius + 1, 2 * radius + 1}, sigma_of(radius), 0,
                   cv::BORDER_REPLICATE);
}

/// Magnitude of the gradient, as bytes: the faster of two ways that give the same picture.
struct Sobel {
  cv::Mat x, y, x_float, y_float, size;
  bool by_words = true;

  void operator()(const cv::Mat& from, cv::Mat& to) {
    if (by_words) {
      cv::spatialGradient(from, x, y, 3, cv::BORDER_REPLICATE);
      x.convertTo(x_float, CV_32F);
      y.convertTo(y_float, CV_32F);
    } else {
      cv::Sobel(from, x_float, CV_32F, 1, 0, 3, 1, 0, cv::BORDER_REPLICATE);
      cv::Sobel(from, y_float, CV_32F, 0, 1, 3, 1, 0, cv::BORDER_REPLICATE);
    }
    cv::magnitude(x_float, y_float, size);
    size.convertTo(to, CV_8U);
  }

  void choose(const cv::Mat& from, cv::Mat& to) {
    const auto time_of = [&](bool words) {
      by_words = words;
      (*this)(from, to);
      return sample(5, [&] { return seconds_of([&] { (*this)(from, to); }); }).median();
    };
    const double words = time_of(true);
    by_words = words < time_of(false);
  }
};
#endif

/// The peers of one picture's rows, empty without OpenCV.
struct Peers {
  Peer grey, blur_grey, blur_colour, sobel, resize_half, sharpen, edges;
};

Peers peers_of([[maybe_unused]] const Picture& picture) {
#ifdef STOKER_BENCH_OPENCV
  struct State {
    cv::Mat colour, grey, out, soft;
    Sobel sobel;
  };
  const auto state = std::make_shared<State>();
  state->colour = matrix_of(picture);
  cv::cvtColor(state->colour, state->grey, cv::COLOR_RGB2GRAY);
  state->sobel.choose(state->grey, state->out);
  return {
      [state] { cv::cvtColor(state->colour, state->out, cv::COLOR_RGB2GRAY); },
      [state] { blur(state->grey, state->out, blur_radius); },
      [state] { blur(state->colour, state->out, blur_radius); },
      [state] { state->sobel(state->grey, state->out); },
      [state] {
        cv::resize(state->colour, state->out, {state->colour.cols / 2, state->colour.rows / 2}, 0,
                   0, cv::INTER_LINEAR);
      },
      [state] {
        blur(state->colour, state->soft, blur_radius);
        cv::addWeighted(state->colour, 2.0, state->soft, -1.0, 0, state->out);
      },
      [state] {
        cv::cvtColor(state->colour, state->grey, cv::COLOR_RGB2GRAY);
        blur(state->grey, state->soft, blur_radius);
        state->sobel(state->soft, state->out);
      },
  };
#else
  return {};
#endif
}

void rows_of(Context& context, const System& system, const Device& device, const Picture& picture) {
  const std::int64_t h = picture.height();
  const std::int64_t w = picture.width();
  const auto bytes = [&](std::int64_t height, std::int64_t width, std::int64_t channels) {
    return device.buffer(DType::u8, Shape{height, width, channels});
  };
  const Buffer grey = bytes(h, w, 1);
  const Buffer grey_out = bytes(h, w, 1);
  const Buffer colour_out = bytes(h, w, 3);
  const Buffer half = bytes(h / 2, w / 2, 3);
  const Params radius{{"radius", blur_radius}};
  device.submit("grayscale", {picture.colour}, grey).get();

  const Peers peers = peers_of(picture);
  const auto row = [&](const char* what, const char* kernel, const Buffer& from, const Buffer& to,
                       const Params& params, const Peer& peer) {
    compare(
        context, std::string{what} + ", " + picture.name,
        [&device, kernel, from, to, params] { return device.submit(kernel, {from}, to, params); },
        peer);
  };
  row("grayscale", "grayscale", picture.colour, grey, {}, peers.grey);
  row("gaussian_blur r2, grey", "gaussian_blur", grey, grey_out, radius, peers.blur_grey);
  row("gaussian_blur r2, colour", "gaussian_blur", picture.colour, colour_out, radius,
      peers.blur_colour);
  row("sobel, grey", "sobel", grey, grey_out, {}, peers.sobel);
  row("resize to half, bilinear", "resize", picture.colour, half,
      {{"width", w / 2}, {"height", h / 2}}, peers.resize_half);
  row("sharpen r2", "sharpen", picture.colour, colour_out, radius, peers.sharpen);

  Pipeline edges = system.pipeline(device);
  edges.input("photo", picture.colour.spec()).add("grayscale", {"photo"}, "grey");
  edges.add("gaussian_blur", {"grey"}, "soft", radius)
      .add("sobel", {"soft"}, "edges")
      .output("edges");
  const Bindings bindings{{"photo", picture.colour}, {"edges", grey_out}};
  compare(
      context, "photo pipeline, " + picture.name, [edges, bindings] { return edges.run(bindings); },
      peers.edges, 1.0);
}

}  // namespace

void photo(Context& context) {
  // Beside the sources when run from a checkout; in the working folder when carried elsewhere.
  std::filesystem::path file = checkout_folder() / "examples/data/china.jpg";
  if (!std::filesystem::exists(file)) file = "examples/data/china.jpg";
  const Image image = load_image(file).value();
  const System system;
  const Device device = system.device("cpu");
#ifdef STOKER_BENCH_OPENCV
  cv::setNumThreads(2);
#endif
  Picture small{"640×427", device.buffer(image.spec, image.bytes)};
  Picture large{"3840×2160", device.buffer(DType::u8, Shape{2160, 3840, 3})};
  device
      .submit("resize", {small.colour}, large.colour,
              {{"width", 3840}, {"height", 2160}, {"mode", "bicubic"}})
      .get();
  rows_of(context, system, device, small);
  rows_of(context, system, device, large);
}

}  // namespace stoker::bench
