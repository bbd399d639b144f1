// Converts structures of tensors to bytes and back, exactly: to store them, or to send them to
// another process.
//
//     const std::vector<std::byte> bytes = serialize(std::pair{weights, step});
//     const auto [w, s] = deserialize<std::pair<std::map<std::string, Tensor>, Tensor>>(bytes);
//
// The bytes are a safetensors file (safetensors.hpp). Tensors are named "0", "1", … in the order of
// the structure; the metadata holds its layout: lengths of lists, keys of maps. Any safetensors
// reader can read the tensors.
//
// For structures see structure.hpp. Map keys must be strings or integers; user types must be
// default-constructible for deserialize().
//
// Threads: any. Both functions block: do not call them on a host's event loop. Deserialized tensors
// live on current_device(). Errors are thrown: io_error for damaged bytes, invalid_argument if they
// hold another structure or a tensor is empty. Input is not trusted.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/tensor/core/structure.hpp"

namespace stoker {
namespace detail {

/// The layout of a structure, without its tensors.
struct Layout {
  enum class Kind : std::uint8_t { tensor, list, map };
  Kind kind = Kind::tensor;
  std::vector<std::string> keys;  ///< for a map, one for each part
  std::vector<Layout> parts;      ///< for a list or a map
};

[[noreturn]] void refuse_structure(std::string_view expected);
/// Throws invalid_argument unless `layout` is a list of `length` parts.
void expect_list(const Layout& layout, std::size_t length);
void expect_kind(const Layout& layout, Layout::Kind kind);

[[nodiscard]] std::vector<std::byte> write_structure(const Layout& layout,
                                                     const std::vector<Tensor>& tensors);
struct ReadStructure {
  Layout layout;
  std::vector<Tensor> tensors;  ///< as many as the layout has
};
[[nodiscard]] ReadStructure read_structure(std::span<const std::byte> bytes);

/// The layout of type T: `of` reads it from a value, `apply` resizes a value to match it.
template <class T> struct LayoutOf {
  static Layout of(T& value) {
    Layout layout{Layout::Kind::list, {}, {}};
    visit_tensors(value, [&](auto& member) {
      layout.parts.push_back(LayoutOf<std::remove_cvref_t<decltype(member)>>::of(member));
    });
    return layout;
  }
  static void apply(T& value, const Layout& layout) {
    std::size_t next = 0;
    expect_kind(layout, Layout::Kind::list);
    visit_tensors(value, [&](auto& member) {
      if (next == layout.parts.size()) refuse_structure("more members");
      LayoutOf<std::remove_cvref_t<decltype(member)>>::apply(member, layout.parts[next++]);
    });
    expect_list(layout, next);
  }
};

template <> struct LayoutOf<Tensor> {
  static Layout of(Tensor&) { return {}; }
  static void apply(Tensor&, const Layout& layout) { expect_kind(layout, Layout::Kind::tensor); }
};

template <class List> struct LayoutOfList {
  using Item = LayoutOf<typename List::value_type>;
  static Layout of(List& list) {
    Layout layout{Layout::Kind::list, {}, {}};
    for (auto& one : list) layout.parts.push_back(Item::of(one));
    return layout;
  }
  static void apply(List& list, const Layout& layout) {
    expect_kind(layout, Layout::Kind::list);
    if constexpr (requires { list.resize(std::size_t{}); }) list.resize(layout.parts.size());
    expect_list(layout, list.size());
    for (std::size_t i = 0; i < list.size(); ++i) Item::apply(list[i], layout.parts[i]);
  }
};
template <class T> struct LayoutOf<std::vector<T>> : LayoutOfList<std::vector<T>> {};
template <class T, std::size_t N>
struct LayoutOf<std::array<T, N>> : LayoutOfList<std::array<T, N>> {};

template <class Key> [[nodiscard]] std::string text_of_key(const Key& key) {
  if constexpr (std::is_convertible_v<const Key&, std::string>) {
    return key;
  } else {
    static_assert(std::integral<Key>, "keys of maps are strings or integers");
    return std::to_string(key);
  }
}
template <class Key> [[nodiscard]] Key key_of_text(const std::string& text) {
  if constexpr (std::is_convertible_v<std::string, Key>) {
    return text;
  } else {
    Key key{};
    const char* const end = text.data() + text.size();
    const auto [at, failure] = std::from_chars(text.data(), end, key);
    if (at != end || failure != std::errc{}) refuse_structure("integers as keys");
    return key;
  }
}

template <class K, class T, class C> struct LayoutOf<std::map<K, T, C>> {
  static Layout of(std::map<K, T, C>& map) {
    Layout layout{Layout::Kind::map, {}, {}};
    for (auto& [key, one] : map) {
      layout.keys.push_back(text_of_key(key));
      layout.parts.push_back(LayoutOf<T>::of(one));
    }
    return layout;
  }
  static void apply(std::map<K, T, C>& map, const Layout& layout) {
    expect_kind(layout, Layout::Kind::map);
    map.clear();
    for (std::size_t i = 0; i < layout.parts.size(); ++i) {
      const auto place = map.emplace_hint(map.end(), key_of_text<K>(layout.keys[i]), T{});
      // Tensors lie in the order of the keys, so keys that are not in order belong to another type.
      if (map.size() != i + 1 || std::next(place) != map.end()) refuse_structure("keys in order");
      LayoutOf<T>::apply(place->second, layout.parts[i]);
    }
  }
};

template <class... Ts> struct LayoutOf<std::tuple<Ts...>> {
  static Layout of(std::tuple<Ts...>& tuple) {
    Layout layout{Layout::Kind::list, {}, {}};
    std::apply([&](Ts&... one) { (layout.parts.push_back(LayoutOf<Ts>::of(one)), ...); }, tuple);
    return layout;
  }
  static void apply(std::tuple<Ts...>& tuple, const Layout& layout) {
    expect_list(layout, sizeof...(Ts));
    std::size_t next = 0;
    std::apply([&](Ts&... one) { (LayoutOf<Ts>::apply(one, layout.parts[next++]), ...); }, tuple);
  }
};
template <class A, class B> struct LayoutOf<std::pair<A, B>> {
  static Layout of(std::pair<A, B>& pair) {
    return {Layout::Kind::list, {}, {LayoutOf<A>::of(pair.first), LayoutOf<B>::of(pair.second)}};
  }
  static void apply(std::pair<A, B>& pair, const Layout& layout) {
    expect_list(layout, 2);
    LayoutOf<A>::apply(pair.first, layout.parts[0]);
    LayoutOf<B>::apply(pair.second, layout.parts[1]);
  }
};

}  // namespace detail

template <class T> [[nodiscard]] std::vector<std::byte> serialize(const T& structure) {
  T copy = structure;  // handles; visitors take what may be changed
  return detail::write_structure(detail::LayoutOf<T>::of(copy), detail::tensors_of(copy));
}

template <class T> [[nodiscard]] T deserialize(std::span<const std::byte> bytes) {
  const detail::ReadStructure read = detail::read_structure(bytes);
  T structure{};
  detail::LayoutOf<T>::apply(structure, read.layout);
  return detail::with_tensors(std::move(structure), std::span<const Tensor>{read.tensors});
}

}  // namespace stoker
