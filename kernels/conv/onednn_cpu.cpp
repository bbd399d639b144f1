#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "stoker/kernels/conv/onednn.hpp"
#include "stoker/kernels/conv/onednn_convolution.hpp"
#include "stoker/kernels/conv/onednn_making.hpp"

namespace stoker::kernels::conv::STOKER_ISA {
namespace {

using Dims = dnnl::memory::dims;
constexpr auto f32 = dnnl::memory::data_type::f32;

}  // namespace

bool OnednnConvolution::choose_way() {
  if (p.rank > 3 || p.taps() == 0 || p.channels == 0) return false;
  std::int64_t taps = 1, out = 1;
  bool spread = false, strided = false;
  for (std::size_t i = 0; i < p.rank; ++i) {
    taps *= p.axes[i].taps;
    out *= p.axes[i].out;
    spread = spread || p.axes[i].spread > 1;
    strided = strided || p.axes[i].stride > 1;
    if (p.axes[i].in == 0) return false;
  }
  if (spread && (strided || p.batch_groups)) return false;
  const bool long_kernel = taps > 2 * out;
  const bool grouped = p.groups > 1 && !p.batch_groups;
  way = spread                                                      ? Way::data
        : p.batch_groups || (long_kernel && !p.flipped && !grouped) ? Way::weights
                                                                    : Way::forward;
  if (way == Way::weights && p.flipped) return false;
  if (way != Way::forward && p.kernel_block != 0) return false;
  if (p.rank == 0) {  // one axis of one entry
    p.rank = 1;
    p.axes[0].x_step = p.axes[0].k_step = p.axes[0].y_step = 1;
  }
  for (std::size_t i = 0; i < p.rank; ++i) {
    Axis& a = p.axes[i];
    if (way == Way::data) {
      // How far the kernel hangs over at the end is for the library to take or leave.
      if (a.reach() - 1 < a.low) return false;
      continue;
    }
    if (a.low < 0) {
      x_first -= a.low * a.x_step;
      a.in += a.low;
      a.low = 0;
    }
    // What no window meets is left out, but for less than a stride, which the library passes over itself.
    const std::int64_t met = (a.out - 1) * a.stride + a.reach() - a.low;
    if (way == Way::weights || a.in >= met + a.stride) a.in = std::min(a.in, met);
    if (a.in <= 0 || a.low >= a.reach()) return false;
  }
  return true;
}

void OnednnConvolution::choose_jobs() {
  constexpr double job_work = 1 << 19;
  if (way == Way::weights) {
    constexpr double sums_work = 1 << 21;  // the sums of all jobs are added up at the end
    const auto bytes = static_cast<double>(p.groups * p.outputs * p.images * p.pixels() * 4);
    chunks = divisor_to(p.channels, std::min({8.0, p.work() / sums_work, (64 << 20) / bytes}));
    chunk = p.channels / chunks;
    return;
  }
  chunk = band ? 1 : divisor_from(p.images, job_work / (p.work() / static_cast<double>(p.images)));
  chunks = p.images / chunk;
  if (p.groups > 1 || chunks >= 8 || band) return;
  for (const std::int64_t n : {8, 4, 2})
    if (p.outputs % (16 * n) == 0 && p.work() / static_cast<double>(n * chunks) >= 1 << 22) {
      parts = n;
      break;
    }
}

bool OnednnConvolution::make(const Wanted& wanted) {
  Dims x_dims, x_steps, y_dims, y_steps, k_dims, k_steps, strides, dilations, low, high;
  if (p.groups > 1) k_dims.push_back(p.groups);
  const std::int64_t outputs = p.outputs / parts;
  weights = {};
  if (way == Way::weights) {
    x_dims = {chunk, p.groups * p.images};
    x_steps = {p.x_channel, p.x_image};
    y_dims = {chunk, p.groups * p.outputs};  // the gradient of the forward output: our kernel
    y_steps = {p.k_channel, p.k_output};
    k_dims.insert(k_dims.end(), {p.outputs, p.images});
    weights.extents = {p.groups, p.outputs, p.images, 1, 1, 1};
    weights.steps = {p.y_group, p.y_output, p.y_image};
  } else {
    x_dims = {chunk, p.groups * p.channels};
    x_steps = {p.x_image, p.x_channel};
    y_dims = {chunk, p.groups * outputs};
    y_steps = {p.y_image, p.y_output};
    const bool back = way == Way::data;
    k_dims.insert(k_dims.end(), {back ? p.channels : outputs, back ? outputs : p.channels});
    // Parts are whole blocks of outputs, so they are the outermost axis where there is no group.
    weights.extents = {parts > 1 ? parts : p.groups,
                       back ? p.channels : outputs,
                       back ? outputs : p.channels,
                       1,
                       1,
                       1};
    weights.steps = {parts > 1 ? outputs * p.k_output : p.k_group, back ? p.k_channel : p.k_output,
                     back ? p.k_output : p.k_channel};
    weights.first = p.k_first;
  }
  for (std::size_t i = 0; i < p.rank; ++i) {
    const Axis& a = p.axes[i];
    const std::size_t at = 6 - p.rank + i;
    x_dims.push_back(a.in);
    x_steps.push_back(a.x_step);
    if (way == Way::weights) {
      y_dims.push_back(a.taps);
      y_steps.push_back(a.k_step);
      k_dims.push_back(a.out);
      strides.push_back(a.tap_step);
      dilations.push_back(a.stride - 1);
      low.push_back(a.low);
      high.push_back((a.taps - 1) * a.tap_step + (a.out - 1) * a.stride + 1 - a.in - a.low);
      weights.extents[at] = a.out;
      weights.steps[at] = a.y_step;
      continue;
    }
    y_dims.push_back(a.out);
    y_steps.push_back(a.y_step);
    k_dims.push_back(a.taps);
    dilations.push_back(a.tap_step - 1);
    weights.extents[at] = a.taps;
    weights.steps[at] = a.k_step;
    if (way == Way::forward) {
      strides.push_back(a.stride);
      low.push_back(a.low);
      high.push_back(std::max<std::int64_t>((a.out - 1) * a.stride + a.reach() - a.in - a.low, 0));
      continue;
    }
    // Backwards, the kernel turns round.
    weights.first += (a.taps - 1) * a.k_step;
    weights.steps[at] = -a.k_step;
    strides.push_back(a.spread);
    low.push_back(a.reach() - 1 - a.low);
    high.push_back((a.in - 1) * a.spread + a.reach() - a.out - low.back());
    if (high.back() + a.spread <= 0) return false;
  }
  const auto any = [](const Dims& dims) { return Desc(dims, f32, dnnl::memory::format_tag::any); };
  if (chunk == 1 && way == Way::forward) {  // a step that nothing makes; dense to the library
    x_steps[0] = p.groups * p.channels;
    y_steps[0] = p.groups * p.outputs;
    for (std::size_t i = 2; i < x_dims.size(); ++i) {
      x_steps[0] *= x_dims[i];
      y_steps[0] *= y_dims[i];
    }
  }
  x.own = Desc(x_dims, f32, x_steps);
  y.own = Desc(y_dims, f32, y_steps);
  if (p.kernel_block != 0) {
    weights = {};
    using Tag = dnnl::memory::format_tag;
    constexpr Tag of_8[] = {Tag::OIw8i8o, Tag::OIhw8i8o, Tag::OIdhw8i8o};
    constexpr Tag of_16[] = {Tag::OIw16i16o, Tag::OIhw16i16o, Tag::OIdhw16i16o};
    k.own = Desc(k_dims, f32, (p.kernel_block == 8 ? of_8 : of_16)[p.rank - 1]);
  } else {
    Dims dense(k_dims.size());
    std::int64_t step = 1;
    for (std::size_t i = dense.size(); i-- > 0; step *= k_dims[i]) dense[i] = step;
    k.own = Desc(k_dims, f32, dense);
  }
  const Desc x_wanted = wanted.x_as_given ? x.own : any(x_dims);
  const Desc y_wanted = wanted.y_as_given ? y.own : any(y_dims);
  const Desc k_wanted = wanted.kernel            ? *wanted.kernel
                        : wanted.blocks_as_given ? k.own
                                                 : any(k_dims);

  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  const auto fast = [](const auto& found) {
    return std::string_view{found.impl_info_str()}.find("ref") == std::string_view::npos;
  };
  // Backwards, what the library calls source is what it computes.
  const bool back = way == Way::data;
  const dnnl::convolution_forward::desc forward(
      dnnl::prop_kind::forward_training, direct, back ? y_wanted : x_wanted, k_wanted,
      back ? x_wanted : y_wanted, strides, dilations, low, high);
  const dnnl::convolution_forward::primitive_desc hint(forward, attributes, engine, true);
  if (!hint) return false;
  if (way == Way::forward) {
    if (!fast(hint)) return false;
    x.settle(engine, hint.src_desc(), false);
    k.settle(engine, hint.weights_desc(), false);
    y.settle(engine, hint.dst_desc(), true);
    scratchpad = hint.scratchpad_desc().get_size();
    main = dnnl::convolution_forward(hint);
  } else if (back) {
    const dnnl::convolution_backward_data::primitive_desc found(
        {direct, y_wanted, any(k_dims), x_wanted, strides, dilations, low, high}, attributes,
        engine, hint, true);
    if (!found || !fast(found)) return false;
    x.settle(engine, found.diff_dst_desc(), false);
    k.settle(engine, found.weights_desc(), false);
    y.settle(engine, found.diff_src_desc(), true);
    scratchpad = found.scratchpad_desc().get_size();
    main = dnnl::convolution_backward_data(found);
  } else {
    const dnnl::convolution_backward_weights::primitive_desc found(
        {direct, x_wanted, any(k_dims), y_wanted, strides, dilations, low, high}, attributes,
        engine, hint, true);
    if (!found || !fast(found)) return false;
    x.settle(engine, found.src_desc(), false);
    k.settle(engine, found.diff_weights_desc(), true);
    y.settle(engine, found.diff_dst_desc(), false);
    scratchpad = found.scratchpad_desc().get_size();
    main = dnnl::convolution_backward_weights(found);
  }
  return true;
}

/// Parts are copied side by side already; a small kernel is copied faster than it is handed on.
std::int64_t OnednnConvolution::kernel_pieces() const noexcept {
  constexpr std::int64_t least = 1 << 14;
  return parts > 1 ? 1 : std::clamp<std::int64_t>(p.k_elements() / least, 1, 4);
}

bool OnednnConvolution::prepare(const Desc* kernel) {
  const mm::OneThread one(threads);
  if (!choose_way()) return false;
  choose_jobs();
  try {
    // Channels last the library reads as they lie; other orders cost a copy into blocks.
    const bool last = way == Way::weights ? p.x_image == 1 && p.k_output == 1
                                          : p.x_channel == 1 && p.y_output == 1;
    const auto made = [&](bool x_as_given, bool y_as_given) {
      return (p.kernel_block != 0 && make({x_as_given, y_as_given, true, kernel})) ||
             make({x_as_given, y_as_given, false, kernel});
    };
    if (!(last && (made(true, true) || made(true, false))) && !made(false, false)) return false;
    if (way != Way::weights && k.move) k_pieces = pieces_of(engine, k, kernel_pieces());
    return true;
  } catch (const dnnl::error&) {
    return false;  // refused, so it is computed another way
  }
}

std::optional<mm::Elements> OnednnConvolution::written(std::int64_t job) const noexcept {
  const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const std::int64_t image = job / parts * chunk, part = job % parts, row = row_of(p);
  const std::int64_t per_image = p.y_elements() / p.images;
  // What adds up weights comes out at the end; images that do not follow each other are no rows.
  if (way == Way::weights || (!band && p.images > 1 && p.y_image != per_image)) return std::nullopt;
  if (band)
    return mm::Elements{count(y_first + image * p.y_image), count(per_image / row), count(row),
                        count(row)};
  if (parts == 1)
    return mm::Elements{count(image * per_image), count(chunk * per_image / row), count(row),
                        count(row)};
  const std::int64_t each = p.outputs / parts;
  const std::int64_t first = image * per_image + part * each * p.y_output;
  if (p.y_output == 1 && row == p.outputs)
    return mm::Elements{count(first), count(chunk * p.pixels()), count(each), count(row)};
  if (p.y_output != p.pixels()) return std::nullopt;
  if (chunk == 1)
    return mm::Elements{count(first), count(each * p.pixels() / row), count(row), count(row)};
  return mm::Elements{count(first), count(chunk), count(each * p.pixels()), count(per_image)};
}

/// `kernel`: as the library wants it. `partial`: where the sums of a job go that computes weights.
void OnednnConvolution::run(const CpuArgs& args, const float* kernel, std::int64_t job,
                            std::byte* scratch, float* partial) const {
  const ExitDelay in_library;
  if (in_library.too_late()) throw process_exits("conv");
  dnnl::stream stream{engine};
  const auto hold = [this](const Desc& desc, const void* at) {
    return dnnl::memory(desc, engine, const_cast<void*>(at));
  };
  const auto take = [&](const Operand& of) {
    std::byte* at = scratch;
    scratch += of.scratch();
    return at;
  };
  // What it reads comes in, what it writes goes out, through scratch where the order differs.
  const auto bring = [&](const Operand& of, const void* at) {
    dnnl::memory outside = hold(of.own, at);
    if (!of.move) return outside;
    dnnl::memory inside = hold(of.used, take(of));
    if (!of.written) of.move->execute(stream, {{DNNL_ARG_FROM, outside}, {DNNL_ARG_TO, inside}});
    return inside;
  };
  const std::int64_t image = job / parts * chunk, part = job % parts;
  try {
    const bool sums = way == Way::weights;
    const void* x_at = args.in<float>(0) + x_first + image * (sums ? p.x_channel : p.x_image);
    const void* y_at = sums ? static_cast<const void*>(args.in<float>(1) + image * p.k_channel)
                            : args.out<float>() + y_first + image * p.y_image +
                                  part * (p.outputs / parts) * p.y_output;
    const dnnl::memory x_held = bring(x, x_at);
    const dnnl::memory y_held = bring(y, y_at);
    const dnnl::memory k_held = sums ? bring(k, partial) : hold(k.used, kernel);
    const dnnl::memory pad(Desc({static_cast<std::int64_t>(scratchpad)},
                                dnnl::memory::data_type::u8, dnnl::memory::format_tag::x),
                           engine, scratch);
    const int x_name = way == Way::data ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC;
    const int y_name = sums                  ? DNNL_ARG_DIFF_DST
                       : way == Way::forward ? DNNL_ARG_DST
                                             : DNNL_ARG_DIFF_SRC;
    main.execute(stream, {{x_name, x_held},
                          {y_name, y_held},
                          {sums ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, k_held},
                          {DNNL_ARG_SCRATCHPAD, pad}});
    const Operand& written = sums ? k : y;
    if (written.move)
      written.move->execute(stream, {{DNNL_ARG_FROM, sums ? k_held : y_held},
                                     {DNNL_ARG_TO, hold(written.own, sums ? partial : y_at)}});
    stream.wait();
  } catch (const dnnl::error& error) {
    throw matmul::onednn_error("conv", "oneDNN refused the convolution", error.status);
  }
}

namespace {

std::uint32_t slices_of(std::int64_t units, double work, std::size_t grain) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(units, 1, slice_count(static_cast<std::size_t>(work), grain)));
}

