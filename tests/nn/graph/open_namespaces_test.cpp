// Programs that open both namespaces: a word for an activation is then a function of tensors, too.
#include <gtest/gtest.h>

#include "stoker/api/nn.hpp"
#include "stoker/api/system.hpp"

using namespace stoker;
using namespace stoker::nn;

namespace {

class OpenNamespaces : public testing::Test {
 protected:
  System system;
  DeviceScope scope{system.device("cpu")};
  Tensor x = tensor({-1.0, 2.0});
};

TEST_F(OpenNamespaces, have_functions_of_elements_that_are_traced_mapped_and_differentiated) {
  EXPECT_EQ(jit(relu)(x).to_vector<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ(jit(softplus)(x).to_vector<float>(), stoker::nn::softplus(x).to_vector<float>());
  EXPECT_EQ(vmap(relu)(x).to_vector<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ(stoker::map(relu, x).to_vector<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ(checkpoint(relu)(x).to_vector<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ(grad(relu)(tensor(3.0)).item<float>(), 1);
  EXPECT_EQ(value_and_grad(relu)(tensor(3.0)).first.item<float>(), 3);
  EXPECT_EQ(vjp(relu, x).first.to_vector<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ(jvp(relu, x, x).second.to_vector<float>(), (std::vector<float>{0, 2}));
}

/// What sees whether such a lambda is a function of elements must not compile it for what it never is given.
TEST_F(OpenNamespaces, have_lambdas_of_any_type_that_are_traced_mapped_and_differentiated) {
  const auto square = [](const auto& t) { return t * t; };
  EXPECT_EQ(jit(square)(x).to_vector<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(vmap(square)(x).to_vector<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(stoker::map(square, x).to_vector<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(checkpoint(square)(x).to_vector<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(grad(square)(tensor(3.0)).item<float>(), 6);
  EXPECT_EQ(value_and_grad(square)(tensor(3.0)).first.item<float>(), 9);
  EXPECT_EQ(vjp(square, x).first.to_vector<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(jvp(square, x, x).second.to_vector<float>(), (std::vector<float>{2, 8}));
}

TEST_F(OpenNamespaces, have_words_for_the_options_of_layers) {
  const Node y = conv(input({8, 8, 1}), 2, {.kernel_size = 3, .padding = same, .activation = relu});
  EXPECT_EQ(y.layer().options().text("activation"), "relu");
  EXPECT_EQ(relu(x).to_vector<float>(), (std::vector<float>{0, 2}));
}

}  // namespace
