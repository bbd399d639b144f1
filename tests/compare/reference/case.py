"""A recorded case by its names, whatever its inputs are computed with."""


class Case:
    """Its options, and its tensors by name."""

    def __init__(self, case, inputs):
        given = case["attributes"]
        self.case, self.all = case, inputs
        self.options, self.training = given.get("options") or {}, given.get("training", False)
        names = given.get("names") or [f"x{i}" for i in range(len(inputs))]
        self.tensors = dict(zip(names, inputs, strict=True))
        self.inputs = [self.tensors[name] for name in names if name[0] == "x" and name[1:].isdigit()]

    def option(self, name, fallback):
        return self.options.get(name, fallback)

    def get(self, name):
        return self.tensors.get(name)

    def __getitem__(self, name):
        return self.tensors[name]
