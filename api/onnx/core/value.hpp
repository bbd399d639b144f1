// What a name of an ONNX graph stands for, and what a program gives to a model and gets back: a
// tensor, texts, a list of values, a map, or an optional value.
//
//     onnx::Value image = tensor;                             // float, by the tensor's dtype
//     onnx::Value mask{flags, onnx::ElementType::boolean};    // u8 elements that are 0 or 1
//     std::vector<float> numbers = result.tensor().to_vector<float>();
//
// A tensor value is *known* if the host has its elements (known.hpp), else lazy. tensor() gives either.
//
// The labels that a classifier chooses, and the maps of its scores, come of tensors that the run computes.
// Such texts and sequences are *to come*: texts() and elements() read the tensor when they are called first,
// and wait for it.
//
// Ownership: copies share what they hold. Threads: any, for the values that a program holds. Errors
// are thrown: invalid_argument if a value is of another kind than asked for; where values are to come, what
// reading their tensor throws.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "stoker/api/onnx/core/known.hpp"

namespace stoker::onnx {

/// Strings of any bytes, row-major.
struct Texts {
  Shape shape;
  std::vector<std::string> strings;
};

class Value {
 public:
  /// Nothing: an optional operand that was not given.
  Value() = default;
  Value(const Tensor& tensor);  // NOLINT(google-explicit-constructor)
  /// Throws dtype_mismatch unless the tensor's dtype carries that type.
  Value(const Tensor& tensor, ElementType type);
  Value(Known known) : held_{std::move(known)} {}  // NOLINT(google-explicit-constructor)
  Value(Texts texts)                               // NOLINT(google-explicit-constructor)
      : held_{std::make_shared<const Texts>(std::move(texts))} {}
  [[nodiscard]] static Value sequence(std::vector<Value> elements);
  /// An optional value that is there, or that is not.
  [[nodiscard]] static Value optional(Value element);
  [[nodiscard]] static Value no_element();
  /// From keys, integers or texts, to numbers or texts: vectors that the host knows. Throws invalid_argument
  /// for others, and unless there are as many keys as values.
  [[nodiscard]] static Value map(Value keys, Value values);
  /// Texts to come, of the shape of `places`: those at these places of `all`. Places are integers.
  [[nodiscard]] static Value chosen_texts(std::vector<std::string> all, const Value& places);
  /// A sequence to come: a map for each row of `rows` [n, keys], from the keys to its elements.
  [[nodiscard]] static Value maps_of_rows(const Value& keys, const Value& rows);

  [[nodiscard]] bool is_given() const noexcept {
    return !std::holds_alternative<std::monostate>(held_);
  }
  /// Known or lazy.
  [[nodiscard]] bool is_tensor() const noexcept { return is_known() || is_lazy(); }
  [[nodiscard]] bool is_known() const noexcept { return std::holds_alternative<Known>(held_); }
  [[nodiscard]] bool is_lazy() const noexcept { return std::holds_alternative<Lazy>(held_); }
  [[nodiscard]] bool is_texts() const noexcept;
  [[nodiscard]] bool is_sequence() const noexcept;
  [[nodiscard]] bool is_map() const noexcept { return std::holds_alternative<MapPtr>(held_); }
  [[nodiscard]] bool is_optional() const noexcept { return std::holds_alternative<Option>(held_); }

  /// Of a tensor or texts.
  [[nodiscard]] ElementType type() const;
  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] Tensor tensor() const;
  [[nodiscard]] const Known& known() const;
  [[nodiscard]] const Texts& texts() const;
  [[nodiscard]] const std::vector<Value>& elements() const;
  /// Null if there is none.
  [[nodiscard]] const Value* element() const;
  /// Of a map.
  [[nodiscard]] const Value& keys() const;
  [[nodiscard]] const Value& values() const;

  /// "float[2,3]", "string[4]", "a sequence of 3", "a map of 2", "an optional without a value",
  /// "nothing".
  [[nodiscard]] std::string to_string() const;

  /// A tensor that stands for this value until another takes its place: what a walk exchanges at a
  /// cut. Values that were copied from one another share it.
  struct Cell {
    Tensor tensor;
  };
  /// Calls `visit` with the cell of each lazy tensor in it, in order.
  void visit_cells(const std::function<void(const std::shared_ptr<Cell>&)>& visit) const;
  /// The same with other tensors in the place of its lazy ones; empty: as it is.
  [[nodiscard]] Value with_tensors(const std::function<Tensor(const Cell&)>& replace) const;

  /// The tensor that texts or a sequence to come are made of; null if it is neither.
  [[nodiscard]] const Value* source() const noexcept;
  /// What these elements of source() make of it. Precondition: it has a source.
  [[nodiscard]] Value made_of(const Known& elements) const;

  /// Whether every walk of the model gives this value here.
  [[nodiscard]] bool is_constant() const noexcept { return constant_; }
  [[nodiscard]] Value as_constant(bool constant) const;

 private:
  struct Lazy {
    std::shared_ptr<Cell> cell;
    ElementType type;
  };
  struct Option {
    std::shared_ptr<const Value> element;
  };
  struct Entries;
  using MapPtr = std::shared_ptr<const Entries>;
  struct ToCome;
  using ToComePtr = std::shared_ptr<const ToCome>;
  using TextsPtr = std::shared_ptr<const Texts>;
  using ListPtr = std::shared_ptr<const std::vector<Value>>;
  [[noreturn]] void refuse(const char* expected) const;
  [[nodiscard]] static Value to_come(bool is_texts, const Value& source,
                                     std::function<Value(const Known&)> make);
  /// Itself, or what is to come, once it has come: reads, and waits.
  [[nodiscard]] const Value& arrived() const;

  std::variant<std::monostate, Known, Lazy, TextsPtr, ListPtr, Option, MapPtr, ToComePtr> held_;
  bool constant_ = false;
};

using Values = std::vector<Value>;

}  // namespace stoker::onnx