/// Stages that bring the kernel into the order that the library wants: first dense, then blocked.
void add_kernel_stages(const std::shared_ptr<const OnednnConvolution>& library,
                       std::size_t blocked_at, CpuPlan& plan) {
  const bool dense = library->weights.dense();
  if (!dense) {
    const std::int64_t rows = library->weights.rows();
    const std::uint32_t slices =
        slices_of(rows, static_cast<double>(rows * library->weights.row()), 32768);
    plan.stages.push_back(
        {slices, [=](const CpuArgs& args, std::uint32_t index) {
           const SliceRange range = slice_range(static_cast<std::size_t>(rows), slices, index, 1);
           auto* to = reinterpret_cast<float*>(args.scratch);
           const float* from = args.in<float>(1);
           library->weights.walk(static_cast<std::int64_t>(range.begin),
                                 static_cast<std::int64_t>(range.end),
                                 [&](std::int64_t i, std::int64_t at) { to[i] = from[at]; });
         }});
  }
  if (!library->k.move) return;
  const std::size_t pieces = library->k_pieces.size();
  plan.stages.push_back(
      {static_cast<std::uint32_t>(library->parts) * static_cast<std::uint32_t>(pieces),
       [=](const CpuArgs& args, std::uint32_t index) {
         const ExitDelay in_library;
         if (in_library.too_late()) throw process_exits("conv");
         const mm::OneThread one(library->threads);
         dnnl::stream stream{library->engine};
         const Operand& k = library->k;
         const Piece& piece = library->k_pieces[index % pieces];
         const std::size_t part = index / pieces;
         const auto* from =
             dense ? args.in<std::byte>(1) : static_cast<const std::byte*>(args.scratch);
         piece.move.execute(
             stream,
             {{DNNL_ARG_FROM, dnnl::memory(piece.own, library->engine,
                                           const_cast<std::byte*>(from + part * k.own.get_size()))},
              {DNNL_ARG_TO, dnnl::memory(piece.used, library->engine,
                                         args.scratch + blocked_at + part * k.scratch())}});
         stream.wait();
       }});
}

