#include "stoker/kernels/integer_conv/onednn.hpp"

#include <string_view>

#include "stoker/kernels/conv/onednn_making.hpp"
#include "stoker/kernels/conv/onednn_operands.hpp"
#include "stoker/kernels/integer_conv/windows.hpp"
#include "stoker/kernels/integer_matmul/onednn.hpp"
#include "stoker/kernels/matmul/sgemm.hpp"

namespace stoker::kernels::integer_conv::STOKER_ISA {
namespace {

namespace mm = stoker::kernels::matmul::STOKER_ISA;
using conv::STOKER_ISA::Desc;
using conv::STOKER_ISA::Operand;
using Dims = dnnl::memory::dims;
using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

/// What makes u8 of s8, bit for bit, and s8 of u8.
constexpr std::uint8_t flip = 128;

/// Some rows of one image's output, along the first axis that has several.
struct Band {
  Desc x, y;
  dnnl::convolution_forward main;
  std::size_t scratchpad = 0;
};

struct Library {
  Problem problem;
  Canvas canvas{problem};
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  mm::LibraryThreads threads = mm::LibraryThreads::find();
  std::size_t along = 2;  ///< the axis of space that is cut
  std::int64_t rows = 1;  ///< of a band but for the last
  std::int64_t bands = 1;
  Band whole = {}, last = {};
  Operand k = {};
  // Scratch: the canvas of all images, then these, then what each slice has of its own.
  std::size_t flipped_at = 0;  ///< the weights as s8
  std::size_t blocked_at = 0;  ///< the same in the library's order
  std::size_t biases_at = 0;   ///< of each output: x' · (terms · k' - sum of k)
  std::size_t own_at = 0, own_bytes = 0;
  // Of a slice: sums of a band as [pixel, output], sums of channels for each group, the library's own.
  std::size_t channel_sums_at = 0, pixel_sums_at = 0, scratchpad_at = 0;

  bool prepare();
  /// Outputs whose weights lie together.
  [[nodiscard]] std::int64_t outputs_of_unit() const noexcept {
    return problem.kernel_blocked ? kernel_block : 1;
  }
  void prepare_outputs(const CpuArgs& args, std::int64_t unit) const noexcept;
  void prepare_weights(const CpuArgs& args) const;
  void run(const CpuArgs& args, std::uint32_t slice, std::int64_t job) const;

  [[nodiscard]] std::int64_t jobs() const noexcept { return problem.conv.images * bands; }
  [[nodiscard]] int x_zero(const CpuArgs& args) const noexcept {
    return zero_of(problem.x, args) + (problem.x.is_signed ? flip : 0);
  }
  [[nodiscard]] int k_zero(const CpuArgs& args, std::int64_t o) const noexcept {
    return zero_of(problem.k, args, o) - (problem.k.is_signed ? 0 : flip);
  }
  [[nodiscard]] const std::byte* weights(const CpuArgs& args) const noexcept {
    return problem.k.is_signed ? args.in<std::byte>(1) : args.scratch + flipped_at;
  }

