#include "stoker/tests/onnx/changing/changing_graph.hpp"

#include <algorithm>

namespace stoker::onnx {
namespace {

using Int = std::int64_t;

constexpr std::size_t most_depth = 3;  ///< of graphs within graphs
constexpr Int most_state = 24;         ///< of an extent that grows
constexpr Int most_in_state = 60;
constexpr Int most_of_state = 100;  ///< of its numbers

TensorData one_of(Int number, ElementType type) {
  TensorData made = integers({number});
  if (type == ElementType::f32) made = reals({static_cast<float>(number)});
  if (type == ElementType::boolean)
    made = {.type = type,
            .dims = {},
            .bytes = SharedBytes::own({static_cast<std::byte>(number)}),
            .strings = {}};
  made.dims = {};
  return made;
}

}  // namespace

ChangingGraph::ChangingGraph(unsigned seed) : random_{seed} {
  least_extent_ = one_in(3) ? 0 : 1;
  const Extent n = changing(least_extent_, most_extent), m = changing(least_extent_, most_extent);
  items_ = {{"x", ElementType::s64, {n}, most_number},
            {"y", ElementType::s64, {n, m}, most_number},
            {"z", ElementType::f32, {m}, most_number},
            {"k", ElementType::s64, {}, most_number}};
  builders_[0]
      .input("x", {"n"}, ElementType::s64)
      .input("y", {"n", "m"}, ElementType::s64)
      .input("z", {"m"})
      .input("k", {}, ElementType::s64);
  add_some(8 + static_cast<int>(below(8)));
  finish();
}

void ChangingGraph::add_some(int steps) {
  static constexpr Step all[] = {&ChangingGraph::unary,
                                 &ChangingGraph::arithmetic,
                                 &ChangingGraph::arithmetic,
                                 &ChangingGraph::comparison,
                                 &ChangingGraph::logic,
                                 &ChangingGraph::choice,
                                 &ChangingGraph::conversion,
                                 &ChangingGraph::reduction,
                                 &ChangingGraph::position,
                                 &ChangingGraph::running_sum,
                                 &ChangingGraph::matrix_product,
                                 &ChangingGraph::transposed,
                                 &ChangingGraph::concatenated,
                                 &ChangingGraph::concatenated,
                                 &ChangingGraph::sliced,
                                 &ChangingGraph::sliced,
                                 &ChangingGraph::sliced_to_number,
                                 &ChangingGraph::gathered,
                                 &ChangingGraph::reshaped,
                                 &ChangingGraph::squeezed,
                                 &ChangingGraph::expanded,
                                 &ChangingGraph::tiled,
                                 &ChangingGraph::padded,
                                 &ChangingGraph::range,
                                 &ChangingGraph::filled,
                                 &ChangingGraph::extents_of,
                                 &ChangingGraph::of_equal_length,
                                 &ChangingGraph::non_zero,
                                 &ChangingGraph::compressed,
                                 &ChangingGraph::compressed,
                                 &ChangingGraph::sequenced,
                                 &ChangingGraph::sequenced,
                                 &ChangingGraph::unique,
                                 &ChangingGraph::suppressed,
                                 &ChangingGraph::top,
                                 &ChangingGraph::branches,
                                 &ChangingGraph::branches,
                                 &ChangingGraph::loop,
                                 &ChangingGraph::loop};
  for (int made = 0; made < steps;)
    if ((this->*all[below(std::ssize(all))])()) ++made;
}

void ChangingGraph::finish() {
  GraphBuilder& graph = builders_.back();
  std::vector<std::string> outputs;
  for (Int left = 1 + below(4); left > 0; --left) {
    const std::string& name =
        left == 1 ? items_.back().name
                  : items_[4 + static_cast<std::size_t>(below(std::ssize(items_) - 4))].name;
    if (std::ranges::find(outputs, name) == outputs.end()) outputs.push_back(name);
  }
  for (const std::string& name : outputs) graph.output(name);
}

// What is known ---------------------------------------------------------------------------------------

ChangingGraph::Maybe ChangingGraph::some(const std::function<bool(const Item&)>& fits) {
  Items found;
  std::ranges::copy_if(items_, std::back_inserter(found), fits);
  if (found.empty()) return {};
  // Mostly one of the last, so that chains come about.
  const Int among = one_in(3) ? std::ssize(found) : std::min<Int>(3, std::ssize(found));
  return found[found.size() - 1 - static_cast<std::size_t>(below(among))];
}

ChangingGraph::Maybe ChangingGraph::some_of_rank(std::size_t least, std::size_t most) {
  return some(
      [&](const Item& one) { return one.shape.size() >= least && one.shape.size() <= most; });
}

ChangingGraph::Maybe ChangingGraph::some_vector() { return some_of_rank(1, 1); }

Int ChangingGraph::least(const Extent& extent) const {
  return extent.place ? extents_[*extent.place].least : extent.number;
}

Int ChangingGraph::most(const Extent& extent) const {
  return extent.place ? extents_[*extent.place].most : extent.number;
}

ChangingGraph::Extent ChangingGraph::changing(Int least, Int most) {
  extents_.push_back({least, most});
  return {0, extents_.size() - 1};
}

ChangingGraph::Extent ChangingGraph::product(const std::vector<Extent>& shape) {
  Bounds bounds{1, 1};
  Extent other{1};
  std::size_t others = 0;
  for (const Extent& extent : shape) {
    bounds = {bounds.least * least(extent), bounds.most * most(extent)};
    if (extent == Extent{1}) continue;
    other = extent;
    ++others;
  }
  if (others <= 1) return other;
  const bool is_number =
      std::ranges::none_of(shape, [](const Extent& one) { return one.place.has_value(); });
  return is_number ? Extent{bounds.most} : changing(bounds.least, bounds.most);
}

Int ChangingGraph::most_elements(const std::vector<Extent>& shape) const {
  Int elements = 1;
  for (const Extent& extent : shape) elements *= most(extent);
  return elements;
}

bool ChangingGraph::is_never_empty(const Item& item) const {
  return std::ranges::all_of(item.shape, [&](const Extent& one) { return least(one) > 0; });
}

std::optional<std::vector<ChangingGraph::Extent>> ChangingGraph::joined(const Item& a,
                                                                        const Item& b) const {
  const bool is_longer = a.shape.size() >= b.shape.size();
  std::vector<Extent> made = is_longer ? a.shape : b.shape;
  const std::vector<Extent>& other = is_longer ? b.shape : a.shape;
  for (std::size_t i = 0; i < other.size(); ++i) {
    Extent& extent = made[made.size() - other.size() + i];
    if (extent == Extent{1}) extent = other[i];
    if (extent != other[i] && other[i] != Extent{1}) return {};
  }
  return made;
}

// Nodes -----------------------------------------------------------------------------------------------

ChangingGraph::Item ChangingGraph::constant(const std::vector<Int>& numbers) {
  Item made{name(), ElementType::s64, {Extent{std::ssize(numbers)}}, 0};
  builders_.back().constant(made.name, integers(numbers));
  return made;
}

ChangingGraph::Item ChangingGraph::scalar(Int number, ElementType type) {
  Item made{name(), type, {}, number < 0 ? -number : number};
  builders_.back().constant(made.name, one_of(number, type));
  return made;
}

ChangingGraph::Item ChangingGraph::node(const std::string& op,
                                        const std::vector<std::string>& inputs, Item made,
                                        Attributes attributes) {
  made.name = name();
  builders_.back().node(op, inputs, {made.name}, std::move(attributes));
  items_.push_back(made);
  return made;
}

ChangingGraph::Item ChangingGraph::kept_small(const Item& item) {
  if (item.bound <= 1000) return item;
  Item made = item;
  made.bound = 9;
  return node("Clip", {item.name, scalar(-9, item.type).name, scalar(9, item.type).name}, made);
}

ChangingGraph::Item ChangingGraph::cast(const Item& item, ElementType type) {
  if (item.type == type) return item;
  return node("Cast", {item.name},
              {{}, type, item.shape, type == ElementType::boolean ? 1 : item.bound},
              {named("to", static_cast<Int>(type))});
}

ChangingGraph::Item ChangingGraph::flat(const Item& item) {
  return node("Reshape", {item.name, constant({-1}).name},
              {{}, item.type, {product(item.shape)}, item.bound});
}

ChangingGraph::Item ChangingGraph::small_number(Int most) {
  if (one_in(5)) return scalar(below(most + 1));
  Item number{"k", ElementType::s64, {}, 0};
  if (const Item x = *some_of_rank(0, 3); one_in(3))
    number = node("Size", {x.name}, {{}, ElementType::s64, {}, 1000});
  else if (!one_in(4))
    number = node("ReduceSum", {cast(x, ElementType::s64).name}, {{}, ElementType::s64, {}, 1000},
                  {named("keepdims", Int{0})});
  return node("Mod", {number.name, scalar(most + 1).name}, {{}, ElementType::s64, {}, most});
}

ChangingGraph::Item ChangingGraph::truth() {
  const auto is_truth = [](const Item& one) {
    return one.type == ElementType::boolean && one.shape.empty();
  };
  if (const auto found = some(is_truth); found && one_in(2)) return *found;
  return node("Greater", {small_number(4).name, scalar(below(4)).name},
              {{}, ElementType::boolean, {}, 1});
}

ChangingGraph::Item ChangingGraph::first_of(const Item& item, std::size_t axis, const Item& count,
                                            Int most_first) {
  const Item end = node("Reshape", {count.name, constant({1}).name},
                        {{}, ElementType::s64, {Extent{1}}, count.bound});
  Item made = item;
  made.shape[axis] = changing(0, std::min(most_first, most(item.shape[axis])));
  return node("Slice",
              {item.name, constant({0}).name, end.name, constant({static_cast<Int>(axis)}).name},
              made);
}

// Graphs within graphs ----------------------------------------------------------------------------------

ChangingGraph::Maybe ChangingGraph::branches() {
  if (builders_.size() == most_depth) return {};
  const Item condition = truth();
  const auto count = static_cast<std::size_t>(1 + below(2));
  const auto branch = [&](const Items& like) {
    const Items outside = items_;
    builders_.emplace_back();
    add_some(1 + static_cast<int>(below(3)));
    Items given;
    for (std::size_t i = 0; i < count; ++i) {
      Item one = *some_of_rank(0, 3);
      if (!like.empty()) {
        const auto same = some([&](const Item& other) {
          return other.type == like[i].type && other.shape.size() == like[i].shape.size();
        });
        one = same && !one_in(4) ? *same : cast(one, like[i].type);
      }
      given.push_back(node("Identity", {one.name}, one));
      builders_.back().output(given.back().name);
    }
    items_ = outside;
    return given;
  };
  const Items yes = branch({});
  const Items no = branch(yes);
  const Attribute of_no = builders_.back().as("else_branch");
  builders_.pop_back();
  const Attribute of_yes = builders_.back().as("then_branch");
  builders_.pop_back();
  Items made;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    Item one{name(), yes[i].type, {}, std::max(yes[i].bound, no[i].bound)};
    names.push_back(one.name);
    const auto either = [&](const Extent& a, const Extent& b) {
      return a == b ? a : changing(std::min(least(a), least(b)), std::max(most(a), most(b)));
    };
    if (yes[i].shape.size() == no[i].shape.size()) {
      for (std::size_t axis = 0; axis < no[i].shape.size(); ++axis)
        one.shape.push_back(either(yes[i].shape[axis], no[i].shape[axis]));
    } else {
      one.shape = {either(product(yes[i].shape), product(no[i].shape))};
    }
    made.push_back(one);
  }
  builders_.back().node("If", {condition.name}, names, {of_yes, of_no});
  for (std::size_t i = 0; i < count; ++i)
    if (yes[i].shape.size() == no[i].shape.size())
      items_.push_back(made[i]);
    else  // of any rank
      node("Reshape", {made[i].name, constant({-1}).name}, made[i]);
  return items_.back();
}

