// Values with tensors inside: what functions may take and return.
//
// A structure is a Tensor, a std::vector, std::array, std::pair, std::tuple or std::map of structures,
// or a type of the program's for which `visit_tensors(T&, visitor)` is found by argument-dependent
// lookup and calls the visitor with each member that is one.
//
// Pure templates; any thread.
#pragma once

#include <array>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "stoker/api/tensor/tensor.hpp"

namespace stoker::detail {

template <class T> struct Structure {
  template <class V> static void visit(T& value, V& visitor) {
    visit_tensors(value, [&](auto& member) {
      Structure<std::remove_cvref_t<decltype(member)>>::visit(member, visitor);
    });
  }
};

template <> struct Structure<Tensor> {
  template <class V> static void visit(Tensor& value, V& visitor) { visitor(value); }
};

template <class List> struct StructureList {
  template <class V> static void visit(List& list, V& visitor) {
    for (auto& one : list) Structure<typename List::value_type>::visit(one, visitor);
  }
};
template <class T> struct Structure<std::vector<T>> : StructureList<std::vector<T>> {};
template <class T, std::size_t N>
struct Structure<std::array<T, N>> : StructureList<std::array<T, N>> {};

template <class K, class T> struct Structure<std::map<K, T>> {
  template <class V> static void visit(std::map<K, T>& map, V& visitor) {
    for (auto& [key, one] : map) Structure<T>::visit(one, visitor);
  }
};

template <class... Ts> struct Structure<std::tuple<Ts...>> {
  template <class V> static void visit(std::tuple<Ts...>& tuple, V& visitor) {
    std::apply([&](Ts&... one) { (Structure<Ts>::visit(one, visitor), ...); }, tuple);
  }
};
template <class A, class B> struct Structure<std::pair<A, B>> {
  template <class V> static void visit(std::pair<A, B>& pair, V& visitor) {
    Structure<A>::visit(pair.first, visitor);
    Structure<B>::visit(pair.second, visitor);
  }
};

/// The tensors inside, in order.
template <class T> [[nodiscard]] std::vector<Tensor> tensors_of(const T& value) {
  std::vector<Tensor> found;
  auto collect = [&](Tensor& tensor) { found.push_back(tensor); };
  T copy = value;
  Structure<T>::visit(copy, collect);
  return found;
}

/// The same structure around other tensors.
template <class T> [[nodiscard]] T with_tensors(T value, std::span<const Tensor> tensors) {
  std::size_t next = 0;
  auto replace = [&](Tensor& tensor) { tensor = tensors[next++]; };
  Structure<T>::visit(value, replace);
  return value;
}

}  // namespace stoker::detail