 private:
  [[nodiscard]] bool is_exact(std::string_view way) const noexcept;
  bool make(Band& band, std::int64_t height);
  void lay_out();
  void sum_windows(const std::uint8_t* x, std::int64_t height, std::int64_t group,
                   std::byte* own) const noexcept;
  void subtract_zeros(const CpuArgs& args, const std::uint8_t* x, std::int64_t height,
                      std::byte* own, std::uint32_t* sums) const noexcept;
  [[nodiscard]] std::int64_t inner_pixels() const noexcept {
    std::int64_t product = 1;
    for (std::size_t i = along + 1; i < 3; ++i) product *= problem.axis(i).out;
    return product;
  }
  [[nodiscard]] std::int64_t inner_entries() const noexcept {
    std::int64_t product = 1;
    for (std::size_t i = along + 1; i < 3; ++i) product *= canvas.extents()[i];
    return product;
  }
  [[nodiscard]] std::int64_t entries(std::int64_t height) const noexcept {
    const conv::Axis axis = problem.axis(along);
    return ((height - 1) * axis.stride + axis.reach()) * inner_entries();
  }
};

/// Whether a way of the library's is fast, and its sums never rounded: those that store them as they are
/// begin with brg.
bool Library::is_exact(std::string_view way) const noexcept {
  if (way.find("ref") != way.npos) return false;
  // oneDNN 2.6.3 corrupts the heap there.
  if (problem.conv.rank == 3 && way.starts_with("brgconv:avx512_core_amx")) return false;
  return problem.terms() <= integer_matmul::STOKER_ISA::exact_terms || way.starts_with("brg");
}

bool Library::make(Band& band, std::int64_t height) {
  const conv::Problem& p = problem.conv;
  const bool deep = p.rank == 3;
  Dims x{1, problem.channels()}, y{1, problem.outputs()}, w, strides, dilations;
  if (p.groups > 1) w.push_back(p.groups);
  w.insert(w.end(), {p.outputs, p.channels});
  for (std::size_t i = deep ? 0 : 1; i < 3; ++i) {
    const conv::Axis axis = problem.axis(i);
    const std::int64_t out = i == along ? height : axis.out;
    // oneDNN 2.6.3 takes gigabytes of memory to make a primitive for much longer lines.
    constexpr std::int64_t longest = std::int64_t{1} << 20;
    if ((out - 1) * axis.stride + axis.reach() > longest) return false;
    x.push_back((out - 1) * axis.stride + axis.reach());
    y.push_back(out);
    w.push_back(axis.taps);
    strides.push_back(axis.stride);
    dilations.push_back(axis.tap_step - 1);
  }
  Dims dense(w.size());
  std::int64_t step = 1;
  for (std::size_t i = dense.size(); i-- > 0; step *= w[i]) dense[i] = step;
  const Tag last_channels = deep ? Tag::ndhwc : Tag::nhwc;
  band.x = Desc(x, Type::u8, last_channels);
  band.y = Desc(y, Type::s32, last_channels);
  k.own = problem.kernel_blocked ? Desc(w, Type::s8, deep ? Tag::OIdhw4i16o4i : Tag::OIhw4i16o4i)
                                 : Desc(w, Type::s8, dense);
  // Bands of other heights take the weights as the first does.
  const Desc wanted = &band == &whole ? Desc(w, Type::s8, Tag::any) : k.used;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const Dims none(strides.size(), 0);
  dnnl::convolution_forward::primitive_desc found(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, band.x, wanted,
       band.y, strides, dilations, none, none},
      attributes, engine, true);
  if (!found) return false;
  while (!is_exact(found.impl_info_str()))
    if (!found.next_impl()) return false;
  if (&band == &whole) k.settle(engine, found.weights_desc(), false);
  band.scratchpad = found.scratchpad_desc().get_size();
  band.main = dnnl::convolution_forward(found);
  return true;
}

bool Library::prepare() {
  const mm::OneThread one(threads);
  const conv::Problem& p = problem.conv;
  along = p.rank == 0 ? 2 : 3 - p.rank;
  const std::int64_t out = problem.axis(along).out;
  // Enough for all threads, and sums that stay in the second-level cache.
  constexpr double job_work = 1 << 22;
  constexpr std::int64_t job_sums = std::int64_t{1} << 18;
  const double most_jobs = static_cast<double>(slice_count(std::size_t{1} << 30, 1)) / 4;
  const double jobs = std::max(1.0, std::min(p.work() / job_work, most_jobs));
  const auto for_threads = static_cast<std::int64_t>(jobs) / p.images;
  const std::int64_t for_cache = p.pixels() * problem.outputs() / job_sums;
  const std::int64_t wanted = std::clamp<std::int64_t>(std::max(for_threads, for_cache), 1, out);
  rows = (out + wanted - 1) / wanted;
  bands = (out + rows - 1) / rows;
  try {
    if (!make(whole, rows)) return false;
    const std::int64_t rest = out - (bands - 1) * rows;
    if (rest == rows)
      last = whole;
    else if (!make(last, rest))
      return false;
  } catch (const dnnl::error&) {
    return false;  // refused, so it is computed another way
  }
  lay_out();
  return true;
}

void Library::lay_out() {
  const conv::Problem& p = problem.conv;
  const auto bytes = [](std::int64_t n) { return aligned(static_cast<std::size_t>(n)); };
  flipped_at = bytes(p.images * canvas.image_elements());
  blocked_at = flipped_at + (problem.k.is_signed ? 0 : bytes(p.k_elements()));
  biases_at = blocked_at + k.scratch();
  own_at = biases_at + bytes(problem.outputs() * 4);
  const std::int64_t pixels = rows * inner_pixels();
  channel_sums_at = bytes(pixels * problem.outputs() * 4);
  pixel_sums_at =
      channel_sums_at +
      bytes(problem.k.zeros == 0 && problem.k.is_signed ? 0 : p.groups * entries(rows) * 4);
  scratchpad_at = pixel_sums_at + bytes(pixels * 4);
  own_bytes = scratchpad_at + aligned(std::max(whole.scratchpad, last.scratchpad));
}

/// Flips the weights of a unit of outputs, and says what is added to their sums.
void Library::prepare_outputs(const CpuArgs& args, std::int64_t unit) const noexcept {
  const std::int64_t terms = problem.terms(), count = outputs_of_unit();
  const auto* const from = args.in<std::uint8_t>(1) + unit * count * terms;
  const std::uint8_t flips = problem.k.is_signed ? 0 : flip;
  if (!problem.k.is_signed) {
    auto* const to =
        reinterpret_cast<std::uint8_t*>(args.scratch + flipped_at) + unit * count * terms;
    for (std::int64_t t = 0; t < count * terms; ++t) to[t] = from[t] ^ flip;
  }
  // All of this wraps, as the sums do.
  const auto x_less = static_cast<std::uint32_t>(x_zero(args));
  std::uint32_t sums[kernel_block] = {};
  if (x_less != 0 && problem.kernel_blocked)
    sum_fours(from, terms / kernel_fours, flips, sums);
  else if (x_less != 0)
    for (std::int64_t t = 0; t < terms; ++t)
      sums[0] += static_cast<std::uint32_t>(static_cast<std::int8_t>(from[t] ^ flips));
  for (std::int64_t i = 0, o = unit * count; i < count; ++i, ++o)
    reinterpret_cast<std::uint32_t*>(args.scratch + biases_at)[o] =
        x_less *
        (static_cast<std::uint32_t>(terms) * static_cast<std::uint32_t>(k_zero(args, o)) - sums[i]);
}

void Library::prepare_weights(const CpuArgs& args) const {
  const ExitDelay in_library;
  if (in_library.too_late()) throw process_exits("integer_conv");
  const mm::OneThread one(threads);
  dnnl::stream stream{engine};
  k.move->execute(
      stream, {{DNNL_ARG_FROM, dnnl::memory(k.own, engine, const_cast<std::byte*>(weights(args)))},
               {DNNL_ARG_TO, dnnl::memory(k.used, engine, args.scratch + blocked_at)}});
  stream.wait();
}

/// Of each pixel of a band and one group of channels, the sum of its window of `x`, the band's canvas.
void Library::sum_windows(const std::uint8_t* x, std::int64_t height, std::int64_t group,
                          std::byte* own) const noexcept {
  const conv::Problem& p = problem.conv;
  auto* const channel_sums = reinterpret_cast<std::uint32_t*>(own + channel_sums_at);
  auto* const of_pixel = reinterpret_cast<std::uint32_t*>(own + pixel_sums_at);
  const std::int64_t count = entries(height), pixels = height * inner_pixels();
  const conv::Axis d = problem.axis(0), h = problem.axis(1), w = problem.axis(2);
  const auto& extents = canvas.extents();
  for (std::int64_t at = 0; at < count; ++at) {
    const std::uint8_t* const from = x + at * problem.channels() + group * p.channels;
    std::uint32_t sum = 0;
    for (std::int64_t c = 0; c < p.channels; ++c) sum += from[c];
    channel_sums[at] = sum;
  }
  for (std::int64_t i = 0; i < pixels; ++i) {
    const std::int64_t z = i / (h.out * w.out), y = i / w.out % h.out;
    const std::uint32_t* const corner = channel_sums +
                                        (z * d.stride * extents[1] + y * h.stride) * extents[2] +
                                        i % w.out * w.stride;
    std::uint32_t sum = 0;
    for (std::int64_t a = 0; a < d.taps; ++a)
      for (std::int64_t b = 0; b < h.taps; ++b)
        for (std::int64_t c = 0; c < w.taps; ++c)
          sum +=
              corner[(a * d.tap_step * extents[1] + b * h.tap_step) * extents[2] + c * w.tap_step];
    of_pixel[i] = sum;
  }
}

/// Where k has zero points, subtracts them times the sums of windows.
void Library::subtract_zeros(const CpuArgs& args, const std::uint8_t* x, std::int64_t height,
                             std::byte* own, std::uint32_t* sums) const noexcept {
  const conv::Problem& p = problem.conv;
  bool has_zeros = false;
  for (std::int64_t i = 0; i < std::max<std::int64_t>(problem.k.zeros, 1); ++i)
    has_zeros = has_zeros || k_zero(args, i) != 0;
  if (!has_zeros) return;
  const auto* const of_pixel = reinterpret_cast<const std::uint32_t*>(own + pixel_sums_at);
  const std::int64_t outputs = problem.outputs(), pixels = height * inner_pixels();
  for (std::int64_t group = 0; group < p.groups; ++group) {
    sum_windows(x, height, group, own);
    for (std::int64_t i = 0; i < pixels; ++i)
      for (std::int64_t o = group * p.outputs; o < (group + 1) * p.outputs; ++o)
        sums[i * outputs + o] -= static_cast<std::uint32_t>(k_zero(args, o)) * of_pixel[i];
  }
}

/// to[o · to_step + i] = from[i · count + o] + biases[o] for i < pixels, o < count; `from` is changed.
void store_transposed(std::uint32_t* from, std::int64_t pixels, std::int64_t count,
                      const std::uint32_t* biases, std::uint32_t* to,
                      std::int64_t to_step) noexcept {
  // A cache line of each output at a time.
  constexpr std::int64_t tile = 16;
  const std::int64_t whole_count = count / 8 * 8;
  for (std::int64_t i0 = 0; i0 < pixels; i0 += tile, from += tile * count, to += tile) {
    const std::int64_t wide = std::min(tile, pixels - i0), whole = wide / 8 * 8;
    for (std::int64_t i = 0; i < wide; ++i)
      for (std::int64_t o = 0; o < count; ++o) from[i * count + o] += biases[o];
    for (std::int64_t o = 0; o < whole_count; o += 8)
      for (std::int64_t i = 0; i < whole; i += 8)
        mm::transpose_8x8(reinterpret_cast<const float*>(from + i * count + o), count,
                          reinterpret_cast<float*>(to + o * to_step + i), to_step);
    for (std::int64_t o = 0; o < count; ++o)
      for (std::int64_t i = o < whole_count ? whole : 0; i < wide; ++i)
        to[o * to_step + i] = from[i * count + o];
  }
}

void Library::run(const CpuArgs& args, std::uint32_t slice, std::int64_t job) const {
  const std::int64_t image = job / bands, band = job % bands;
  const bool is_last = band == bands - 1;
  const Band& of = is_last ? last : whole;
  const std::int64_t height = is_last ? problem.axis(along).out - band * rows : rows;
  std::byte* const own = args.scratch + own_at + slice * own_bytes;
  auto* const sums = reinterpret_cast<std::uint32_t*>(own);
  const auto* const x =
      reinterpret_cast<const std::uint8_t*>(args.scratch) + image * canvas.image_elements() +
      band * rows * problem.axis(along).stride * inner_entries() * problem.channels();
  const void* const kernel = k.move ? args.scratch + blocked_at : weights(args);
  {
    const ExitDelay in_library;
    if (in_library.too_late()) throw process_exits("integer_conv");
    try {
      dnnl::stream stream{engine};
      const Desc pad({static_cast<std::int64_t>(of.scratchpad)}, Type::u8, Tag::x);
      of.main.execute(stream,
                      {{DNNL_ARG_SRC, dnnl::memory(of.x, engine, const_cast<std::uint8_t*>(x))},
                       {DNNL_ARG_WEIGHTS, dnnl::memory(k.used, engine, const_cast<void*>(kernel))},
                       {DNNL_ARG_DST, dnnl::memory(of.y, engine, sums)},
                       {DNNL_ARG_SCRATCHPAD, dnnl::memory(pad, engine, own + scratchpad_at)}});
      stream.wait();
    } catch (const dnnl::error& error) {
      throw matmul::onednn_error("integer_conv", "oneDNN refused the convolution", error.status);
    }
  }
  subtract_zeros(args, x, height, own, sums);
  store_transposed(
      sums, height * inner_pixels(), problem.outputs(),
      reinterpret_cast<const std::uint32_t*>(args.scratch + biases_at),
      args.out<std::uint32_t>() + image * problem.conv.y_image + band * rows * inner_pixels(),
      problem.conv.pixels());
}

}  // namespace

