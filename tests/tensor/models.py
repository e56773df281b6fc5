"""include/keel/model.h from Python."""

import ctypes
import re

import front

HEADER = (front.ROOT / "include" / "keel" / "model.h").read_text()


def enumerators(prefix):
    return re.findall(rf"\b{prefix}_(\w+)[,\s}}]", re.search(rf"enum[^{{;]*{{\s*({prefix}_[^}}]*)}}", HEADER)[1] + "}")


INITS, CURVES, RULES, FORMS = (enumerators(f"KEEL_{word}") for word in ("INIT", "CURVE", "RULE", "ATTENTION"))
Double = ctypes.c_double


class Init(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("size", Double), ("make", ctypes.c_void_p), ("data", ctypes.c_void_p)]


class Leaf(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", front.Tensor), ("is_state", ctypes.c_int)]


class Schedule(ctypes.Structure):
    _fields_ = [("curve", ctypes.c_int), *((name, Double) for name in ("peak", "warmup", "end", "last"))]


class Options(ctypes.Structure):
    _fields_ = [("rule", ctypes.c_int), ("rate", Schedule),
                *((name, Double) for name in ("beta1", "beta2", "epsilon", "decay", "clip")),
                ("every", ctypes.c_int), ("name", ctypes.c_char_p)]


class AttentionOptions(ctypes.Structure):
    _fields_ = [("form", ctypes.c_int), ("scale", Double), ("softcap", Double), ("is_causal", ctypes.c_int),
                ("window", ctypes.c_int64), ("block", ctypes.c_int64)]


class Receipt(ctypes.Structure):
    _fields_ = [("form", ctypes.c_int), ("text", ctypes.c_char * 248)]


def attention(k, q, keys, values, mask=None, form="DENSE", scale=0.0, softcap=0.0, causal=False, window=0, block=0):
    """The result and the receipt's text."""
    receipt = Receipt()
    options = AttentionOptions(FORMS.index(form), scale, softcap, causal, window, block)
    out = k.call("attention", q, keys, values, mask or front.Tensor(), options, ctypes.byref(receipt))
    return out, receipt.text.decode()


def schedule(curve, peak, warmup=0, end=0, last=1):
    return Schedule(CURVES.index(curve), peak, warmup, end, last)


def filter_of(c, pattern):
    return ctypes.cast(c.keel_is_named, ctypes.c_void_p), ctypes.c_char_p(pattern.encode())


class Tree:
    def __init__(self, k):
        self.k, self.pointer = k, ctypes.c_void_p()
        k.check(k.c.keel_tree_create, k.context, ctypes.byref(self.pointer))
        k.c.keel_tree_leaf.restype = Leaf
        k.c.keel_tree_count.restype = ctypes.c_size_t

    def add(self, name, dtype, shape, init="NONE", size=0.0, state=False):
        return self.k.call("tree_state" if state else "tree_add", self.pointer, name.encode(),
                           front.DTYPES.index(dtype), front.shape_of(shape), Init(INITS.index(init), size))

    def get(self, name):
        return self.k.call("tree_get", self.pointer, name.encode())

    def initialize(self, seed):
        self.k.c.keel_tree_initialize_at.restype = None
        self.k.c.keel_tree_initialize_at(front.HERE, self.pointer, ctypes.c_uint32(seed))
        self.k.end()

    def leaves(self):
        some = (self.k.c.keel_tree_leaf(self.pointer, ctypes.c_size_t(i))
                for i in range(self.k.c.keel_tree_count(self.pointer)))
        return {leaf.name.decode(): leaf.tensor for leaf in some}

    def put(self, name, tensor):
        self.k.c.keel_tree_put_at.restype = None
        self.k.c.keel_tree_put_at(front.HERE, self.pointer, name.encode(), tensor, 1)

    def save(self, path, part_bytes=0):
        self.k.check(self.k.c.keel_checkpoint_save_at, front.HERE, self.pointer, str(path).encode(), ctypes.c_uint64(part_bytes))

    def load(self, path, pattern=None):
        choice = filter_of(self.k.c, pattern) if pattern else (None, None)
        self.k.check(self.k.c.keel_checkpoint_load_at, front.HERE, self.pointer, str(path).encode(), *choice)

    def free(self):
        self.k.c.keel_tree_free.restype = None
        self.k.c.keel_tree_free(self.pointer)


class Optimizer:
    def __init__(self, tree, rule, rate, beta1=0.0, beta2=0.0, epsilon=0.0, decay=0.0, clip=0.0, every=1, name=None):
        self.k, self.pointer = tree.k, ctypes.c_void_p()
        options = Options(RULES.index(rule), rate, beta1, beta2, epsilon, decay, clip, every, name)
        self.k.check(self.k.c.keel_optimizer_create_at, front.HERE, tree.pointer, ctypes.byref(options),
                     ctypes.byref(self.pointer))

    def scale(self, pattern, rate, decay):
        self.k.c.keel_optimizer_scale.restype = ctypes.c_size_t
        return self.k.c.keel_optimizer_scale(self.pointer, *filter_of(self.k.c, pattern), Double(rate), Double(decay))

    def options(self):
        self.k.c.keel_optimizer_options.restype = ctypes.POINTER(Options)
        return self.k.c.keel_optimizer_options(self.pointer).contents

    def step(self, gradients):
        self.k.c.keel_optimizer_step_at.restype = None
        self.k.c.keel_optimizer_step_at(front.HERE, self.pointer, (front.Tensor * len(gradients))(*gradients))

    def of_step(self, what):
        function = getattr(self.k.c, f"keel_optimizer_{what}")
        function.restype = front.Tensor
        return function(self.pointer)

    def free(self):
        self.k.c.keel_optimizer_free.restype = None
        self.k.c.keel_optimizer_free(self.pointer)


class Rows(ctypes.Structure):
    _fields_ = [(name, front.Tensor) for name in ("is_row", "count", "left_out")]


class RoutingOptions(ctypes.Structure):
    _fields_ = [("top", ctypes.c_int64), ("capacity", ctypes.c_int64), ("scale", Double)]


class Routing(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_int64) for name in ("tokens", "experts", "top", "capacity")),
                *((name, front.Tensor) for name in ("is_chosen", "gate", "load", "dropped", "token", "is_full",
                                                    "slot", "has_slot", "weight"))]


def route(k, scores, choice=None, valid=None, top=1, capacity=1, scale=0.0):
    routing = Routing()
    k.c.keel_route_at.restype = None
    k.c.keel_route_at(front.HERE, scores, choice or front.Tensor(), valid or front.Tensor(),
                      RoutingOptions(top, capacity, scale), ctypes.byref(routing))
    return routing
