-- The smallest network that learns exclusive or: stoker train examples/scripts/train_xor.lua
local data = nn.rows{inputs = {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, labels = {0, 1, 1, 0}}

local x = nn.input{2}
local y = nn.dense(x, 8, {activation = "tanh"})
y = nn.dense(y, 2)

return nn.model(y, {loss = "cross_entropy", optimizer = "adam", learning_rate = 0.05, seed = 1}),
  {data = data, validation = data, epochs = args.epochs or 100, batch_size = 4, metrics = {"accuracy"}}