ChangingGraph::Item ChangingGraph::next_state(const Item& state, bool grows) {
  Item next = state;
  if (grows && one_in(4)) {
    next = first_of(state, 0, small_number(4), 4);
  } else {
    const auto like = some([&](const Item& one) {
      Item same = one;
      if (grows && !one.shape.empty()) same.shape[0] = state.shape[0];
      return one.type == state.type && same.shape == state.shape;
    });
    next = *like;  // the state itself, if nothing else
    if (grows && !one_in(4)) {
      next.shape[0] = changing(0, most(state.shape[0]) + most(like->shape[0]));
      next.bound = std::max(state.bound, like->bound);
      next = node("Concat", {state.name, like->name}, next, {named("axis", Int{0})});
      next = first_of(next, 0, scalar(most_state), most_state);
    } else if (grows && most(next.shape[0]) > most_state) {
      next = first_of(next, 0, scalar(most_state), most_state);
    }
  }
  if (next.bound > most_of_state) {
    const Item clipped{{}, next.type, next.shape, 9};
    next =
        node("Clip", {next.name, scalar(-9, next.type).name, scalar(9, next.type).name}, clipped);
  }
  return node("Identity", {next.name}, next);
}

ChangingGraph::Maybe ChangingGraph::loop() {
  if (builders_.size() == most_depth) return {};
  Items states;
  for (Int left = 1 + below(2); left > 0; --left)
    if (const auto one = some([&](const Item& state) {
          return state.shape.size() <= 2 && state.bound <= most_of_state &&
                 most_elements(state.shape) <= most_in_state &&
                 (state.shape.empty() || most(state.shape[0]) <= most_state);
        }))
      states.push_back(*one);
  const bool is_sure = one_in(2);  // to have a round
  const Int most_rounds = one_in(4) ? 9 : 3;
  Item rounds = small_number(most_rounds);
  if (is_sure)
    rounds = node("Max", {rounds.name, scalar(1).name}, {{}, ElementType::s64, {}, most_rounds});
  const bool asks = one_in(2);
  const bool only_asks = asks && one_in(3);  // then the body counts the rounds
  std::vector<std::string> inputs{only_asks ? "" : rounds.name,
                                  asks ? scalar(1, ElementType::boolean).name : ""};
  for (const Item& state : states) inputs.push_back(state.name);

  const std::size_t before = extents_.size();
  const Items outside = items_;
  GraphBuilder& body = builders_.emplace_back();
  const Item round{name(), ElementType::s64, {}, most_rounds},
      goes_on{name(), ElementType::boolean, {}, 1};
  body.input(round.name, {}, ElementType::s64).input(goes_on.name, {}, ElementType::boolean);
  items_.insert(items_.end(), {round, goes_on});
  std::vector<bool> grows;
  Items inside;
  for (const Item& state : states) {
    grows.push_back(!state.shape.empty() && one_in(2));
    Item one{name(), state.type, state.shape, most_of_state};
    if (grows.back()) one.shape[0] = changing(0, most_state);
    std::vector<Dim> dims;
    for (const Extent& extent : one.shape)
      dims.push_back(extent.place ? Dim{""} : Dim{extent.number});
    body.input(one.name, dims, one.type);
    items_.push_back(one);
    inside.push_back(one);
  }
  add_some(1 + static_cast<int>(below(4)));
  const auto give = [&](const Item& item) { builders_.back().output(item.name); };
  Item next_round = asks && !one_in(4) ? truth() : goes_on;
  if (only_asks) {
    const Item before_last =
        node("Less", {round.name, rounds.name}, {{}, ElementType::boolean, {}, 1});
    next_round = node("And", {next_round.name, before_last.name}, next_round);
  }
  give(node("Identity", {next_round.name}, next_round));
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const Item next = next_state(inside[i], grows[i]);
    give(next);
  }
  Items scans;
  const auto is_scanned = [&](const Item& one) {
    return one.shape.size() <= 2 && most_elements(one.shape) <= most_in_state &&
           std::ranges::all_of(one.shape, [&](const Extent& extent) {
             return !extent.place || *extent.place < before;
           });
  };
  if (is_sure && one_in(2))
    if (const auto one = some(is_scanned)) scans.push_back(node("Identity", {one->name}, *one));
  for (const Item& scan : scans) give(scan);
  const Attribute of_body = builders_.back().as("body");
  builders_.pop_back();
  items_ = outside;
  std::vector<std::string> names;
  const auto result = [&](Item made) {
    made.name = name();
    names.push_back(made.name);
    items_.push_back(made);
  };
  for (std::size_t i = 0; i < inside.size(); ++i) {
    Item made = inside[i];
    if (grows[i]) made.shape[0] = changing(0, most_state);
    result(made);
  }
  for (Item scan : scans) {
    scan.shape.insert(scan.shape.begin(), changing(1, most_rounds + 1));
    result(scan);
  }
  builders_.back().node("Loop", inputs, names, {of_body});
  return items_.back();
}

