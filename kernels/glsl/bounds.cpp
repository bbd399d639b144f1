#include "stoker/kernels/glsl/bounds.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stoker/kernels/glsl/tokens.hpp"
#include "stoker/kernels/shader/spirv_module.hpp"

namespace stoker::glsl {
namespace {

using Tokens = std::vector<Token>;

/// What becomes of tokens when their macros are put in their places.
struct Extent {
  std::size_t tokens = 0;
  std::size_t nested = 0;     // accessors within arguments of others
  bool has_accessor = false;  // may then take what follows as its argument
};

Error limit_error(const Source& source, std::string reason, std::size_t most) {
  return {source.op,
          ErrorCode::limit_exceeded,
          std::move(reason) + std::to_string(most),
          {{"limit", std::to_string(most)}}};
}

class Expansion {
 public:
  explicit Expansion(const Source& source) : source_{source} {
    // The preamble's macros with arguments are accessors; the others are a few tokens each.
    const Tokens preamble = tokens_of(source.preamble);
    for (std::size_t i = 0; i + 3 < preamble.size(); ++i)
      if (is_define(preamble, i) && preamble[i + 3].text == "(")
        accessors_.insert(preamble[i + 2].text);
  }

  Result<void> check() {
    const Tokens all = tokens_of(source_.body);
    for (const Token& token : all)
      if (token.text.starts_with('"') && token.text.find('\\') != std::string::npos)
        return refuse(token, "a `\\` in quotes");  // where the quotes end depends on it
    Tokens text;
    for (std::size_t i = 0; i < all.size();) {
      const std::size_t begin = i++;
      while (i < all.size() && !all[i].begins_line) ++i;
      const std::span<const Token> line{all.data() + begin, i - begin};
      if (is_define(all, begin) && line.size() > 2)
        STOKER_TRY(define(line));
      else
        text.insert(text.end(), line.begin(), line.end());
    }
    STOKER_ASSIGN(const Extent extent, extent_of(text, false));
    if (extent.tokens > most_tokens)
      return limit_error(
          source_, "its GLSL, with its macros in their places, has more words and signs than ",
          most_tokens);
    if (extent.nested > most_nested_accessors)
      return limit_error(source_,
                         "its GLSL nests accessors in the arguments of others deeper than ",
                         most_nested_accessors);
    return {};
  }

 private:
  struct Macro {
    std::vector<Tokens> bodies;  // one for each definition
    Extent extent = {};
    enum : std::uint8_t { unknown, asked, known } state = unknown;
  };

  static bool is_define(const Tokens& tokens, std::size_t at) {
    return tokens[at].begins_line && tokens[at].text == "#" && at + 1 < tokens.size() &&
           !tokens[at + 1].begins_line && tokens[at + 1].text == "define";
  }

  Result<void> define(std::span<const Token> line) {
    if (line.size() > 3 && line[3].text == "(" && !line[3].follows_space)
      return refuse(line[2], "a macro with arguments; write a function");
    Tokens body{line.begin() + 3, line.end()};
    for (std::size_t i = 1; i < body.size(); ++i)
      if (body[i - 1].text == "#" && body[i].text == "#")
        return refuse(body[i], "a macro with `##`");
    macros_[line[2].text].bodies.push_back(std::move(body));
    return {};
  }

  Result<Extent> extent_of_macro(const Token& name, Macro& macro) {
    if (macro.state == Macro::asked) return refuse(name, "a macro that names itself");
    if (macro.state == Macro::unknown) {
      macro.state = Macro::asked;
      for (const Tokens& body : macro.bodies) {
        STOKER_ASSIGN(const Extent one, extent_of(body, true));
        macro.extent.tokens = std::max(macro.extent.tokens, one.tokens);
        macro.extent.nested = std::max(macro.extent.nested, one.nested);
        macro.extent.has_accessor |= one.has_accessor;
      }
      macro.state = Macro::known;
    }
    return macro.extent;
  }

