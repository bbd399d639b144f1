#include "stoker/runtime/base/printable.hpp"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Printable, leaves_text_as_it_is) {
  for (const std::string_view text : {"", "two\nlines\tand a tab", "größer 日本 🙂"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, shows_what_a_terminal_would_obey) {
  EXPECT_EQ(printable("\033[31mred\033[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable("over\rwritten\b\a\x7f"), "over\\x0dwritten\\x08\\x07\\x7f");
  EXPECT_EQ(printable(std::string_view{"a\0b", 3}), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // CSI of C1
}

TEST(Printable, shows_bytes_that_are_no_character) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // too long for its character
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half a surrogate pair
  EXPECT_EQ(printable("\xf0\x9f\x99"), "\\xf0\\x9f\\x99");  // ends too early
}

}  // namespace
}  // namespace stoker
