#include <unistd.h>

#include <fstream>

#include "stoker/tests/checkout/checkout.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

namespace fs = std::filesystem;

/// A directory of the test's own, with an allowed part and a forbidden one beside it.
class ScriptImages : public Scripts {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root = fs::temp_directory_path() / ("stoker_" + std::to_string(getpid()) + "_" + info->name());
    fs::create_directories(root / "allowed" / "inner");
    fs::create_directories(root / "forbidden");
    options.allowed_directories = {root / "allowed"};
    options.directory = root / "allowed";
  }
  void TearDown() override { fs::remove_all(root); }

  [[nodiscard]] Outcome run_there(std::string code) { return run(std::move(code), options); }

  fs::path root;
  ScriptOptions options;
};

constexpr const char* picture =
    "local p = buffer({10, 20, 30, 40, 50, 60}, {dtype = 'u8', shape = {1, 2, 3}})\n";

TEST_F(ScriptImages, are_saved_and_loaded) {
  const Outcome outcome =
      run_there(std::string{picture} +
                "local path = image.save(p, 'a.png')\n"
                "local q = image.load('a.png')\n"
                "print(q.dtype, table.concat(q.shape, 'x'), table.concat(read(q), ' '))");
  EXPECT_EQ(outcome.text(), "u8\t1x2x3\t10 20 30 40 50 60\n");
  ASSERT_EQ(outcome.seen->saved.size(), 1U);
  EXPECT_EQ(outcome.seen->saved[0], fs::canonical(root / "allowed" / "a.png"));
}

TEST_F(ScriptImages, may_be_jpeg_with_a_quality) {
  EXPECT_EQ(run_there("local p = fill({shape = {64, 64, 3}, value = 128, dtype = 'u8'})\n"
                      "image.save(p, 'a.jpg', {quality = 60})\n"
                      "print(read(image.load('a.jpg'))[1] // 8)")
                .text(),
            "16\n");
  EXPECT_EQ(run_there(std::string{picture} + "image.save(p, 'a.jpg', {quality = 101})").code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(run_there(std::string{picture} + "image.save(p, 'a.jpg', {compression = 1})").code(),
            ErrorCode::invalid_parameter);
}

TEST_F(ScriptImages, of_other_kinds_are_refused) {
  EXPECT_EQ(run_there(std::string{picture} + "image.save(p, 'a.gif')").code(),
            ErrorCode::unsupported);
  const Error error = run_there("image.save(buffer{1}, 'a.png')").error();
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.op(), "image.save");
  EXPECT_EQ(run_there("image.load('missing.png')").error().op(), "image.load");
  EXPECT_EQ(run_there("image.load('missing.png')").code(), ErrorCode::not_found);
  std::ofstream{root / "allowed" / "broken.png"} << "no picture";
  EXPECT_TRUE(run_there("image.load('broken.png')").result.has_error());
}

