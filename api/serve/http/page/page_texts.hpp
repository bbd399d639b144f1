// The sources of the page, as the build has put them into the program.
//
// Constants; any thread.
#pragma once

#include <string_view>

namespace stoker::serve::http {

extern const std::string_view page_html;  ///< with places for the others, and for what changes
extern const std::string_view page_css;
extern const std::string_view page_js;

}  // namespace stoker::serve::http
