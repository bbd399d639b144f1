// Every example of README.md and docs/ is code that a test compiles and runs: those below, the
// programs in examples/ and tests/guides/guides.lua. CONTRIBUTING.md quotes Stoker itself. The first test
// finds examples that are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/fiber/fiber.hpp>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "stoker/api/asio.hpp"
#include "stoker/api/fiber.hpp"
#include "stoker/api/image.hpp"
#include "stoker/api/model.hpp"
#include "stoker/api/script.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/api/testing.hpp"
#include "stoker/api/train.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace {

namespace nn = stoker::nn;

const std::filesystem::path root = stoker::checkout_folder();

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Without white space and includes: layout is a matter of taste.
std::string squeeze(const std::string& text) {
  std::string squeezed;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#include")) continue;
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    squeezed += line;
  }
  return squeezed;
}

struct Example {
  std::string where;
  std::string language;
  std::string text;
};

std::vector<Example> examples_of(const std::filesystem::path& guide) {
  std::vector<Example> examples;
  std::istringstream lines{text_of(guide)};
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) examples.push_back({guide.filename().string(), line.substr(3), {}});
    } else if (inside) {
      examples.back().text += line + "\n";
    }
  }
  return examples;
}

std::string all_sources(const std::filesystem::path& folder, const std::string& extension) {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder})
    if (entry.path().extension() == extension) all += squeeze(text_of(entry.path())) + "\n";
  return all;
}

std::vector<std::filesystem::path> all_guides() {
  std::vector<std::filesystem::path> guides{root / "README.md"};
  for (const auto& entry : std::filesystem::directory_iterator{root / "docs"})
    if (entry.path().extension() == ".md") guides.push_back(entry.path());
  return guides;
}

TEST(Guides, show_only_code_that_is_run) {
  std::size_t seen = 0;
  for (const std::string language : {"cpp", "lua"}) {
    const std::string run = all_sources(root / "examples", "." + language) +
                            all_sources(root / "tests" / "guides", "." + language);
    for (const auto& guide : all_guides())
      for (const Example& example : examples_of(guide)) {
        if (example.language != language) continue;
        ++seen;
        EXPECT_NE(run.find(squeeze(example.text)), std::string::npos)
            << example.where << " shows code that nothing runs:\n"
            << example.text;
      }
  }
  EXPECT_GT(seen, 5U);
}

TEST(Guides, contributing_quotes_what_is_there) {
  std::size_t seen = 0;
  for (const std::string language : {"cpp", "glsl"}) {
    std::string sources;
    for (const char* room : {"kernels", "device", "pipeline", "api"}) {
      sources += all_sources(root / room, "." + language);
      if (language == "cpp") sources += all_sources(root / room, ".hpp");
    }
    for (const Example& example : examples_of(root / "CONTRIBUTING.md")) {
      if (example.language != language) continue;
      ++seen;
      EXPECT_NE(sources.find(squeeze(example.text)), std::string::npos)
          << "CONTRIBUTING.md quotes code that is not there:\n"
          << example.text;
    }
  }
  EXPECT_GT(seen, 8U);
}

/// A page without its code.
std::string prose_of(const std::filesystem::path& page) {
  std::string prose;
  std::istringstream lines{text_of(page)};
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) inside = !inside;
    if (!inside) prose += std::regex_replace(line, std::regex{"`[^`]*`"}, "") + "\n";
  }
  return prose;
}

/// The anchors that GitHub makes of a page's headings.
std::vector<std::string> anchors_of(const std::filesystem::path& page) {
  std::vector<std::string> anchors;
  std::istringstream lines{text_of(page)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) continue;
    std::string anchor;
    for (const char c : line.substr(line.find(' ') + 1)) {
      const auto letter = static_cast<unsigned char>(c);
      if (c == ' ')
        anchor += '-';
      else if (std::isalnum(letter) != 0 || c == '-' || c == '_')
        anchor += static_cast<char>(std::tolower(letter));
    }
    anchors.push_back(anchor);
  }
  return anchors;
}

TEST(Guides, link_to_what_is_there) {
  std::vector<std::filesystem::path> pages = all_guides();
  for (const char* more : {"CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"})
    pages.push_back(root / more);
  const std::regex link{"\\]\\(([^)#:]*)(#([^)]*))?\\)"};
  std::size_t seen = 0;
  for (const auto& page : pages) {
    const std::string text = prose_of(page);
    for (std::sregex_iterator at{text.begin(), text.end(), link}, end; at != end; ++at, ++seen) {
      const auto target = (*at)[1].length() == 0 ? page : page.parent_path() / (*at)[1].str();
      EXPECT_TRUE(std::filesystem::exists(target)) << page << " links to " << at->str();
      if ((*at)[3].length() == 0) continue;
      const auto anchors = anchors_of(target);
      EXPECT_NE(std::ranges::find(anchors, (*at)[3].str()), anchors.end())
          << page << " links to " << at->str();
    }
  }
  EXPECT_GT(seen, 40U);
}

