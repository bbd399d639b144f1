// A value of an ONNX graph, and an input or output of a model: a tensor, texts, a list of values, a
// map, or an optional value.
//
//     onnx::Value image = tensor;                             // float, by the tensor's dtype
//     onnx::Value mask{flags, onnx::ElementType::boolean};    // u8 elements that are 0 or 1
//     std::vector<float> numbers = result.tensor().to_vector<float>();
//
// A tensor value is *known* if the host has its elements (known.hpp), otherwise lazy. tensor() works
// for both.
//
// A classifier's labels and score maps are made from tensors that the run computes. Such texts and sequences
// are *to come*: the first call of texts() or elements() reads the tensor and waits for it.
//
// Ownership: copies share their contents. Threads: any, for the values that a program holds. Errors are
// thrown: invalid_argument if a value is not of the requested kind; for values to come, every error of
// reading their tensor.
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
  /// No value: an optional operand that was not given.
  Value() = default;
  Value(const Tensor& tensor);  // NOLINT(google-explicit-constructor)
  /// Throws dtype_mismatch unless the tensor's dtype carries that type.
  Value(const Tensor& tensor, ElementType type);
  Value(Known known) : held_{std::move(known)} {}  // NOLINT(google-explicit-constructor)
  Value(Texts texts)                               // NOLINT(google-explicit-constructor)
      : held_{std::make_shared<const Texts>(std::move(texts))} {}
  [[nodiscard]] static Value sequence(std::vector<Value> elements);
  /// An optional value with an element; no_element() makes one without.
  [[nodiscard]] static Value optional(Value element);
  [[nodiscard]] static Value no_element();
  /// A map from keys (integers or texts) to values (numbers or texts); both are vectors that the host knows.
  /// Throws invalid_argument for other values, and if there are not as many keys as values.
  [[nodiscard]] static Value map(Value keys, Value values);
  /// Texts to come, of the shape of `places`: all[p] for each integer p in `places`.
  [[nodiscard]] static Value chosen_texts(std::vector<std::string> all, const Value& places);
  /// A sequence to come: for each row of `rows` [n, keys] a map from the keys to the row's
  /// elements.
  [[nodiscard]] static Value maps_of_rows(const Value& keys, const Value& rows);

  [[nodiscard]] bool is_given() const noexcept {
    return !std::holds_alternative<std::monostate>(held_);
  }
  /// Whether it is a tensor, known or lazy.
  [[nodiscard]] bool is_tensor() const noexcept { return is_known() || is_lazy(); }
  [[nodiscard]] bool is_known() const noexcept { return std::holds_alternative<Known>(held_); }
  [[nodiscard]] bool is_lazy() const noexcept { return std::holds_alternative<Lazy>(held_); }
  [[nodiscard]] bool is_texts() const noexcept;
  [[nodiscard]] bool is_sequence() const noexcept;
  [[nodiscard]] bool is_map() const noexcept { return std::holds_alternative<MapPtr>(held_); }
  [[nodiscard]] bool is_optional() const noexcept { return std::holds_alternative<Option>(held_); }

  /// The element type of a tensor or of texts.
  [[nodiscard]] ElementType type() const;
  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] Tensor tensor() const;
  [[nodiscard]] const Known& known() const;
  [[nodiscard]] const Texts& texts() const;
  [[nodiscard]] const std::vector<Value>& elements() const;
  /// The element of an optional value; null if it has none.
  [[nodiscard]] const Value* element() const;
  /// The keys and values of a map.
  [[nodiscard]] const Value& keys() const;
  [[nodiscard]] const Value& values() const;

  /// "float[2,3]", "string[4]", "a sequence of 3", "a map of 2", "an optional without a value",
  /// "nothing".
  [[nodiscard]] std::string to_string() const;

  /// The tensor of a lazy value, which a walk replaces at a cut. Copies of a value share the cell.
  struct Cell {
    Tensor tensor;
  };
  /// Calls `visit` with the cell of each lazy tensor in it, in order.
  void visit_cells(const std::function<void(const std::shared_ptr<Cell>&)>& visit) const;
  /// A copy in which `replace` gives the tensors of lazy values; where it returns an empty tensor,
  /// the value stays as it is.
  [[nodiscard]] Value with_tensors(const std::function<Tensor(const Cell&)>& replace) const;

  /// The tensor from which texts or a sequence to come are made; null for other values.
  [[nodiscard]] const Value* source() const noexcept;
  /// The texts or the sequence for these elements of source(). Precondition: it has a source.
  [[nodiscard]] Value made_of(const Known& elements) const;

  /// Whether this value is the same in every walk of the model.
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
  /// This value, or for a value to come the value it becomes: reads the source and waits for it.
  [[nodiscard]] const Value& arrived() const;

  std::variant<std::monostate, Known, Lazy, TextsPtr, ListPtr, Option, MapPtr, ToComePtr> held_;
  bool constant_ = false;
};

using Values = std::vector<Value>;

}  // namespace stoker::onnx
