#include "stoker/api/serve/http/page/page_texts.hpp"

namespace stoker::serve::http {

constexpr std::string_view page_html =
#include "stoker/api/serve/http/page/page.html.inc"
    ;
constexpr std::string_view page_css =
#include "stoker/api/serve/http/page/page.css.inc"
    ;
constexpr std::string_view page_js =
#include "stoker/api/serve/http/page/page.js.inc"
    ;

}  // namespace stoker::serve::http
