// The limits of a script, judged by what the process holds and when it ends, not by what it counts.
#include <zlib.h>

#include <array>
#include <vector>

#include "command_folder.hpp"

namespace stoker {
namespace {

/// A PNG of zeros, a thousandth as large as what it decodes to.
std::string black_png(std::uint32_t width, std::uint32_t height) {
  const auto number = [](std::uint32_t value) {
    std::string text;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) text += static_cast<char>(value >> shift);
    return text;
  };
  const auto chunk = [&](const std::string& type, const std::string& data) {
    const std::string body = type + data;
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    return number(static_cast<std::uint32_t>(data.size())) + body +
           number(static_cast<std::uint32_t>(sum));
  };
  std::string packed;
  z_stream stream{};
  deflateInit(&stream, 1);
  std::vector<Bytef> row(std::size_t{width} * 4 + 1);
  std::array<Bytef, 1 << 16> part{};
  const auto drain = [&](int flush) {
    do {
      stream.next_out = part.data();
      stream.avail_out = static_cast<uInt>(part.size());
      deflate(&stream, flush);
      packed.append(reinterpret_cast<const char*>(part.data()), part.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  for (std::uint32_t y = 0; y < height; ++y) {
    stream.next_in = row.data();
    stream.avail_in = static_cast<uInt>(row.size());
    drain(Z_NO_FLUSH);
  }
  drain(Z_FINISH);
  deflateEnd(&stream);
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", number(width) + number(height) + std::string{"\x08\x06\0\0\0", 5}) +
         chunk("IDAT", packed) + chunk("IEND", "");
}

class Sandbox : public CommandFolder {
 protected:
  /// Runs it with 16 MiB of everything. What the process may hold: what one holds that does nothing, and
  /// a few times the limit.
  void holds_little(const std::string& code, std::vector<std::string> words, int exit_code) const {
    // What a sanitizer keeps of freed memory is not the script's.
    const std::string command = R"(ASAN_OPTIONS="$ASAN_OPTIONS:quarantine_size_mb=16" exec "$@")";
    const long idle = on_cpu({"run", "-e", "x = 1", "--quiet"}, command).peak_mib;
    words.insert(words.begin(), {"run", "-e", code, "--memory", "16", "--buffers", "16"});
    const CommandResult result =
        on_cpu(words, words.back() == "--json" ? command : command + " >/dev/null");
    EXPECT_EQ(result.exit_code, exit_code) << code << '\n' << result.out << result.err;
#ifdef __SANITIZE_THREAD__
    constexpr long more = 128 * 4;  // each byte has its shadow there
#else
    constexpr long more = 128;
#endif
    EXPECT_LT(result.peak_mib, idle + more) << code;
  }
};

TEST_F(Sandbox, holds_what_a_script_prints_within_its_memory) {
  const std::string print_for_ever = "local s = ('x'):rep(1 << 18) while true do print(s) end";
  holds_little(print_for_ever, {"--json"}, 4);
  holds_little("local s = ('\\1'):rep(1 << 18) while true do print(s) end", {"--json"}, 4);
  // Nobody keeps what goes to standard output.
  holds_little("local s = ('x'):rep(1 << 18) for i = 1, 2000 do print(s) end", {"--quiet"}, 0);
}

TEST_F(Sandbox, holds_errors_that_a_script_keeps_within_its_memory) {
  holds_little(
      "local t, name = {}, ('x'):rep(4000)\n"
      "for i = 1, 1e5 do local _, e = pcall(image.load, '/' .. name .. i) t[i] = e end",
      {"--quiet"}, 4);
  holds_little(
      "local all = {} for i = 1, 5000 do all[i] = buffer{i} end\n"
      "local t = {} for i = 1, 2000 do local _, e = pcall(concat, table.unpack(all)) t[i] = e end",
      {"--quiet"}, 0);
}

TEST_F(Sandbox, refuses_a_picture_that_does_not_fit_before_it_is_decoded) {
  write("bomb.png", black_png(8192, 8192));
  holds_little("image.load('bomb.png')", {"--quiet"}, 4);
  const CommandResult refused = on_cpu({"run", "-e", "image.load('bomb.png')", "--buffers", "16"});
  EXPECT_TRUE(contains(refused.err, "bomb.png")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "requested: 268435456")) << refused.err;
  // The script may go on without it.
  holds_little("print(select(2, pcall(image.load, 'bomb.png')).code)", {"--quiet"}, 0);
}

TEST_F(Sandbox, refuses_a_file_that_does_not_fit_before_it_is_read) {
  write("large.png", black_png(8, 8));
  std::filesystem::resize_file(directory / "large.png", std::uintmax_t{512} << 20);
  holds_little("image.load('large.png')", {"--quiet"}, 4);
}

TEST_F(Sandbox, reads_no_script_without_an_end) {
  const CommandResult endless = on_cpu({"run", "-"}, R"(exec "$@" </dev/zero)");
  EXPECT_EQ(endless.exit_code, 1) << endless.err;
  EXPECT_TRUE(contains(endless.err, "at most 16 MiB")) << endless.err;
}

TEST_F(Sandbox, holds_a_long_warning_within_bounds) {
  holds_little("local s = ('x'):rep(1 << 22) for i = 1, 20 do warn(s) end", {"--quiet"}, 0);
}

TEST_F(Sandbox, resolves_no_path_that_the_system_cannot_have) {
  holds_little("print(pcall(image.load, ('a/'):rep(1 << 21)))", {"--quiet"}, 0);
}

// Without an end that does not ask the script, these would go on for ever.
TEST_F(Sandbox, ends_at_its_time_limit_though_nobody_reads_what_it_prints) {
  for (const char* shell : {R"(exec "$@")", R"(exec "$@" 2>&1)"}) {
    CommandProcess process{{"run", "-e", "while true do print('x') end", "--device", "cpu",
                            "--time-limit", "0.1", "--instructions", "0"},
                           CommandPlace{directory, {}, shell}};
    EXPECT_EQ(process.finish_unread().exit_code, 4) << shell;
  }
}

TEST_F(Sandbox, ends_at_its_time_limit_within_one_long_call) {
  write("long.lua", "local text = ('x = 1 '):rep(2000000)\nwhile true do load(text) end");
  EXPECT_EQ(on_cpu({"run", "long.lua", "--time-limit", "0.1", "--instructions", "0"}).exit_code, 4);
}

}  // namespace
}  // namespace stoker
