// Files that are damaged, changed or too large: each is refused with a reason.
#include <algorithm>
#include <array>

#include "message.hpp"

namespace stoker::onnx {
namespace {

/// A model with something of everything.
Message rich_model() {
  const Message branch = graph(node("Identity", {"x"}, {"b"}), {}, {"b"});
  Nodes nodes =
      node("If", {"c"}, {"t"},
           {graph_attribute("then_branch", branch), graph_attribute("else_branch", branch)});
  nodes.add("Clip", {"t", "", "w"}, {"u"},
            {Message{}.text(1, "list").packed(8, {1, 300}).integer(20, 7),
             Message{}.text(1, "scale").real(2, 2).integer(20, 1),
             Message{}.text(1, "value").message(5, float_tensor("v", {1})).integer(20, 4)});
  nodes.add("Twice", {"u"}, {"y"}, {}, "own");
  Message whole = graph(nodes, {"x"}, {"y"}, {float_tensor("w", {1, 2})});
  whole.message(11, value_info("c", tensor_type(ElementType::boolean, {})));
  whole.message(15, Message{}
                        .message(1, float_tensor("s", {1}))
                        .message(2, empty_tensor("", ElementType::s64, {1}).packed(7, {3}))
                        .integer(3, 4));
  const Message function = Message{}
                               .text(1, "Twice")
                               .text(4, "a")
                               .text(5, "b")
                               .message(7, node("Add", {"a", "a"}, {"b"}).all[0])
                               .message(9, opset("", 17))
                               .text(10, "own");
  Message file = Message{}.integer(1, 8).text(2, "test").message(7, whole).message(25, function);
  return file.message(14, Message{}.text(1, "key").text(2, "value"))
      .message(8, opset("own", 1))
      .message(8, opset("", 17));
}

/// The reason of a refusal, or nothing. A refusal says why.
std::string reason_or_nothing(const std::string& bytes) {
  const Result<ModelFile> result = read(bytes);
  if (result) return {};
  static constexpr std::array codes{ErrorCode::invalid_argument, ErrorCode::io_error,
                                    ErrorCode::unsupported, ErrorCode::limit_exceeded};
  EXPECT_NE(std::ranges::find(codes, result.error().code()), codes.end()) << result.error().what();
  EXPECT_FALSE(result.error().reason().empty());
  return result.error().what();
}

void expect_the_same(const ModelFile& a, const ModelFile& b) {
  ASSERT_EQ(a.graph.nodes.size(), b.graph.nodes.size());
  for (std::size_t i = 0; i < a.graph.nodes.size(); ++i) {
    EXPECT_EQ(a.graph.nodes[i].op, b.graph.nodes[i].op);
    EXPECT_EQ(a.graph.nodes[i].outputs, b.graph.nodes[i].outputs);
  }
}

TEST(OnnxDamage, is_found_wherever_a_file_is_cut) {
  const std::string whole = rich_model().bytes();
  ASSERT_EQ(reason_or_nothing(whole), "");
  for (std::size_t cut = 0; cut < whole.size(); ++cut)
    EXPECT_NE(reason_or_nothing(whole.substr(0, cut)), "") << cut;
}

TEST(OnnxDamage, is_told_with_its_byte) {
  const std::string whole = model(graph({}, {}, {})).bytes();  // 2 bytes of IR, 2 of the graph
  const Error cut = read(whole.substr(0, whole.size() - 1)).error();
  EXPECT_EQ(cut.code(), ErrorCode::io_error);
  EXPECT_EQ(cut.reason(), "a field ends too late");
  EXPECT_EQ(cut.detail("byte"), "4");
  const Error kind = read(Message{}.integer(1, 8).integer(7, 1).bytes()).error();
  EXPECT_EQ(kind.reason(), "a field is stored as one of another kind");
  EXPECT_EQ(kind.detail("byte"), "2");
  EXPECT_EQ(read("\x08" + std::string(10, '\xff')).error().reason(), "a number is too long");
  EXPECT_EQ(read("\x08\xff").error().reason(), "a number ends too early");
  EXPECT_EQ(read("\x0b").error().reason(), "a field of an unknown kind");
  EXPECT_EQ(read(std::string("\0\0", 2)).error().reason(), "a field without a number");
}

TEST(OnnxDamage, of_any_byte_is_refused_or_read) {
  const std::string whole = rich_model().bytes();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int change : {1, 8, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      reason_or_nothing(changed);
    }
}

/// Every file that differs from `whole` in one field of any depth, which is there twice or not at all.
void changed_files(const Message& whole, bool twice, std::vector<Message>& changed) {
  for (std::size_t i = 0; i < whole.fields.size(); ++i) {
    const auto place = static_cast<std::ptrdiff_t>(i);
    changed.push_back(whole);
    std::vector<Message::Field>& fields = changed.back().fields;
    if (twice)
      fields.insert(fields.begin() + place, whole.fields[i]);
    else
      fields.erase(fields.begin() + place);
    if (whole.fields[i].inside.empty()) continue;
    std::vector<Message> inside;
    changed_files(whole.fields[i].inside[0], twice, inside);
    for (Message& each : inside) {
      changed.push_back(whole);
      changed.back().fields[i].inside[0] = std::move(each);
    }
  }
}

TEST(OnnxDamage, by_a_field_that_occurs_twice_is_refused_or_changes_no_node) {
  const Message file = rich_model();
  const ModelFile whole = read(file).value();
  std::vector<Message> changed;
  changed_files(file, true, changed);
  std::size_t refused = 0;
  for (const Message& each : changed) {
    const std::string bytes = each.bytes();
    if (!reason_or_nothing(bytes).empty())
      ++refused;
    else
      expect_the_same(whole, read(bytes).value());
  }
  EXPECT_GT(changed.size(), 120U);
  EXPECT_GT(refused, 20U);
}

TEST(OnnxDamage, by_a_field_that_is_missing_is_refused_or_read_without_it) {
  std::vector<Message> changed;
  changed_files(rich_model(), false, changed);
  std::size_t refused = 0;
  for (const Message& each : changed) refused += reason_or_nothing(each.bytes()).empty() ? 0 : 1;
  EXPECT_GT(refused, 50U);
}

TEST(OnnxLimits, are_kept) {
  const Message many =
      model(graph(node("Relu", {"x"}, {"a"}).add("Relu", {"a"}, {"y"}), {"x"}, {"y"}));
  const auto limit_of = [&](const ReadLimits& limits) {
    const Result<ModelFile> result = read(many, {.limits = limits});
    EXPECT_EQ(result.error().code(), ErrorCode::limit_exceeded);
    return std::string{result.error().detail("limit")};
  };
  EXPECT_TRUE(read(many, {.limits = {.nodes = 2}}));
  EXPECT_EQ(limit_of({.nodes = 1}), "nodes");
  EXPECT_EQ(limit_of({.items = 5}), "items");
  EXPECT_EQ(limit_of({.name_bytes = 3}), "bytes of a name");
}

TEST(OnnxLimits, bound_how_deep_things_lie_in_each_other) {
  Message type;
  Message inner = graph({}, {}, {});
  for (int i = 0; i < 100; ++i) {
    type = Message{}.message(4, Message{}.message(1, type));
    inner = graph(node("If", {}, {}, {graph_attribute("g", inner)}), {}, {});
  }
  refusal(model(Message{}.message(11, value_info("x", type))), ErrorCode::limit_exceeded);
  EXPECT_NE(refusal(model(inner), ErrorCode::limit_exceeded).find("levels within each other"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker::onnx
