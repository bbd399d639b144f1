#include "stoker/bench/kernels/onednn_peer.hpp"

#include <algorithm>
#include <array>
#include <dnnl.hpp>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "stoker/bench/harness/harness.hpp"
#include "stoker/bench/harness/peer_program.hpp"

namespace stoker::bench {
namespace {

using Tag = dnnl::memory::format_tag;
using Dims = dnnl::memory::dims;

/// Numbers without a pattern that a library could profit from, none of them denormal.
std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8U) / static_cast<float>(1U << 24U) - 0.5F;
  }
  return values;
}

/// What one question measures; all ways of doing it, the fastest counts.
struct Problem {
  std::vector<std::function<void()>> ways;
  std::size_t best = 0;
};

double seconds_per_call(const std::function<void()>& call, int calls) {
  return seconds_of([&] {
           for (int i = 0; i < calls; ++i) call();
         }) /
         calls;
}

class Bench {
 public:
  double matmul(std::int64_t n, int calls) {
    return measure(matmuls_.try_emplace(n), calls, [&] { return make_matmul(n); });
  }
  double conv(const std::array<std::int64_t, 7>& shape, int calls) {
    return measure(convs_.try_emplace(shape), calls, [&] { return make_conv(shape, floats); });
  }
  double integer_matmul(std::int64_t n, int calls) {
    return measure(integer_matmuls_.try_emplace(n), calls, [&] { return make_integer_matmul(n); });
  }
  double integer_conv(const std::array<std::int64_t, 7>& shape, int calls) {
    return measure(integer_convs_.try_emplace(shape), calls,
                   [&] { return make_conv(shape, integers); });
  }

 private:
  /// Of the input, the weights and the result.
  struct Types {
    dnnl::memory::data_type input, weights, result;
  };
  static constexpr Types floats{dnnl::memory::data_type::f32, dnnl::memory::data_type::f32,
                                dnnl::memory::data_type::f32};
  static constexpr Types integers{dnnl::memory::data_type::u8, dnnl::memory::data_type::s8,
                                  dnnl::memory::data_type::s32};

  template <class Slot, class Make> double measure(Slot slot, int calls, Make&& make) {
    Problem& problem = slot.first->second;
    if (slot.second) {
      problem = make();
      double fastest = 1e9;
      for (std::size_t way = 0; way < problem.ways.size(); ++way) {
        problem.ways[way]();
        double seconds = 1e9;
        for (int i = 0; i < 5; ++i)
          seconds = std::min(seconds, seconds_per_call(problem.ways[way], std::max(1, calls / 4)));
        if (seconds < fastest) {
          fastest = seconds;
          problem.best = way;
        }
      }
    }
    const auto& call = problem.ways[problem.best];
    call();
    return seconds_per_call(call, calls);
  }

  dnnl::memory filled(const dnnl::memory::desc& desc) {
    dnnl::memory memory{desc, engine_};
    if (desc.data_type() == dnnl::memory::data_type::f32) {
      const auto values = numbers(desc.get_size() / sizeof(float));
      std::ranges::copy(values, static_cast<float*>(memory.get_data_handle()));
      return memory;
    }
    auto* const to = static_cast<std::int8_t*>(memory.get_data_handle());
    const auto values = numbers(desc.get_size());
    std::ranges::transform(values, to,
                           [](float one) { return static_cast<std::int8_t>(255 * one); });
    return memory;
  }