using Libraries = std::vector<std::shared_ptr<const OnednnConvolution>>;

/// Few images with channels last, cut into bands of rows that are read and written where they lie; parts of the outputs
/// would be copied. Nothing where the kernel is large beside the images, which then is read more often than they are,
/// or where the library does not take bands so.
Libraries make_bands(const Problem& p) {
  // Some microseconds of a core, of which handing a band to another thread takes one.
  constexpr double band_work = 1 << 19;
  // Each band reads all of the kernel: from the second-level cache, or once more from the third.
  constexpr std::int64_t near = 1 << 18, far = 1 << 20;
  const bool last =
      p.x_channel == 1 && p.y_output == 1 && (p.groups == 1 || p.y_group == p.outputs);
  const bool small_beside = p.k_elements() <= p.x_elements() + p.y_elements();
  if (!last || p.rank == 0 || p.batch_groups || p.images >= 8) return {};
  if (!small_beside && p.k_elements() > far) return {};
  const Axis& rows = p.axes[0];
  const double image_work = p.work() / static_cast<double>(p.images);
  const bool is_long = image_work >= 64 * band_work;
  // Parts of the outputs of such a problem, if they are whole blocks, occupy eight threads, two bands only two.
  if (!small_beside && is_long && p.outputs % 32 == 0) return {};
  // A large kernel is read by four bands only where the images are larger and the work outweighs it by far.
  const bool four = p.k_elements() <= near || (small_beside && is_long);
  const std::int64_t count = four && image_work >= 16 * band_work ? 4 : 2;
  if (image_work < static_cast<double>(count) * band_work || rows.out < 2 * count) return {};
  Libraries bands;
  for (std::int64_t i = 0; i < count; ++i) {
    auto band = std::make_shared<OnednnConvolution>();
    const std::int64_t from = rows.out * i / count, to = rows.out * (i + 1) / count;
    const std::int64_t start = from * rows.stride - rows.low;
    const std::int64_t first = std::clamp<std::int64_t>(start, 0, rows.in);
    const std::int64_t stop = (to - 1) * rows.stride + rows.reach() - rows.low;
    band->p = p;
    Axis& axis = band->p.axes[0];
    axis.out = to - from;
    axis.in = std::clamp<std::int64_t>(stop, first, rows.in) - first;
    axis.low = first - start;
    band->x_first = first * rows.x_step;
    band->y_first = from * rows.y_step;
    band->band = true;
    if (axis.in == 0 || !band->prepare(bands.empty() ? nullptr : &bands[0]->k.used) ||
        !band->in_place() || (!bands.empty() && band->k.used != bands[0]->k.used))
      return {};
    bands.push_back(std::move(band));
  }
  return bands;
}