  Result<Extent> extent_of(const Tokens& tokens, bool is_body) {
    Extent whole;
    std::vector<bool> open;  // parentheses: whether of an accessor's arguments
    std::size_t depth = 0;
    bool callable = false;
    for (const Token& token : tokens) {
      Extent one{1};
      if (token.text == "(") {
        open.push_back(callable);
        depth += callable ? 1 : 0;
      } else if (token.text == ")") {
        if (open.empty() && is_body) return refuse(token, "a macro with a ')' too many");
        if (!open.empty()) {
          depth -= open.back() ? 1 : 0;
          open.pop_back();
        }
      } else if (const auto macro = macros_.find(token.text); macro != macros_.end()) {
        STOKER_ASSIGN(one, extent_of_macro(token, macro->second));
      }
      one.has_accessor |= accessors_.contains(token.text);
      callable = one.has_accessor;
      whole.tokens = std::min(whole.tokens + one.tokens, most_tokens + 1);
      whole.nested = std::max(whole.nested, depth + one.nested);
      whole.has_accessor |= one.has_accessor;
    }
    if (is_body && !open.empty()) return refuse(tokens.back(), "a macro with a '(' too many");
    return whole;
  }

  [[nodiscard]] Error refuse(const Token& where, const std::string& what) const {
    const std::string line = std::to_string(where.line);
    const std::string message = "this text may not have " + what;
    return {source_.op,
            ErrorCode::compile_failed,
            source_.file + ":" + line + ": " + message,
            {{"file", source_.file}, {"line", line}, {"message", message}}};
  }
  const Source& source_;
  std::set<std::string, std::less<>> accessors_;
  std::map<std::string, Macro, std::less<>> macros_;
};

/// What a module's functions have once those that they call are in their place.
class Inlined {
 public:
  struct Counts {
    std::size_t calls = 0;
    std::size_t loops = 0;
  };

  explicit Inlined(std::span<const std::uint32_t> words) {
    constexpr std::uint32_t op_function = 54, op_function_call = 57, op_loop_merge = 246;
    Function* function = nullptr;
    for_each_instruction(words, [&](std::span<const std::uint32_t> instruction) {
      const std::uint32_t op = spirv_op(instruction);
      if (op == op_function && instruction.size() > 2) function = &functions_[instruction[2]];
      if (function == nullptr) return;
      if (op == op_loop_merge) ++function->loops;
      if (op == op_function_call && instruction.size() > 3)
        function->called.push_back(instruction[3]);
    });
  }

  /// Of each what the function has that has most.
  [[nodiscard]] Counts most() {
    Counts most;
    for (const auto& [id, function] : functions_) {
      const Counts counts = of(id);
      most = {std::max(most.calls, counts.calls), std::max(most.loops, counts.loops)};
    }
    return most;
  }

 private:
  struct Function {
    std::vector<std::uint32_t> called = {};
    std::size_t loops = 0;
  };

  Counts of(std::uint32_t id) {
    if (const auto known = counts_.find(id); known != counts_.end()) return known->second;
    counts_[id] = {};  // GLSL has no recursion
    Counts total{0, functions_[id].loops};
    for (const std::uint32_t callee : functions_[id].called) {
      const Counts counts = of(callee);
      total.calls = std::min(total.calls + 1 + counts.calls, most_calls + 1);
      total.loops = std::min(total.loops + counts.loops, most_loops + 1);
    }
    return counts_[id] = total;
  }

  std::map<std::uint32_t, Function> functions_;
  std::map<std::uint32_t, Counts> counts_;
};

}  // namespace

Result<void> check_text(const Source& source) { return Expansion{source}.check(); }

Result<void> check_module(const Source& source, std::span<const std::uint32_t> words) {
  const Inlined::Counts counts = Inlined{words}.most();
  if (counts.calls > most_calls)
    return limit_error(source, "its GLSL has more calls, those within calls included, than ",
                       most_calls);
  if (counts.loops > most_loops)
    return limit_error(source, "its GLSL has more loops, those within calls included, than ",
                       most_loops);
  return {};
}

}  // namespace stoker::glsl