TEST_F(ScriptImages, lie_in_allowed_directories_only) {
  fs::create_symlink(root / "forbidden", root / "allowed" / "way_out");
  fs::create_symlink(root / "forbidden" / "b.png", root / "allowed" / "dangling.png");
  const auto bytes = run_there(std::string{picture} +
                               "image.save(p, 'inner/../ok.png') image.save(p, 'inner/ok.png')");
  EXPECT_EQ(bytes.text(), "");
  fs::copy(root / "allowed" / "ok.png", root / "forbidden" / "there.png");
  fs::create_symlink(root / "forbidden" / "there.png", root / "allowed" / "link.png");
  for (const std::string path :
       {"../forbidden/there.png", "/etc/passwd", "way_out/there.png", "link.png",
        "inner/../../forbidden/there.png", "nowhere/../../forbidden/there.png",
        "../allowed_too/x.png", ".", "..", "/", "dangling.png"}) {
    EXPECT_EQ(run_there("image.load('" + path + "')").code(), ErrorCode::permission_denied) << path;
    if (!path.ends_with(".png")) continue;
    EXPECT_EQ(run_there(std::string{picture} + "image.save(p, '" + path + "')").code(),
              ErrorCode::permission_denied)
        << path;
  }
  EXPECT_FALSE(fs::exists(root / "forbidden" / "b.png"));
  EXPECT_EQ(run_there("image.load('')").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(run_there("image.load('ok.png\\0.txt')").code(), ErrorCode::invalid_argument);
}

TEST_F(ScriptImages, a_missing_file_outside_is_not_told_from_one_that_exists) {
  EXPECT_EQ(run_there("image.load('../forbidden/missing.png')").code(),
            ErrorCode::permission_denied);
}

TEST_F(ScriptImages, are_read_beside_the_script_unless_the_directory_has_them) {
  const auto grey = [](int value) {
    return "image.save(fill{shape = {1, 1, 1}, dtype = 'u8', value = " + std::to_string(value) +
           "}, ";
  };
  fs::create_directories(root / "allowed" / "scripts");
  EXPECT_EQ(run_there(grey(1) + "'scripts/a.png') " + grey(2) + "'scripts/b.png') " + grey(3) +
                      "'b.png')")
                .text(),
            "");
  options.script_directory = root / "allowed" / "scripts";
  const std::string load = "print(read(image.load('a.png'))[1], read(image.load('b.png'))[1])";
  EXPECT_EQ(run_there(load).text(), "1\t3\n");
  options.script_directory = "scripts";  // from the directory
  EXPECT_EQ(run_there(load).text(), "1\t3\n");
  EXPECT_EQ(run_there("image.load('c.png')").error().detail("path"),
            (fs::canonical(root / "allowed") / "c.png").string());
  // What is written begins at the directory.
  EXPECT_EQ(run_there(grey(4) + "'a.png') " + load).text(), "4\t3\n");
}

TEST_F(ScriptImages, beside_the_script_must_be_allowed_too) {
  EXPECT_EQ(run_there(std::string{picture} + "image.save(p, 'inner/a.png')").text(), "");
  fs::copy(root / "allowed" / "inner" / "a.png", root / "forbidden" / "a.png");
  options.script_directory = root / "forbidden";
  EXPECT_EQ(run_there("image.load('a.png')").code(), ErrorCode::not_found);
  options.script_directory = root / "allowed" / "inner";
  EXPECT_EQ(run_there("image.load('../../forbidden/a.png')").code(), ErrorCode::permission_denied);
  EXPECT_EQ(run_there("print(image.load('a.png').size)").text(), "6\n");
}

TEST_F(ScriptImages, need_a_directory_to_be_allowed) {
  EXPECT_EQ(run(std::string{picture} + "image.save(p, 'x.png')").code(),
            ErrorCode::permission_denied);
}

TEST_F(ScriptImages, that_do_not_fit_into_the_budget_are_refused_by_name) {
  EXPECT_EQ(run_there("image.save(fill({shape = {600, 600, 3}, dtype = 'u8'}), 'a.png')").text(),
            "");
  options.limits.buffer_bytes = std::uint64_t{1} << 20;
  const Error error = run_there("image.load('a.png')").error();
  EXPECT_EQ(error.code(), ErrorCode::budget_exceeded);
  EXPECT_EQ(error.detail("budget"), "buffer_bytes");
  EXPECT_EQ(error.detail("requested"), "1080000");
  EXPECT_EQ(error.detail("path"), (fs::canonical(root / "allowed") / "a.png").string());
  // It may be caught, and what became garbage makes room.
  EXPECT_EQ(run_there("print(pcall(image.load, 'a.png') == false)").text(), "true\n");
  options.limits.buffer_bytes = 2'000'000;
  EXPECT_EQ(run_there("for i = 1, 5 do image.load('a.png') end").text(), "");
}

TEST_F(ScriptImages, have_names_of_a_length_that_the_system_knows) {
  EXPECT_EQ(run_there("image.load(('a/'):rep(1 << 20))").code(), ErrorCode::invalid_argument);
}

TEST_F(ScriptImages, a_save_that_fails_leaves_the_old_file) {
  EXPECT_EQ(run_there(std::string{picture} + "image.save(p, 'a.png')").text(), "");
  EXPECT_TRUE(run_there("image.save(fill({shape = {2, 2, 2}}), 'a.png')").result.has_error());
  EXPECT_EQ(run_there("print(image.load('a.png').size)").text(), "6\n");
}

TEST_F(ScriptImages, the_main_job_gives_the_edges_of_a_photo) {
  fs::copy(checkout_folder() / "examples" / "data" / "china.jpg", root / "allowed" / "china.jpg");
  const ScriptSource source =
      ScriptSource::from_file(checkout_folder() / "examples" / "scripts" / "edges.lua");
  options.args = {{"input", "china.jpg"}, {"output", "edges.png"}};
  const Outcome outcome = run_there(source.text);
  EXPECT_NE(outcome.text().find("u8[427,640,1]"), std::string::npos);
  ASSERT_EQ(outcome.seen->saved.size(), 1U);
  EXPECT_TRUE(fs::exists(root / "allowed" / "edges.png"));
}

}  // namespace
}  // namespace stoker
