#!/usr/bin/env python3
"""Writes the seeds of tests/fuzz/corpus: small inputs of every kind that each fuzzer knows. Those that
once found something lie beside them under other names and are left alone."""
import gzip
import io
import json
import pathlib
import struct
import zipfile
import zlib

root = pathlib.Path(__file__).parent / "corpus"


def seed(fuzzer, name, content):
    folder = root / fuzzer
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def packed(content):
    return gzip.compress(content if isinstance(content, bytes) else content.encode(), mtime=0)


# --- files of arrays ----------------------------------------------------------------------------------
def npy(descr, order, shape, data, version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def npz(entries, method):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return file.getvalue()


def safetensors(header, data):
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


six = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
arrays = {
    "f32": npy("<f4", "False", "(2, 3)", six),
    "fortran": npy("<f4", "True", "(2, 3)", six),
    "swapped": npy(">i2", "False", "(3,)", b"\0\1\0\2\0\3"),
    "scalar": npy("<f8", "False", "()", struct.pack("<d", 0.5)),
    "empty": npy("<i8", "False", "(0, 4)", b""),
    "bool": npy("|b1", "False", "(4,)", b"\0\1\2\xff"),
    "complex": npy("<c8", "False", "(1,)", struct.pack("<2f", 1, -1)),
    "bf16": npy("|V2", "False", "(2,)", b"\x80\x3f\0\0"),
    "version3": npy("|u1", "False", "(3,)", b"abc", 3),
}
for name, content in arrays.items():
    seed("npy", name, content)
seed("npz", "stored", npz({"a.npy": arrays["f32"], "b.npy": arrays["scalar"]}, zipfile.ZIP_STORED))
seed("npz", "deflated", npz({"a.npy": arrays["fortran"]}, zipfile.ZIP_DEFLATED))
seed("npz", "other", npz({"note.txt": b"no array"}, zipfile.ZIP_STORED))

seed("safetensors", "two", safetensors(
    {"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
     "b": {"dtype": "I16", "shape": [], "data_offsets": [8, 10]}}, six[:8] + b"\1\0"))
seed("safetensors", "none", safetensors({}, b""))
seed("safetensors", "empty", safetensors(
    {"e": {"dtype": "BF16", "shape": [0, 3], "data_offsets": [0, 0]}}, b""))
seed("safetensors", "structure", safetensors(
    {"__metadata__": {"stoker.structure": json.dumps([{"keys": ["k"], "parts": [0]}, [0]])},
     "0": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
     "1": {"dtype": "U8", "shape": [2], "data_offsets": [4, 6]}}, six[:6]))

seed("idx", "u8", b"\0\0\x08\x02\0\0\0\2\0\0\0\3abcdef")
seed("idx", "f32", b"\0\0\x0d\x01\0\0\0\1" + struct.pack(">f", 1.5))
seed("idx", "packed", packed(b"\0\0\x0b\x01\0\0\0\2\0\1\0\2"))
seed("idx", "huge", b"\0\0\x0e\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
seed("raw", "matrix", bytes([0, 2, 48, 56, 0]) + six)
seed("raw", "offset", bytes([8, 1, 40, 1, 40]) + b"abcdef")
seed("raw", "huge", bytes([1, 3, 170, 60, 2, 170, 60, 2, 170, 60, 2, 0]))

# --- pictures -----------------------------------------------------------------------------------------
def png(width, height, depth, colour, rows, interlace=0, extra=b""):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(
            ">I", zlib.crc32(kind + content))
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    data = b"".join(b"\0" + row for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(data)) +
            chunk(b"IEND", b""))


def palette(colours):
    content = bytes(colours)
    return struct.pack(">I", len(content)) + b"PLTE" + content + struct.pack(
        ">I", zlib.crc32(b"PLTE" + content))


seed("image", "grey.png", png(3, 2, 8, 0, [b"\0\x80\xff", b"\1\2\3"]))
seed("image", "rgb.png", png(2, 1, 8, 2, [b"\1\2\3\4\5\6"]))
seed("image", "rgba.png", png(1, 2, 8, 6, [b"\1\2\3\4", b"\5\6\7\x08"]))
seed("image", "deep.png", png(2, 1, 16, 4, [b"\1\2\3\4\5\6\7\x08"]))
seed("image", "palette.png", png(4, 1, 2, 3, [b"\x1b"], extra=palette(range(12))))
seed("image", "interlaced.png", png(1, 1, 8, 0, [b"\x42"], interlace=1))
# A grey JPEG of 8 × 8 pixels: tables of ones, one block whose mean is 0.
seed("image", "grey.jpg", bytes.fromhex(
    "ffd8ffdb004300" + "01" * 64 + "ffc0000b080008000801011100"
    "ffc40014000100000000000000000000000000000000"
    "ffc40014100100000000000000000000000000000000"
    "ffda0008010100003f003fffd9"))

# --- text ---------------------------------------------------------------------------------------------
seed("csv", "header", b"\x01a,b\n1,2\n-3.5e2, 4 \n")
seed("csv", "quoted", b"\x03\xef\xbb\xbf\"a\",\"b \"\"c\"\"\"\r\n1,\r\n\r\n2,3\r\n")
seed("csv", "targets", b"\x18\x031;2\n")
seed("csv", "typed", b"\x90\x06;\x06\x00" + b"1;2;3\n4;5;6\n")
seed("csv", "named", b"\x21b,a\n1,inf\n2,nan\n")
seed("csv", "packed", b"\x01" + packed("x,y\n1,2\n"))
seed("stage", "all", "overlay : photo, mark : out?n=3&s=1.5&on=true&axes=[0, -1]&mode=bicubic")
seed("stage", "none", "fill::x")
seed("stage", "bad", "relu:a,,b:c?=1")
seed("named", "real", "leaky_relu(alpha=0.2)")
seed("named", "optimizer", "adam(learning_rate=1e-3, b1=0.8, eps_root=-1.5e-300)")
seed("named", "layer", 'conv(channels=4, kernel_size=[3, 3], padding="same", use_bias=false)')
seed("named", "words", 'sgd(nesterov=true, name="a \\"b\\" \\\\", n=inf, m=-nan)')
seed("config", "all", b"STOKER_DEVICE=vulkan:1\0STOKER_THREADS=4\0STOKER_FLUSH_SUBNORMALS=yes\0"
     b"STOKER_CACHE_DIR=\0XDG_CACHE_HOME=/tmp\0HOME=/root\0STOKER_ISA=v3\0STOKER_LOG=debug")
seed("config", "bad", b"STOKER_THREADS=99999999999\0STOKER_VALIDATION=perhaps\0=\0HOME=")


def network(layers, inputs, outputs=None, shape=(4,)):
    return {"format": 1, "inputs": [{"name": "x", "dtype": "f32", "shape": list(shape)}],
            "layers": [{"name": name, "kind": kind, "options": options}
                       for name, kind, options in layers],
            "steps": [{"layer": i, "inputs": source} for i, source in enumerate(inputs)],
            "outputs": outputs or [["step", len(layers) - 1, 0]]}


x = [["input", 0, 0]]
seed("network", "dense", json.dumps(network(
    [("dense_0", "dense", "options(units=3, activation=\"relu\")"),
     ("dropout_0", "dropout", "options(rate=0.5)")], [x, [["step", 0, 0]]])))
seed("network", "conv", json.dumps(network(
    [("conv_0", "conv", "options(channels=2, kernel_size=[3, 3], padding=\"same\")"),
     ("flatten_0", "flatten", "options")], [x, [["step", 0, 0]]], shape=(1, 8, 8))))
seed("network", "joined", json.dumps(network(
    [("add_0", "add", "options")], [[x[0], x[0]]]) | {"output_names": ["sum"]}))
seed("network", "torn", '{"format": 1, "inputs": [')

# The parts of a model file's metadata, in alphabetical order; none: as the model has it.
seed("model", "metadata", b"\0\0[\"dense_0\"]\0\0")
seed("model", "other_options", b"\0\0\0\0" + json.dumps(
    {"loss": "mean_squared_error", "optimizer": "adam(learning_rate=0.1)", "accumulate_gradients": 2,
     "weight_decay": 0.1, "seed": 1, "losses": [], "schedule": False}).encode())
seed("model", "file", b"\1" + safetensors({"__metadata__": {"format": "stoker.model/1"}}, b""))
seed("model", "json", b"\2" + json.dumps(
    {"format": "stoker.params/1", "params": {
        "dense_0.bias": {"type": "f32", "shape": [2], "data": [0.5, "nan"]},
        "dense_0.kernel": {"type": "f32", "shape": [2, 2], "data": [[1, 2], [3, "-inf"]]}}}).encode())
seed("model", "bytes", b"\3" + safetensors(
    {"__metadata__": {"format": "stoker.params/1"},
     "dense_0.bias": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
     "dense_0.kernel": {"dtype": "F32", "shape": [2, 2], "data_offsets": [8, 24]}}, six))

seed("script", "chain", "local x = buffer{1, 2, -3}\nprint(relu(x), args.n or 3)\n")
seed("script", "errors", "print(pcall(function() error{a = 1} end))\nlocal t = setmetatable({}, "
     "{__index = function(t, k) return k .. k end})\nprint(t.ab, #'x', select('#', 1, nil))\n")
seed("script", "coroutines", "local c = coroutine.wrap(function(a) for i = 1, 3 do coroutine.yield(a + i) "
     "end end)\nprint(c(1), c(), c())\ngoto done\n::done::\n")
seed("script", "strings", "print(('%5.2f %q %s'):format(1.5, 'a\\n', {}), ('abc'):find('b(.)'), "
     "('x'):rep(10, ','), ('a,b'):gsub(',', '%0;'), utf8.char(228))\n")
seed("script", "tables", "local t = {3, 1, 2}\ntable.sort(t, function(a, b) return a > b end)\n"
     "print(table.concat(t, ' '), table.unpack(t), 7 // 2, 7 % -3, 2^53 | 0, 1 << 62)\n")
seed("script", "endless", "while true do end\n")
seed("script", "memory", "local s = 'x'\nwhile true do s = s .. s end\n")

# --- ONNX: messages in protobuf's wire format -----------------------------------------------------------
def varint(value):
    value &= 2 ** 64 - 1
    return bytes([value]) if value < 128 else bytes([value % 128 + 128]) + varint(value // 128)


def message(*fields):
    """Of (number, value): an int, bytes, text, or a float."""
    content = b""
    for number, value in fields:
        if isinstance(value, int):
            content += varint(number * 8) + varint(value)
        elif isinstance(value, float):
            content += varint(number * 8 + 5) + struct.pack("<f", value)
        else:
            value = value.encode() if isinstance(value, str) else value
            content += varint(number * 8 + 2) + varint(len(value)) + value
    return content


def onnx_tensor(name, number, dims, *data):
    return message(*[(1, extent) for extent in dims], (2, number), *data, (8, name))


def onnx_info(name, number, *dims):
    shape = message(*[(1, message((1 if isinstance(d, int) else 2, d))) for d in dims])
    return message((1, name), (2, message((1, message((1, number), (2, shape))))))


def onnx_node(op, inputs, outputs, *attributes, domain=""):
    return message(*[(1, x) for x in inputs], *[(2, y) for y in outputs], (4, op),
                   *[(5, a) for a in attributes], (7, domain))


def onnx_model(graph, *fields):
    return message((1, 8), (2, "seeds"), (7, graph), (8, message((2, 17))), *fields)


pair = onnx_tensor("w", 1, [2], (9, six[:8]))
seed("onnx", "add", onnx_model(message(
    (1, onnx_node("Add", ["x", "w"], ["y"])), (2, "g"), (5, pair), (11, onnx_info("x", 1, "n", 2)),
    (12, onnx_info("y", 1, "n", 2))), (14, message((1, "key"), (2, "value")))))
branch = message((1, onnx_node("Identity", ["x"], ["b"])), (12, onnx_info("b", 1)))
seed("onnx", "if", onnx_model(message(
    (1, onnx_node("If", ["c"], ["y"], message((1, "then_branch"), (6, branch), (20, 5)),
                  message((1, "else_branch"), (6, branch), (20, 5)))),
    (11, onnx_info("c", 9)), (11, onnx_info("x", 1, 2)), (12, onnx_info("y", 1)))))
sparse = message((1, onnx_tensor("s", 7, [1], (7, 5))), (2, onnx_tensor("", 7, [1], (7, 3))), (3, 2), (3, 2))
seed("onnx", "attributes", onnx_model(message(
    (1, onnx_node("Many", [], ["y"], message((1, "i"), (3, -1), (20, 2)), message((1, "f"), (2, 0.5)),
                  message((1, "s"), (4, "text"), (20, 3)), message((1, "t"), (5, pair), (20, 4)),
                  message((1, "fs"), (7, six), (20, 6)), message((1, "is"), (8, b"\1\2\3"), (20, 7)))),
    (15, sparse), (5, onnx_tensor("h", 22, [3], (5, b"\x21\7"))), (5, onnx_tensor("t", 8, [1], (6, "a"))),
    (12, onnx_info("y", 1)))))
call = onnx_node("Twice", ["x"], ["y"], domain="own")
twice = message((1, "Twice"), (4, "a"), (5, "b"), (7, onnx_node("Add", ["a", "a"], ["b"])),
                (9, message((2, 17))), (10, "own"))
seed("onnx", "function", onnx_model(message(
    (1, call), (11, onnx_info("x", 1)), (12, onnx_info("y", 1))), (8, message((1, "own"), (2, 1))), (25, twice)))
seed("onnx", "external", onnx_model(message((5, message(
    (1, 2), (2, 1), (8, "w"), (13, message((1, "location"), (2, "../w.bin"))), (14, 1))))))


def onnx_attribute(name, value):
    """By the kind of the value: an integer, a real, a text, a graph (bytes), a list of integers."""
    if isinstance(value, int):
        return message((1, name), (3, value), (20, 2))
    if isinstance(value, float):
        return message((1, name), (2, value), (20, 1))
    if isinstance(value, str):
        return message((1, name), (4, value), (20, 3))
    if isinstance(value, bytes):
        return message((1, name), (6, value), (20, 5))
    return message((1, name), *[(8, each) for each in value], (20, 7))


def onnx_call(op, inputs, outputs, domain="", **attributes):
    return onnx_node(op, inputs.split(), outputs.split(),
                     *[onnx_attribute(name, value) for name, value in attributes.items()], domain=domain)


def onnx_graph(nodes, inputs, outputs, constants=()):
    """Inputs as (name, element type, dims), outputs by name, constants as (name, dims, numbers)."""
    tensors = []
    for name, dims, numbers in constants:
        real = any(isinstance(n, float) for n in numbers)
        raw = struct.pack(f"<{len(numbers)}{'f' if real else 'q'}", *numbers)
        tensors.append((5, onnx_tensor(name, 1 if real else 7, dims, (9, raw))))
    return message(*[(1, node) for node in nodes], (2, "g"), *tensors,
                   *[(11, onnx_info(name, kind, *dims)) for name, kind, dims in inputs],
                   *[(12, message((1, name))) for name in outputs.split()])


more = onnx_graph([onnx_call("Add", "s s", "t"), onnx_call("ReduceSum", "t", "sum", keepdims=0),
                   onnx_call("Less", "sum end", "again")],
                  [("i", 7, []), ("go", 9, []), ("s", 1, ["n"])], "again t t", [("end", [], [99.0])])
step = onnx_graph([onnx_call("Add", "h e", "g"), onnx_call("Identity", "g", "r")],
                  [("h", 1, [2]), ("e", 1, [2])], "g r")
one = onnx_graph([onnx_call("Shape", "x", "b")], [], "b")
two = onnx_graph([onnx_call("Size", "x", "n1"), onnx_call("Unsqueeze", "n1 first", "b")], [], "b",
                 [("first", [1], [0])])
runs = {
    "loop": onnx_graph([onnx_call("Loop", "most yes x", "last all", body=more)],
                       [("x", 1, ["n"]), ("yes", 9, [])], "last all", [("most", [], [5])]),
    "if": onnx_graph([onnx_call("If", "c", "y", then_branch=one, else_branch=two)],
                     [("c", 9, []), ("x", 1, [2, 3])], "y"),
    "scan": onnx_graph([onnx_call("Scan", "h0 x", "h y", body=step, num_scan_inputs=1)],
                       [("h0", 1, [2]), ("x", 1, ["n", 2])], "h y"),
    "places": onnx_graph([onnx_call("NonZero", "x", "at"), onnx_call("Transpose", "at", "rows"),
                          onnx_call("GatherND", "x rows", "y"), onnx_call("Unique", "y", "u", sorted=1)],
                         [("x", 1, ["n", 3])], "u"),
    "conv": onnx_graph([onnx_call("Conv", "x w", "c", pads=[1, 1, 1, 1], strides=[1, 2]),
                        onnx_call("BatchNormalization", "c s s s s", "b"), onnx_call("Relu", "b", "r"),
                        onnx_call("MaxPool", "r", "p", kernel_shape=[2, 2]),
                        onnx_call("ConvTranspose", "p w", "y", output_padding=[0, 0])],
                       [("x", 1, ["n", 2, 6, 6])], "y",
                       [("w", [2, 2, 3, 3], [0.5] * 36), ("s", [2], [1.0, 2.0])]),
    "shapes": onnx_graph([onnx_call("Shape", "x", "s"), onnx_call("Slice", "s from to", "n"),
                          onnx_call("Concat", "n rest", "dims", axis=0), onnx_call("Reshape", "x dims", "r"),
                          onnx_call("Expand", "r wide", "e"), onnx_call("Tile", "e twice", "t"),
                          onnx_call("Pad", "t around", "y", mode="reflect")],
                         [("x", 1, ["n", 4])], "y",
                         [("from", [1], [0]), ("to", [1], [1]), ("rest", [2], [2, -1]), ("wide", [3], [1, 1, 1]),
                          ("twice", [3], [1, 2, 1]), ("around", [6], [0, 1, 0, 0, 1, 1])]),
    "made": onnx_graph([onnx_call("ConstantOfShape", "dims", "zeros"), onnx_call("Range", "low high by", "line"),
                        onnx_call("EyeLike", "x", "eye"), onnx_call("CumSum", "x axis", "sums"),
                        onnx_call("Trilu", "x", "upper"), onnx_call("OneHot", "line depth pair", "hot")],
                       [("x", 1, [3, 3])], "zeros line eye sums upper hot",
                       [("dims", [2], [2, 3]), ("low", [], [0]), ("high", [], [6]), ("by", [], [2]), ("axis", [], [0]),
                        ("depth", [], [4]), ("pair", [2], [0.0, 1.0])]),
    "chosen": onnx_graph([onnx_call("TopK", "x k", "v i"), onnx_call("GatherElements", "x i", "g", axis=1),
                          onnx_call("ScatterElements", "x i v", "sc", axis=1), onnx_call("ArgMax", "x", "a", axis=1),
                          onnx_call("Resize", "image none none sizes", "big", mode="linear")],
                         [("x", 1, ["n", 4]), ("image", 1, [1, 1, 2, 3])], "g sc a big",
                         [("k", [1], [2]), ("sizes", [4], [1, 1, 5, 4])]),
    "boxes": onnx_graph([onnx_call("NonMaxSuppression", "b s most", "kept")],
                        [("b", 1, [1, 6, 4]), ("s", 1, [1, 2, 6])], "kept", [("most", [1], [3])]),
    "lists": onnx_graph([onnx_call("SplitToSequence", "x", "parts", axis=0), onnx_call("SequenceAt", "parts k", "one"),
                         onnx_call("SequenceInsert", "parts one k", "longer"),
                         onnx_call("ConcatFromSequence", "longer", "y", axis=0),
                         onnx_call("SequenceLength", "longer", "n")],
                        [("x", 1, ["n", 2])], "y n", [("k", [], [0])]),
    "texts": onnx_graph([onnx_call("StringSplit", "t", "words counts", delimiter=" "),
                         onnx_call("StringConcat", "words words", "twice"), onnx_call("Cast", "c", "as_text", to=8)],
                        [("t", 8, [2]), ("c", 7, [2])], "twice counts as_text"),
    "recurrent": onnx_graph([onnx_call("LSTM", "x w r", "y h c", hidden_size=1), onnx_call("Einsum", "y y", "e",
                                                                                      equation="abcd,abed->abce")],
                            [("x", 1, ["n", 1, 2])], "e h c", [("w", [1, 4, 2], [0.5] * 8), ("r", [1, 4, 1], [0.25] * 4)]),
    "integers": onnx_graph([onnx_call("DynamicQuantizeLinear", "x", "q s z"), onnx_call("MatMulInteger", "q q z z", "p"),
                            onnx_call("DequantizeLinear", "q s z", "d"), onnx_call("BitShift", "n n", "b", direction="LEFT"),
                            onnx_call("Mod", "n m", "rest")],
                           [("x", 1, [3, 3]), ("n", 13, [2]), ("m", 13, [2])], "p d b rest"),
    "signal": onnx_graph([onnx_call("DFT", "x length", "f", axis=1), onnx_call("HannWindow", "size", "w"),
                          onnx_call("STFT", "x hop w size", "s")],
                         [("x", 1, [1, 16, 1])], "f s", [("length", [], [8]), ("size", [], [8]), ("hop", [], [4])]),
    "attention": onnx_graph([onnx_call("Attention", "q k v", "a", q_num_heads=2, kv_num_heads=2),
                             onnx_call("LayerNormalization", "a g", "l"), onnx_call("Softmax", "l", "s"),
                             onnx_call("Gelu", "s", "y")],
                            [("q", 1, [1, 3, 4]), ("k", 1, [1, "n", 4]), ("v", 1, [1, "n", 4])], "y",
                            [("g", [4], [1.0] * 4)]),
}
for index, (name, graph) in enumerate(runs.items()):
    file = message((1, 10), (2, "seeds"), (7, graph), (8, message((2, 23))))
    seed("onnx_run", name, b"\0" + file)
    damages = bytes((i * i * 11 + i * 29 + index * 71) % 256 for i in range(8 * (1 + index % 3)))
    seed("onnx_run", name + "_damaged", bytes([1 + index % 3]) + damages + file)
seed("onnx_value", "tensor", b"\0" + pair)
seed("onnx_value", "sequence", b"\1" + message((2, 1), (3, pair), (3, pair)))
seed("onnx_value", "optional", b"\2" + message((2, 3), (5, message((2, 1), (3, pair)))))
seed("onnx_value", "none", b"\2" + message((2, 1)))
seed("onnx_value", "map", b"\3" + message((2, 7), (3, 4), (5, message((2, 1), (3, pair)))))

# --- GLSL ---------------------------------------------------------------------------------------------
seed("glsl", "index", "void main() { uint i = stoker_index(); if (i < n) y(i) = x(i) * 2.0; }\n")
seed("glsl", "macros", "#define A0 v += x(0);\n#define \\\n  A1 A0 /* A0 */ A0 // A0\nvoid main() { float v = 0.0; A1 y_store(0, v); }\n")
seed("glsl", "functions", "shared float q[64];\nfloat f(float v) { return v > 1.0 ? f(v) : q[1]; }\nvoid main() { [[unroll]] for (int a = 0; a < 4; ++a) y(a) = f(x(uint(x(a)))); barrier(); }\n")
seed("glsl", "conditions", "#if !!(1 + 2) && defined(T_IS_f32)\n#else\n#error no\n#endif\nvoid main() { }\n")

# --- bodies of inference requests ---------------------------------------------------------------------
def infer_body(inputs, rest="", tensors=b"", flags=0):
    text = ('{"inputs":[' + ",".join(inputs) + "]" + rest + "}").encode()
    length = struct.pack(">H", len(text)) if tensors else b""
    return bytes([flags | (1 if tensors else 0)]) + length + text + tensors


def infer_input(name, shape, datatype, rest):
    return f'{{"name":"{name}","shape":{shape},"datatype":"{datatype}",{rest}}}'


flat = infer_input("optional f", "[2,3]", "FP32", '"data":[1,2.5,-3e-2,4,5,6]')
bodies = {
    "flat": infer_body([flat]),
    "nested": infer_body([infer_input("optional f", "[2,3]", "FP32", '"data": [[1,2,3],[4,5,6]]')]),
    "empty": infer_body([infer_input("optional", "[2,0]", "INT64", '"data":[[],[]]')]),
    "scalar": infer_body([infer_input("optional", "[]", "UINT64", '"data":18446744073709551615')]),
    "strings": infer_body([infer_input("optional s", "[2]", "BYTES", r'"data":["\u00e9\ud834\udd1e","\n"]')]),
    "truths": infer_body([infer_input("optional", "[4]", "BOOL", '"data":[true,false,1,0]')]),
    "late": infer_body(['{"data":[[0.1],[1e5]],"datatype":"FP64","name":"optional b","shape":[2,1]}']),
    "parameters": infer_body([flat], ',"id":"42","parameters":{"timeout":5,"priority":1,"binary_data_output":true,"x":[{}]}'),
    "outputs": infer_body([flat], ',"outputs":[{"name":"optional f","parameters":{"classification":2,"binary_data":true}}]'),
    "unknown": infer_body([flat], ',"other":{"a":[null,{"b":-0.0}],"c":"d"}'),
    "limited": infer_body([flat], ',"id":"abc"', flags=2),
    "half": infer_body([infer_input("optional", "[1,2]", "FP16", '"parameters":{"binary_data_size":4}')],
                       ',"parameters":{"binary_data_output":true}', b"\0\x3c\0\x7e"),
    "binary_strings": infer_body([infer_input("optional s", "[2]", "BYTES", '"parameters":{"binary_data_size":11}')],
                                 "", b"\3\0\0\0abc\0\0\0\0"),
    "mixed": infer_body([infer_input("optional", "[2]", "BOOL", '"parameters":{"binary_data_size":2}'), flat,
                         infer_input("optional b", "[1]", "INT32", '"parameters":{"binary_data_size":4}')],
                        "", b"\0\1\xff\xff\xff\xff"),
}
for name, content in bodies.items():
    seed("protocol", name, content)

# --- compressed bodies -----------------------------------------------------------------------------------
raw_stream = zlib.compressobj(9, zlib.DEFLATED, -15)
seed("coding", "fields", b"\x00gzip;q=0.5, deflate;q=0.8, *;q=0")
seed("coding", "gzip", b"\x01" + packed("{}" * 700))
seed("coding", "parts", b"\x01" + packed("a") + packed("b"))
seed("coding", "bomb", b"\x01" + packed("a" * (1 << 21)))
seed("coding", "cut", b"\x01" + packed("abcdefgh")[:-3])
seed("coding", "deflate", b"\x02" + zlib.compress(b"[1,2]" * 300))
seed("coding", "raw", b"\x02" + raw_stream.compress(b"[1,2]" * 300) + raw_stream.flush())
# --- model configurations: the form, then the text ----------------------------------------------------
seed("model_config", "text", b"0" + b"""
name: "m" max_batch_size: 8  # a comment
input [ { name: "x" data_type: TYPE_FP32 dims: [ 3, -1 ] } ]
output { name: 'y' data_type: TYPE_STRING, dims: 1; label_filename: "lab" "els.\\x74xt" }
version_policy: { specific { versions: [1, 3] } }
dynamic_batching { preferred_batch_size: [ 4, 8 ] priority_levels: 2 default_priority_level: 2
  priority_queue_policy { key: 1 value: < max_queue_size: 10 timeout_action: DELAY > } }
instance_group [ { count: 2 kind: KIND_GPU gpus: [ 1 ] } ]
model_warmup { batch_size: 2 inputs { key: "x" value { data_type: TYPE_FP32 dims: 3 zero_data: true } } }
parameters { key: "stoker.deadline_us" value: { string_value: "1000000" } }
""")
seed("model_config", "json", b"1" + b"""{"name": "m", "max_batch_size": 4,
"input": [{"name": "x", "data_type": "TYPE_INT64", "dims": [2]}],
"dynamic_batching": {"max_queue_delay_microseconds": "250", "priority_levels": 1, "default_priority_level": 1,
"priority_queue_policy": {"1": {"timeout_action": "DELAY"}}}, "instance_group": [{"kind": "KIND_CPU"}],
"version_policy": {"latest": {"num_versions": 2}}, "parameters": {"stoker.wait": {"string_value": "none"}}}""")

# --- decisions ----------------------------------------------------------------------------------------
for number in range(6):
    steps = bytes((i * i * 7 + i * 31 + number * 53) % 256 for i in range(120))
    for fuzzer in ("actors", "mailbox", "timeline"):
        seed(fuzzer, f"mixed{number}", steps)
    seed("onnx_passes", f"mixed{number}", steps)
    seed("graph", f"exact{number}", bytes([2 * number]) + steps[:60])
    seed("graph", f"elements{number}", bytes([2 * number + 1]) + steps[40:90])
    for part in range(3):
        seed("kernel", f"mixed{number}{part}", bytes([number * 19 + part * 7]) + steps[part:part + 40])
