"""Differences that are known and not Stoker's, each with its reason."""


def on_gpu(device):
    return device != "cpu"


# What holds of a case, and why it is left out.
EXCLUSIONS = [
    (lambda case, device: on_gpu(device) and case.get("code") == "unsupported",
     "the device says that it cannot: GLSL has no f64 functions, and some kernels have no GPU version"),
    (lambda case, device: on_gpu(device) and case["op"] == "abs_of_cast",
     "lavapipe of Mesa 22.3 computes abs() of an s64 that was just made from an s32 wrongly"),
]


def reason(case, device):
    for holds, why in EXCLUSIONS:
        if holds(case, device):
            return why
    return None
