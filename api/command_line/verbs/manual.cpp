// `stoker man` and `stoker completion`: the manual page and bash's completion, made from the same definitions
// as --help. Both verbs are hidden; cmake/install.cmake installs what they print.
#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/version.hpp"

namespace stoker::command_line {
namespace {

/// Those that --help lists.
std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app, bool positional) {
  return app.get_options([positional](const CLI::Option* option) {
    return !option->get_group().empty() && option->get_positional() == positional;
  });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// The text as troff shows it letter by letter.
std::string roff(std::string_view text) {
  std::string shown;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\'')) shown += "\\&";
    if (c == '\\')
      shown += "\\e";
    else if (c == '-')
      shown += "\\-";
    else
      shown += c;
    starts_line = c == '\n';
  }
  return shown;
}

/// Lines as they are, with their indentation.
void print_lines(std::ostream& out, std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  if (!text.empty()) out << ".PP\n.nf\n" << roff(text) << "\n.fi\n";
}

void print_option(std::ostream& out, const CLI::Option& option) {
  out << ".TP\n";
  if (option.get_positional()) {
    out << "\\fI" << roff(option.get_name(true)) << "\\fR";
  } else {
    bool is_first = true;
    const auto print_name = [&](const std::string& name) {
      out << (is_first ? "" : ", ") << "\\fB" << roff(name) << "\\fR";
      is_first = false;
    };
    for (const std::string& name : option.get_snames()) print_name("-" + name);
    for (const std::string& name : option.get_lnames()) print_name("--" + name);
    if (takes_value(option)) out << " \\fI" << roff(option.get_type_name()) << "\\fR";
  }
  out << '\n' << roff(option.get_description()) << '\n';
}

/// With the verbs below it, as `name` and theirs.
void print_verb(std::ostream& out, const CLI::App& verb, const std::string& name) {
  out << ".SS \"" << roff(name) << "\"\n" << roff(verb.get_description()) << ".\n";
  for (const bool positional : {true, false})
    for (const CLI::Option* option : options_of(verb, positional)) print_option(out, *option);
  print_lines(out, verb.get_footer());
  for (const CLI::App* below : verbs_of(verb))
    print_verb(out, *below, name + ' ' + below->get_name());
}

std::string man_page(const CLI::App& app) {
  std::ostringstream out;
  out << ".TH STOKER 1 \"\" \"stoker " << version << "\"\n"
      << ".SH NAME\nstoker \\- run kernels, pipelines and scripts on GPUs and CPUs\n"
      << ".SH SYNOPSIS\n\\fBstoker\\fR \\fIVERB\\fR [\\fIARGUMENTS\\fR]\n"
      << ".SH DESCRIPTION\n"
      << roff(app.get_description()) << '\n';
  for (const CLI::Option* option : options_of(app, false)) print_option(out, *option);
  out << ".SH VERBS\n";
  for (const CLI::App* verb : verbs_of(app)) print_verb(out, *verb, "stoker " + verb->get_name());
  out << ".SH \"EXAMPLES, EXIT CODES, ENVIRONMENT\"\n";
  print_lines(out, app.get_footer());
  return out.str();
}

/// All names of the options, in one line; with `only_values` of those that a value follows.
std::string option_names(const CLI::App& app, bool only_values, std::string_view separator) {
  std::string names;
  const auto add = [&](const std::string& name) {
    if (!names.empty()) names += separator;
    names += name;
  };
  for (const CLI::Option* option : options_of(app, false)) {
    if (only_values && !takes_value(*option)) continue;
    for (const std::string& name : option->get_snames()) add("-" + name);
    for (const std::string& name : option->get_lnames()) add("--" + name);
  }
  return names;
}

std::string names_of(const std::vector<const CLI::App*>& verbs) {
  std::string names;
  for (const CLI::App* verb : verbs) names += (names.empty() ? "" : " ") + verb->get_name();
  return names;
}

/// What is offered behind a verb at place `depth` of the words: the verbs below it, or its options.
void print_offers(std::ostream& out, const CLI::App& verb, int depth) {
  const std::string indent(static_cast<std::size_t>(4 + 2 * depth), ' ');
  if (const auto below = verbs_of(verb); !below.empty()) {
    const std::string next = std::to_string(depth + 1);
    out << indent << "if ((COMP_CWORD == " << next << ")); then\n"
        << indent << "  mapfile -t COMPREPLY < <(compgen -W '" << names_of(below)
        << "' -- \"$word\")\n"
        << indent << "  return\n"
        << indent << "fi\n"
        << indent << "case ${COMP_WORDS[" << next << "]} in\n";
    for (const CLI::App* one : below) {
      out << indent << one->get_name() << ")\n";
      print_offers(out, *one, depth + 1);
    }
    out << indent << "esac ;;\n";
    return;
  }
  if (const std::string taking = option_names(verb, true, " | "); !taking.empty())
    out << indent << "case $before in " << taking << ") return ;; esac\n";
  out << indent << "options='" << option_names(verb, false, " ") << "' ;;\n";
}

/// Where the script offers nothing, after an option with a value and for other words, bash offers files.
std::string bash_completion(const CLI::App& app) {
  std::ostringstream out;
  out << "# bash completion for stoker " << version << "\n_stoker() {\n"
      << "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verbs='"
      << names_of(verbs_of(app)) << "' options=''\n  COMPREPLY=()\n  if ((COMP_CWORD == 1)); then\n"
      << "    mapfile -t COMPREPLY < <(compgen -W \"$verbs " << option_names(app, false, " ")
      << "\" -- \"$word\")\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const CLI::App* verb : verbs_of(app)) {
    out << "    " << verb->get_name() << ")\n";
    print_offers(out, *verb, 1);
  }
  out << "  esac\n  if [[ $word == -* ]]; then\n"
      << "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n  fi\n}\n"
      << "complete -o default -F _stoker stoker\n";
  return out.str();
}

void add_hidden(CLI::App& app, Choice& choice, const std::string& name,
                const std::string& description, std::string (*text)(const CLI::App&)) {
  auto* verb = app.add_subcommand(name, description)->group("");
  verb->callback([&app, &choice, text] {
    choice.run = [&app, text] {
      std::cout << text(app);
      return ok;
    };
  });
}

}  // namespace

void add_manual(CLI::App& app, Choice& choice) {
  add_hidden(app, choice, "man", "Print the manual page", &man_page);
  add_hidden(app, choice, "completion", "Print bash's completion", &bash_completion);
}

}  // namespace stoker::command_line