TEST(Guides, name_only_tests_that_exist) {
  const std::string tests = all_sources(root / "tests", ".cpp");
  const std::string guide = text_of(root / "docs" / "actors.md");
  const std::regex name{"`([A-Z][A-Za-z]+)[.]([a-z_]+)`"};
  std::size_t seen = 0;
  for (std::sregex_iterator at{guide.begin(), guide.end(), name}, end; at != end; ++at, ++seen)
    EXPECT_NE(tests.find("(" + (*at)[1].str() + "," + (*at)[2].str() + ")"), std::string::npos)
        << "there is no " << at->str();
  EXPECT_GT(seen, 24U);
}

stoker::Buffer grey_photo(const stoker::Device& device) {
  return device.buffer(stoker::TensorSpec{stoker::DType::u8, {427, 640, 3}});
}

TEST(Guides, commands) {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  const stoker::Buffer photo = grey_photo(device);
  const stoker::Buffer soft = device.buffer(photo.spec());
  photo.fill(7).get();
  stoker::Command command =
      device.submit(stoker::kernels::GaussianBlur{.radius = 3}, {photo}, soft);
  command.get();
  EXPECT_EQ(soft.read<std::uint8_t>(0, 1).get(), (std::vector<std::uint8_t>{7}));
}

TEST(Guides, deadlines) {
  const stoker::System system;
  const stoker::Device device = system.device("null");
  const std::vector<stoker::Buffer> inputs{device.buffer(stoker::DType::f32, {2, 2}),
                                           device.buffer(stoker::DType::f32, {2, 2})};
  const stoker::Buffer output = device.buffer(stoker::DType::f32, {2, 2});
  const stoker::CancelSource request;
  const stoker::CommandOptions limits{
      .deadline = system.clock().now() + std::chrono::milliseconds{5}, .cancel = request.token()};
  device.submit(stoker::kernels::Matmul{}, inputs, output, limits);
  const auto values = output.read<float>(limits);
  request.cancel(stoker::cancelled_error("request"));
}

struct PowerLaw {
  static constexpr stoker::KernelName kind{"power_law"};
  double gamma = 2;
};
template <class V> void visit_options(PowerLaw& o, V&& visit) {
  visit("gamma", o.gamma, stoker::anything, "the exponent");
}

TEST(Guides, kernels) {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  const stoker::Buffer x = device.buffer({1.0F, 2.0F, 3.0F});
  stoker::CppKernelSpec spec;
  spec.name = PowerLaw::kind;
  spec.params = stoker::options::specs<PowerLaw>();
  spec.run = [](const stoker::CppCall& call, std::size_t begin, std::size_t end) {
    const auto from = call.in<float>();
    const auto to = call.out<float>();
    const double gamma = stoker::options::from<PowerLaw>(call.params()).gamma;
    for (std::size_t i = begin; i < end; ++i) to[i] = static_cast<float>(std::pow(from[i], gamma));
  };
  system.add_kernel(spec);
  const stoker::Buffer cubes = device.run(PowerLaw{.gamma = 3}, {x});
  EXPECT_EQ(cubes.read<float>().get(), (std::vector{1.0F, 8.0F, 27.0F}));
}

TEST(Guides, event_loops) {
  boost::asio::io_context loop;
  stoker::SystemOptions options;
  stoker::use_event_loop(options, loop.get_executor());
  stoker::System system{options};
  bool done = false;
  const stoker::Device device = system.device("null");
  const stoker::Buffer x = device.buffer({1.0F});
  stoker::async_wait(
      device.submit("relu", {x}, device.buffer({1.0F})),
      boost::asio::bind_executor(loop, [&](const stoker::Result<void>&) { done = true; }));
  loop.run();
  EXPECT_TRUE(done);
}

TEST(Guides, faults) {
  stoker::Faults faults;
  stoker::SystemOptions options;
  options.drivers = stoker::with_faults(faults);  // over all built-in drivers
  const stoker::System system{options};
  const stoker::Device device = system.device("cpu");
  const stoker::Buffer x = device.buffer({-1.0F, 2.0F});
  const stoker::Buffer y = device.buffer({0.0F, 0.0F});

  faults.on("cpu").fail_kernel("relu");  // the next one
  const stoker::Command failed = device.submit("relu", {x}, y);
  EXPECT_EQ(failed.wait().error().code(), stoker::ErrorCode::handler_failed);
  device.submit("relu", {x}, y).get();  // a fault strikes once

  faults.hold_completions();
  const stoker::Command held = device.submit("relu", {x}, y);
  faults.lose("unplugged");
  EXPECT_EQ(held.wait().error().code(), stoker::ErrorCode::device_lost);
}