  Problem make_matmul(std::int64_t n) {
    const dnnl::memory::desc desc{Dims{n, n}, dnnl::memory::data_type::f32, Tag::ab};
    const auto a = filled(desc);
    const auto b = filled(desc);
    const auto c = filled(desc);
    const dnnl::matmul primitive{{dnnl::matmul::desc{desc, desc, desc}, engine_}};
    Problem problem;
    problem.ways.emplace_back([=, this] {
      dnnl_sgemm('N', 'N', n, n, n, 1.0F, static_cast<const float*>(a.get_data_handle()), n,
                 static_cast<const float*>(b.get_data_handle()), n, 0.0F,
                 static_cast<float*>(c.get_data_handle()), n);
    });
    problem.ways.emplace_back([=, this] {
      primitive.execute(stream_, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
      stream_.wait();
    });
    return problem;
  }

  Problem make_integer_matmul(std::int64_t n) {
    const auto desc = [&](dnnl::memory::data_type type, Tag tag) {
      return dnnl::memory::desc{Dims{n, n}, type, tag};
    };
    const auto a = filled(desc(integers.input, Tag::ab));
    const auto b = filled(desc(integers.weights, Tag::ab));
    const auto c = filled(desc(integers.result, Tag::ab));
    const dnnl::matmul primitive{
        {dnnl::matmul::desc{a.get_desc(), b.get_desc(), c.get_desc()}, engine_}};
    Problem problem;
    problem.ways.emplace_back([=] {
      const std::int32_t none = 0;
      dnnl_gemm_u8s8s32('N', 'N', 'F', n, n, n, 1.0F,
                        static_cast<const std::uint8_t*>(a.get_data_handle()), n, 0,
                        static_cast<const std::int8_t*>(b.get_data_handle()), n, 0, 0.0F,
                        static_cast<std::int32_t*>(c.get_data_handle()), n, &none);
    });
    problem.ways.emplace_back([=, this] {
      primitive.execute(stream_, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
      stream_.wait();
    });
    return problem;
  }

  Problem make_conv(const std::array<std::int64_t, 7>& shape, const Types& types) {
    const auto [batch, channels, size, filters, kernel, stride, padding] = shape;
    const std::int64_t out = (size + 2 * padding - kernel) / stride + 1;
    const Dims from{batch, channels, size, size};
    const Dims with{filters, channels, kernel, kernel};
    const Dims to{batch, filters, out, out};
    const auto source = filled({from, types.input, Tag::nchw});
    const auto weights = filled({with, types.weights, Tag::oihw});
    const auto target = filled({to, types.result, Tag::nchw});
    const auto describe = [&](Tag in, Tag by, Tag into) {
      const dnnl::convolution_forward::desc desc{dnnl::prop_kind::forward_inference,
                                                 dnnl::algorithm::convolution_direct,
                                                 dnnl::memory::desc{from, types.input, in},
                                                 dnnl::memory::desc{with, types.weights, by},
                                                 dnnl::memory::desc{to, types.result, into},
                                                 Dims{stride, stride},
                                                 Dims{padding, padding},
                                                 Dims{padding, padding}};
      return dnnl::convolution_forward::primitive_desc{desc, engine_};
    };
    Problem problem;
    // On the caller's layouts, and with input and output alone or all three of oneDNN's choice.
    for (const auto& [in, by, into] : {std::array{Tag::nchw, Tag::oihw, Tag::nchw},
                                       {Tag::nchw, Tag::any, Tag::nchw},
                                       {Tag::nchw, Tag::any, Tag::any},
                                       {Tag::any, Tag::any, Tag::any}}) {
      try {
        const auto desc = describe(in, by, into);
        // Its reference loops take seconds.
        if (std::string_view{desc.impl_info_str()}.find("ref") == std::string_view::npos)
          problem.ways.push_back(reordered(desc, source, weights, target));
      } catch (const dnnl::error&) {
        // This release has no such primitive.
      }
    }
    return problem;
  }

  /// The convolution with a reorder around each operand whose layout is not the caller's.
  std::function<void()> reordered(const dnnl::convolution_forward::primitive_desc& desc,
                                  const dnnl::memory& source, const dnnl::memory& weights,
                                  const dnnl::memory& target) {
    const auto own = [this](const dnnl::memory::desc& wanted, const dnnl::memory& given) {
      return wanted == given.get_desc() ? given : dnnl::memory{wanted, engine_};
    };
    const auto in = own(desc.src_desc(), source);
    const auto by = own(desc.weights_desc(), weights);
    const auto into = own(desc.dst_desc(), target);
    std::vector<std::function<void()>> steps;
    const auto move = [&](const dnnl::memory& from, const dnnl::memory& to) {
      if (from.get_desc() == to.get_desc()) return;
      steps.emplace_back([this, from, to, reorder = dnnl::reorder{from, to}] {
        dnnl::memory source = from;  // handles: the call wants both mutable
        dnnl::memory target = to;
        reorder.execute(stream_, source, target);
      });
    };
    move(source, in);
    move(weights, by);
    steps.emplace_back([this, in, by, into, primitive = dnnl::convolution_forward{desc}] {
      primitive.execute(stream_,
                        {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, by}, {DNNL_ARG_DST, into}});
    });
    move(into, target);
    return [this, steps] {
      for (const auto& step : steps) step();
      stream_.wait();
    };
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<std::int64_t, Problem> matmuls_;
  std::map<std::array<std::int64_t, 7>, Problem> convs_;
  std::map<std::int64_t, Problem> integer_matmuls_;
  std::map<std::array<std::int64_t, 7>, Problem> integer_convs_;
};

std::string question(const ConvShape& shape, int calls) {
  std::ostringstream line;
  line << calls << ' ' << shape.batch << ' ' << shape.in_channels << ' ' << shape.size << ' '
       << shape.out_channels << ' ' << shape.kernel << ' ' << shape.stride << ' ' << shape.padding;
  return line.str();
}

}  // namespace

int serve_onednn_peer() {
  Bench bench;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words{line};
    std::string what;
    int calls = 0;
    words >> what >> calls;
    double seconds = 0;
    if (what == "matmul" || what == "integer_matmul") {
      std::int64_t n = 0;
      words >> n;
      seconds = what == "matmul" ? bench.matmul(n, calls) : bench.integer_matmul(n, calls);
    } else {
      std::array<std::int64_t, 7> shape{};
      for (std::int64_t& number : shape) words >> number;
      seconds = what == "conv" ? bench.conv(shape, calls) : bench.integer_conv(shape, calls);
    }
    std::printf("%.9g\n", seconds);
    std::fflush(stdout);
  }
  return 0;
}

OnednnPeer::OnednnPeer() : program_{"the oneDNN peer", {own_program(), "--peer"}} {}

double OnednnPeer::matmul(std::int64_t n, int calls) {
  return program_.ask("matmul " + std::to_string(calls) + " " + std::to_string(n));
}

double OnednnPeer::integer_matmul(std::int64_t n, int calls) {
  return program_.ask("integer_matmul " + std::to_string(calls) + " " + std::to_string(n));
}

double OnednnPeer::conv(const ConvShape& shape, int calls) {
  return program_.ask("conv " + question(shape, calls));
}

double OnednnPeer::integer_conv(const ConvShape& shape, int calls) {
  return program_.ask("integer_conv " + question(shape, calls));
}

}  // namespace stoker::bench
