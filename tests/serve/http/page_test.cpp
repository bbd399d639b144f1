// The page of a service for people.
#include <array>

#include "stoker/api/serve/http/page/html_text.hpp"
#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

using serve::http::filled;
using serve::http::html_text;

TEST(TextsInHtml, are_nothing_but_text) {
  EXPECT_EQ(html_text("a < b & \"c\" > 'd'"), "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
}

TEST(TextsInHtml, fill_the_places_of_a_form) {
  using Value = std::pair<std::string_view, std::string_view>;
  const std::array values{Value{"a", "1"}, Value{"b", "{{a}}"}};
  EXPECT_EQ(filled("<{{a}}|{{b}}|{{c}}|{{a}}>", values), "<1|{{a}}||1>");
  EXPECT_EQ(filled("no end: {{a", values), "no end: {{a");
}

class PageOverHttp : public HttpHouse {
 protected:
  static HttpAnswer page_of(const HttpService& from, const std::string& target = "/") {
    return *from.answer({.method = "GET", .target = target}).get();
  }
  /// Whether it stands in the part that a script renews.
  static bool shows(const HttpAnswer& page, const std::string& text) {
    const std::size_t begin = page.body.find("<div id=\"live\">");
    const std::size_t end = page.body.find("<section id=\"try\"");
    return page.body.substr(begin, end - begin).find(text) != std::string::npos;
  }
};

TEST_F(PageOverHttp, shows_models_with_state_and_signature) {
  models->announce("late");
  const HttpAnswer page = page_of(service);
  EXPECT_EQ(page.status, 200U);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_TRUE(shows(page, "<th scope=\"row\">line</th>"));
  EXPECT_TRUE(shows(page, "<span class=\"ready\">ready</span>"));
  EXPECT_TRUE(shows(page, "<code>rows: float["));
  EXPECT_TRUE(shows(page, "<th scope=\"row\">late</th>"));
  EXPECT_TRUE(shows(page, "<span class=\"away\">it is being loaded</span>"));
  held.stop().get();
  EXPECT_TRUE(shows(page_of(service), "<span class=\"away\">it has ended</span>"));
}

TEST_F(PageOverHttp, shows_what_its_models_do) {
  const HttpAnswerPtr answer =
      service.answer({.method = "POST", .target = "/v2/models/line/infer", .body = rows(1, 2)})
          .get();
  EXPECT_EQ(answer->status, 200U);
  const HttpAnswer page = page_of(service);
  EXPECT_TRUE(shows(page, "<td data-label=\"Answered\" class=\"number\">1</td>"));
  EXPECT_TRUE(shows(page, "<td data-label=\"Rows a batch\" class=\"number\">1.0</td>"));
  EXPECT_TRUE(shows(page, "<td data-label=\"Waiting\" class=\"number\">0</td>"));
}

TEST_F(PageOverHttp, takes_names_of_models_for_text) {
  models->announce("<script>alert('x')</script>");
  const HttpAnswer page = page_of(service);
  EXPECT_FALSE(shows(page, "<script"));
  EXPECT_TRUE(shows(page, "data-model=\"&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;\""));
}

TEST_F(PageOverHttp, lets_nothing_but_its_own_parts_run) {
  const HttpAnswer page = page_of(service);
  const std::string policy{page.header("Content-Security-Policy")};
  const std::size_t at = policy.find("script-src 'nonce-") + 18;
  const std::string nonce = policy.substr(at, policy.find('\'', at) - at);
  EXPECT_EQ(nonce.size(), 32U);
  EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'nonce-" + nonce +
                                 "'; style-src 'nonce-" + nonce + "'; connect-src 'self';"))
      << policy;
  EXPECT_NE(page.body.find("<script nonce=\"" + nonce + "\">"), std::string::npos);
  EXPECT_NE(page.body.find("<style nonce=\"" + nonce + "\">"), std::string::npos);
  EXPECT_EQ(page.body.find("{{"), std::string::npos);
  for (const char* from_elsewhere : {"src=", "http:", "https:", "@import", "url("})
    EXPECT_EQ(page.body.find(from_elsewhere), std::string::npos) << from_elsewhere;
  EXPECT_NE(page_of(service).header("Content-Security-Policy"), policy);
}

TEST_F(PageOverHttp, knows_the_prefix_of_its_service) {
  const HttpService below{system, models, {.prefix = "/ml"}};
  for (const char* target : {"/ml", "/ml/"}) {
    const HttpAnswer page = page_of(below, target);
    EXPECT_EQ(page.status, 200U);
    EXPECT_NE(page.body.find("<body data-base=\"/ml\">"), std::string::npos);
  }
  EXPECT_EQ(page_of(below).status, 404U);
  const HttpService bare{system, models, {.page = false}};
  EXPECT_EQ(page_of(bare).status, 404U);
  EXPECT_EQ(service.answer({.method = "POST", .target = "/"}).get()->status, 405U);
}

}  // namespace
}  // namespace stoker