TEST(Guides, fibers) {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  const stoker::Buffer x = device.buffer(std::vector<float>(1 << 16, 1.0F));
  const stoker::Command command = device.submit("tanh", {x}, x);
  int turns = 0;
  const stoker::FiberAdaptor adaptor;
  boost::fibers::fiber waiter{[&] { command.get(); }};
  boost::fibers::fiber other{[&] { ++turns; }};
  waiter.join();
  other.join();
  EXPECT_EQ(turns, 1);
}

TEST(Guides, reading) {
  const stoker::System system;
  const stoker::Buffer buffer = system.device("cpu").buffer({1.0F, 2.0F});
  auto target = std::make_shared<std::vector<float>>(buffer.elements());
  buffer.read_into(std::span{*target}, target).get();
  EXPECT_EQ(*target, (std::vector{1.0F, 2.0F}));
}

TEST(Guides, pipelines) {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  const stoker::Buffer photo = grey_photo(device);
  photo.fill(7).get();
  stoker::Pipeline edges = system.pipeline(device);
  edges.input("photo", {stoker::DType::u8, {427, 640, 3}});
  edges.add(stoker::kernels::Grayscale{}, {"photo"}, "grey");
  edges.add(stoker::kernels::GaussianBlur{.radius = 2}, {"grey"}, "soft");
  edges.add("sobel:soft:edges");  // the text form
  edges.output("edges");

  stoker::Buffer result = device.buffer(edges.spec_of("edges"));
  stoker::Command run = edges.run({{"photo", photo}, {"edges", result}});
  run.get();
  EXPECT_EQ(run.steps_done(), 3U);
}

TEST(Guides, scripts_from_programs) {
  const auto before = std::filesystem::current_path();
  const auto folder = stoker::build_folder() / "guides" / "program";
  std::filesystem::create_directories(folder / "pictures");
  const auto replace = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(root / "examples/scripts/edges.lua", folder / "edges.lua", replace);
  std::filesystem::copy_file(root / "examples/data/china.jpg", folder / "pictures/photo.jpg",
                             replace);
  std::filesystem::current_path(folder);
  stoker::System system;
  stoker::ScriptHost scripts = stoker::script_host(system, system.device());
  stoker::ScriptOptions options;
  options.args = {{"input", "pictures/photo.jpg"}, {"output", "pictures/edges.png"}};
  options.allowed_directories = {"pictures"};
  const auto source = stoker::ScriptSource::from_file("edges.lua");
  stoker::ScriptRun run = scripts.start(source, options);
  stoker::ScriptReport used = run.done.get();  // or co_await, then(), async_wait()
  std::filesystem::current_path(before);
  EXPECT_EQ(used.commands, 3U);
  EXPECT_TRUE(std::filesystem::exists(folder / "pictures/edges.png"));
}

/// What guides.lua loads: a model for rows as those of examples/scripts/train_digits.lua.
void save_digits(const std::filesystem::path& path, const stoker::Device& device) {
  const nn::Node flat = nn::flatten(nn::input({8, 8, 1}));
  nn::Model{nn::Network{nn::dense(flat, 10)}, {.device = device, .seed = 1}}.save(path);
}

/// Twice a picture, which is small and has one colour everywhere.
void save_filter(const std::filesystem::path& folder, const stoker::Device& device) {
  const stoker::DeviceScope scope{device};
  stoker::onnx::save([](const std::vector<stoker::Tensor>& x) { return std::vector{x[0] * 2}; },
                     {{"input", stoker::DType::f32, {1, 3, 1, 1}}}, folder / "filter.onnx",
                     {.outputs = {"output"}});
  const stoker::Tensor orange = stoker::broadcast(stoker::tensor({255, 0, 127}), {2, 4, 3});
  const stoker::Tensor cat = stoker::as_type(orange, stoker::DType::u8);
  stoker::image::save(folder / "cat.png", {cat.spec(), cat.to_bytes()});
}

TEST(Guides, scripts) {
  const stoker::System system;
  stoker::ScriptHost scripts = stoker::script_host(system, system.device("cpu"));
  const auto folder = stoker::build_folder() / "guides";
  std::filesystem::create_directories(folder);
  stoker::ScriptOptions options;
  options.args = {{"input", (root / "examples" / "data" / "china.jpg").string()}};
  options.directory = folder;
  options.allowed_directories = {folder, root / "examples" / "data"};
  options.extension = std::make_shared<stoker::ModelTable>();
  options.kernels = stoker::script_kernels();
  save_digits(folder / "digits.safetensors", system.device("cpu"));
  save_filter(folder, system.device("cpu"));
  const auto source = stoker::ScriptSource::from_file(root / "tests" / "guides" / "guides.lua");
  const auto outcome = scripts.start(source, options).done.wait();
  ASSERT_TRUE(outcome) << outcome.error().what();
  EXPECT_TRUE(std::filesystem::exists(folder / "edges.png"));
}

}  // namespace