std::optional<CpuPlan> onednn_plan(const Problem& problem) {
  const std::shared_ptr<const Library> library =
      conv::STOKER_ISA::prepared_by_onednn<Library>(problem);
  if (!library) return std::nullopt;
  CpuPlan plan;
  const std::int64_t pieces = problem.conv.images * library->canvas.pieces_of_image();
  const auto units =
      static_cast<std::size_t>(pieces + problem.outputs() / library->outputs_of_unit());
  const auto copies = static_cast<std::uint32_t>(
      std::min<std::size_t>(units, slice_count(library->biases_at, std::size_t{64} << 10)));
  plan.stages.push_back({copies, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(units, copies, index, 1);
                           const auto padding = static_cast<std::uint8_t>(library->x_zero(args));
                           const std::uint8_t flips = library->problem.x.is_signed ? flip : 0;
                           for (auto i = static_cast<std::int64_t>(range.begin);
                                i < static_cast<std::int64_t>(range.end); ++i)
                             if (i < pieces)
                               library->canvas.copy(args.in<std::uint8_t>(0), i, flips, padding,
                                                    reinterpret_cast<std::uint8_t*>(args.scratch));
                             else
                               library->prepare_outputs(args, i - pieces);
                         }});
  if (library->k.move)
    plan.stages.push_back(
        {1, [=](const CpuArgs& args, std::uint32_t) { library->prepare_weights(args); }});
  const auto slices = static_cast<std::uint32_t>(std::min<std::int64_t>(
      library->jobs(),
      slice_count(static_cast<std::size_t>(problem.conv.work()), std::size_t{1} << 21)));
  plan.scratch_bytes = library->own_at + library->own_bytes * slices;
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const mm::OneThread one(library->threads);
                           const SliceRange range = slice_range(
                               static_cast<std::size_t>(library->jobs()), slices, index, 1);
                           for (std::size_t job = range.begin; job < range.end; ++job)
                             library->run(args, index, static_cast<std::int64_t>(job));
                         }});
  return plan;
}

}  // namespace stoker::kernels::integer_conv::STOKER_ISA
