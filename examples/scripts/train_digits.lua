-- Scanned digits, 8×8 pixels of 0 to 16, the last column says which one it is:
--   stoker train examples/scripts/train_digits.lua
--   stoker train examples/scripts/train_digits.lua epochs=15 --save digits.safetensors
local data = nn.csv(args.data or "examples/data/digits.csv.gz",
  {header = false, label = -1, shape = {8, 8, 1}, scale = 1 / 16})
local train, test = nn.split(data, 0.2, {seed = 1})

local x = nn.input{8, 8, 1}
local y = nn.conv(x, 16, {kernel_size = 3, padding = "same", activation = "relu"})
y = nn.conv(y, 32, {kernel_size = 3, activation = "relu"})
y = nn.max_pool(y, {2})
y = nn.dropout(nn.flatten(y), 0.25)
y = nn.dense(y, 10)

return nn.model(y, {loss = "cross_entropy", optimizer = "adam", learning_rate = 0.005, seed = 1}),
  {data = train, validation = test, epochs = args.epochs or 5, batch_size = 32, metrics = {"accuracy"},
   early_stopping = {patience = 3}, save = args.save}