std::string ChangingGraph::print(const Graph& graph, const std::string& indent) {
  std::string text;
  const auto list = [](const auto& names) {
    std::string all;
    for (const auto& one : names) {
      all += all.empty() ? "" : ", ";
      if constexpr (std::is_same_v<decltype(one), const std::string&>)
        all += one;
      else
        all += one.name;
    }
    return all;
  };
  text += indent + "in " + list(graph.inputs) + '\n';
  for (const Initializer& one : graph.initializers) {
    text += indent + one.name + " =";
    for (const double number : Known{one.tensor}.to_reals())
      text += ' ' + std::to_string(static_cast<Int>(number));
    text += " (" + one.tensor.to_string() + ")\n";
  }
  for (const Node& node : graph.nodes) {
    text += indent + list(node.outputs) + " = " + node.op + '(' + list(node.inputs) + ')';
    for (const Attribute& one : node.attributes) {
      text += ' ' + one.name;
      if (const auto* const number = std::get_if<Int>(&one.value))
        text += '=' + std::to_string(*number);
      if (const auto* const numbers = std::get_if<std::vector<Int>>(&one.value))
        for (const Int number : *numbers) text += ' ' + std::to_string(number);
      if (const auto* const inner = std::get_if<GraphPtr>(&one.value))
        text += ":\n" + print(**inner, indent + "  ");
    }
    text += '\n';
  }
  return text + indent + "out " + list(graph.outputs) + '\n';
}

}  // namespace stoker::onnx
