// What names mean: a fixed list of makers, each with the options that it takes.
//
//     using Table = NamedTable<Activation>;
//     static const Table table{"activation", {Table::entry<activations::Elu>("x, or …", make_elu), …}};
//     Activation elu = table.make("elu(alpha=0.5)");
//
// Immutable after construction; any thread. Errors are thrown: not_found for an unknown name, with the
// nearest known one; invalid_parameter for an option that it does not have, or that has another type or
// is out of range.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/nn/graph/options.hpp"
#include "stoker/kernels/params.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::nn {

template <class Made> class NamedTable {
 public:
  struct Entry {
    NamedKind kind;
    std::function<Made(const ParamSet&)> make;
  };
  /// Of the struct of options O (options.hpp), which `make` takes.
  template <class O> static Entry entry(const char* summary, std::function<Made(const O&)> make) {
    return {
        {O::kind, summary, options::specs<O>()},
        [make = std::move(make)](const ParamSet& given) { return make(options::from<O>(given)); }};
  }

  /// `kind` says in errors what the entries are: "activation".
  NamedTable(std::string kind, std::vector<Entry> entries)
      : kind_{std::move(kind)}, entries_{std::move(entries)} {}

  [[nodiscard]] Made make(const Named& wanted) const {
    const Entry& entry = find(wanted.name);
    return entry.make(
        ParamSet::resolve(entry.kind.name, entry.kind.options, wanted.options).value());
  }
  /// Throws as make() does, and makes nothing.
  void check(const Named& wanted) const {
    const Entry& entry = find(wanted.name);
    (void)ParamSet::resolve(entry.kind.name, entry.kind.options, wanted.options).value();
  }
  [[nodiscard]] const Entry& find(std::string_view name) const {
    for (const Entry& entry : entries_)
      if (entry.kind.name == name) return entry;
    std::vector<std::string_view> known;
    for (const Entry& entry : entries_) known.push_back(entry.kind.name);
    throw Error{kind_,
                ErrorCode::not_found,
                "there is no " + kind_ + " '" + std::string{name} + "'" + did_you_mean(name, known),
                {{"name", std::string{name}}}};
  }
  /// All, in order.
  [[nodiscard]] std::vector<NamedKind> kinds() const {
    std::vector<NamedKind> all;
    for (const Entry& entry : entries_) all.push_back(entry.kind);
    return all;
  }

 private:
  std::string kind_;
  std::vector<Entry> entries_;
};

}  // namespace stoker::nn