/// Empty if the library does not take the problem, or the process exits.
Libraries make_libraries(const Problem& problem) {
  Libraries made;
  make_by_onednn([&] {
    made = make_bands(problem);
    if (!made.empty()) return;
    auto whole = std::make_shared<OnednnConvolution>();
    whole->p = problem;
    if (whole->prepare()) made.push_back(std::move(whole));
  });
  return made;
}

}  // namespace

std::optional<CpuPlan> onednn_plan(const Problem& problem,
                                   std::shared_ptr<const mm::Finish> finish) {
  const Libraries bands = make_libraries(problem);
  if (bands.empty()) return std::nullopt;
  const std::shared_ptr<const OnednnConvolution>& library = bands[0];
  const std::size_t all_jobs = bands.size() * static_cast<std::size_t>(library->jobs());
  const bool sums = library->way == Way::weights;
  if (finish && !library->written(0)) return std::nullopt;
  CpuPlan plan;
  // Scratch: dense weights (for each job, if those are the result), blocked ones, each slice's own.
  const std::size_t dense = library->dense_bytes();
  const std::size_t blocked_at = dense * static_cast<std::size_t>(sums ? library->jobs() : 1);
  const std::size_t own_at =
      blocked_at + (sums ? 0 : library->k.scratch() * static_cast<std::size_t>(library->parts));
  std::size_t own = 0;
  for (const auto& band : bands) own = std::max(own, band->job_bytes());
  if (!sums) add_kernel_stages(library, blocked_at, plan);
  const bool straight = library->weights.dense();
  const std::uint32_t slices =
      slices_of(static_cast<std::int64_t>(all_jobs), problem.work(), std::size_t{1} << 19);
  plan.scratch_bytes = own_at + own * slices;
  const mm::Target target{std::move(finish), plan,
                          static_cast<std::size_t>(problem.y_elements()) * sizeof(float), slices};
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const mm::OneThread one(library->threads);
         const SliceRange range = slice_range(all_jobs, slices, index, 1);
         for (std::size_t i = range.begin; i < range.end; ++i) {
           const OnednnConvolution& band = *bands[i % bands.size()];
           const std::size_t job = i / bands.size();
           const std::size_t part = job % static_cast<std::size_t>(library->parts);
           const std::byte* kernel =
               library->k.move ? args.scratch + blocked_at + part * library->k.scratch()
               : straight      ? args.in<std::byte>(1) + part * library->k.own.get_size()
                               : args.scratch + part * library->k.own.get_size();
           void* outputs[] = {target.of(args)};
           band.run(CpuArgs{args.inputs, outputs, args.scratch},
                    reinterpret_cast<const float*>(kernel), static_cast<std::int64_t>(job),
                    args.scratch + own_at + own * index,
                    reinterpret_cast<float*>(args.scratch + dense * job));
           if (target.finishes())
             target.done(args, index, *band.written(static_cast<std::int64_t>(job)));
         }
       }});
  if (!sums) return plan;
  const std::int64_t rows = library->weights.rows();
  const std::uint32_t adders =
      slices_of(rows, static_cast<double>(rows * library->weights.row()), 32768);
  plan.stages.push_back(
      {adders, [=](const CpuArgs& args, std::uint32_t index) {
         const SliceRange range = slice_range(static_cast<std::size_t>(rows), adders, index, 1);
         float* to = args.out<float>();
         const auto* from = reinterpret_cast<const float*>(args.scratch);
         const std::size_t step = dense / sizeof(float);
         const auto jobs = static_cast<std::size_t>(library->jobs());
         library->weights.walk(static_cast<std::int64_t>(range.begin),
                               static_cast<std::int64_t>(range.end),
                               [&](std::int64_t i, std::int64_t at) {
                                 float sum = from[i];
                                 for (std::size_t job = 1; job < jobs; ++job)
                                   sum += from[job * step + static_cast<std::size_t>(i)];
                                 to[at] = sum;
                               });
       }});
  return plan;
}

}  // namespace stoker::kernels::conv::STOKER_ISA
