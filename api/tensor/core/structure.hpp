// Structures: values that contain tensors, which traced functions may take and return.
//
// A structure is a Tensor, a std::vector, std::array, std::pair, std::tuple or std::map of
// structures, or a user type with a `visit_tensors(T&, visitor)`, found by argument-dependent
// lookup, that calls the visitor with each member that is a structure. Other members of such a type
// are ignored: a traced function keeps their values from its first call.
//
// Pure templates; any thread.
#pragma once

#include <array>
#include <charconv>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// An elementwise function, like exp and relu. jit() and similar functions accept one by its name,
/// even if the name is overloaded: stoker::nn also has functions that name activations.
///
/// This is a class, not a function pointer: testing whether a generic lambda converts to a pointer
/// would compile its body for a TensorLike.
class ElementFunction {
 public:
  ElementFunction(Tensor (*function)(const TensorLike& x))  // NOLINT(google-explicit-constructor)
      : function_{function} {}
  [[nodiscard]] Tensor operator()(const TensorLike& x) const { return function_(x); }

 private:
  Tensor (*function_)(const TensorLike& x);
};

}  // namespace stoker

namespace stoker::detail {

/// `visit` calls a visitor with each tensor, in order. `describe` writes what distinguishes values
/// of the type apart from their tensors: lengths, and the keys of maps.
template <class T> struct Structure {
  template <class V> static void visit(T& value, V& visitor) {
    visit_tensors(value, [&](auto& member) {
      Structure<std::remove_cvref_t<decltype(member)>>::visit(member, visitor);
    });
  }
  static void describe(T& value, std::string& text) {
    visit_tensors(value, [&](auto& member) {
      Structure<std::remove_cvref_t<decltype(member)>>::describe(member, text);
    });
  }
};

template <> struct Structure<Tensor> {
  template <class V> static void visit(Tensor& value, V& visitor) { visitor(value); }
  static void describe(Tensor&, std::string&) {}
};

template <class List> struct StructureList {
  template <class V> static void visit(List& list, V& visitor) {
    for (auto& one : list) Structure<typename List::value_type>::visit(one, visitor);
  }
  static void describe(List& list, std::string& text) {
    text += '[' + std::to_string(list.size()) + ']';
    for (auto& one : list) Structure<typename List::value_type>::describe(one, text);
  }
};
template <class T> struct Structure<std::vector<T>> : StructureList<std::vector<T>> {};
template <class T, std::size_t N>
struct Structure<std::array<T, N>> : StructureList<std::array<T, N>> {};

template <class K, class T, class C> struct Structure<std::map<K, T, C>> {
  template <class V> static void visit(std::map<K, T, C>& map, V& visitor) {
    for (auto& [key, one] : map) Structure<T>::visit(one, visitor);
  }
  static void describe(std::map<K, T, C>& map, std::string& text) {
    text += '{' + std::to_string(map.size()) + '}';
    for (auto& [key, one] : map) {
      std::string name;
      if constexpr (std::is_floating_point_v<K>) {
        std::array<char, 64> digits{};  // the fewest that tell it from all others
        name.assign(digits.data(),
                    std::to_chars(digits.data(), digits.data() + digits.size(), key).ptr);
      } else if constexpr (std::is_arithmetic_v<K>) {
        name = std::to_string(key);
      } else {
        name = key;
      }
      text += std::to_string(name.size()) + ':' + name;
      Structure<T>::describe(one, text);
    }
  }
};

template <class... Ts> struct Structure<std::tuple<Ts...>> {
  template <class V> static void visit(std::tuple<Ts...>& tuple, V& visitor) {
    std::apply([&](Ts&... one) { (Structure<Ts>::visit(one, visitor), ...); }, tuple);
  }
  static void describe(std::tuple<Ts...>& tuple, std::string& text) {
    std::apply([&](Ts&... one) { (Structure<Ts>::describe(one, text), ...); }, tuple);
  }
};
template <class A, class B> struct Structure<std::pair<A, B>> {
  template <class V> static void visit(std::pair<A, B>& pair, V& visitor) {
    Structure<A>::visit(pair.first, visitor);
    Structure<B>::visit(pair.second, visitor);
  }
  static void describe(std::pair<A, B>& pair, std::string& text) {
    Structure<A>::describe(pair.first, text);
    Structure<B>::describe(pair.second, text);
  }
};

/// The tensors inside all `values`, in order.
template <class... Ts> [[nodiscard]] std::vector<Tensor> tensors_of(const Ts&... values) {
  std::vector<Tensor> found;
  auto collect = [&](Tensor& tensor) { found.push_back(tensor); };
  // Visitors take what may be changed, for with_tensors(); this one only reads.
  (Structure<Ts>::visit(const_cast<Ts&>(values), collect), ...);
  return found;
}

/// The descriptions of all `values`: equal if they differ only in their tensors.
template <class... Ts> [[nodiscard]] std::string description_of(const Ts&... values) {
  std::string text;
  (Structure<Ts>::describe(const_cast<Ts&>(values), text), ...);
  return text;
}

/// The same structure around other tensors.
template <class T> [[nodiscard]] T with_tensors(T value, std::span<const Tensor> tensors) {
  std::size_t next = 0;
  auto replace = [&](Tensor& tensor) { tensor = tensors[next++]; };
  Structure<T>::visit(value, replace);
  return value;
}

}  // namespace stoker::detail
