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

TEST_F(OpenNamespaces, have_words_for_the_options_of_layers) {
  const Node y = conv(input({8, 8, 1}), 2, {.kernel_size = 3, .padding = same, .activation = relu});
  EXPECT_EQ(y.layer().options().text("activation"), "relu");
  EXPECT_EQ(relu(x).to_vector<float>(), (std::vector<float>{0, 2}));
}

}  // namespace
