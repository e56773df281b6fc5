"""Loops and branches for front.Front and for its twin of JAX, in the same words.

A body is a function of a list of tensors that returns a list of tensors.
"""

import ctypes

import front
import jax
import jax.numpy as jnp

BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(front.Tensor), ctypes.POINTER(front.Tensor))
SAVE = {"all": 0, "dots": 1, "nothing": 2}


class Scan(ctypes.Structure):
    _fields_ = [
        ("carry", ctypes.POINTER(front.Tensor)), ("carry_count", ctypes.c_size_t),
        ("inputs", ctypes.POINTER(front.Tensor)), ("input_count", ctypes.c_size_t),
        ("output_count", ctypes.c_size_t), ("length", ctypes.c_int64),
        ("is_reversed", ctypes.c_int), ("save", ctypes.c_int),
    ]


LAYER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(front.Tensor),
                         ctypes.POINTER(front.Tensor))


class Layers(ctypes.Structure):
    _fields_ = [
        ("carry", ctypes.POINTER(front.Tensor)), ("carry_count", ctypes.c_size_t),
        ("parameters", ctypes.POINTER(front.Tensor)), ("parameter_count", ctypes.c_size_t),
        ("layer_count", ctypes.c_size_t), ("save", ctypes.c_int), ("barrier_every", ctypes.c_size_t),
        ("is_unrolled", ctypes.c_int),
    ]


class Custom(ctypes.Structure):
    _fields_ = [
        ("forward", BODY), ("backward", BODY), ("user", ctypes.c_void_p),
        ("inputs", ctypes.POINTER(front.Tensor)), ("input_count", ctypes.c_size_t),
        ("output_count", ctypes.c_size_t), ("saved_count", ctypes.c_size_t),
    ]


def tensors(items):
    return (front.Tensor * max(1, len(items)))(*items)


class Front(front.Front):
    """Callbacks live as long as the context: gradients may call them again."""

    def __init__(self, library):
        super().__init__(library)
        self.kept, self.raised = [], []

    def body(self, function, count):
        def call(user, given, out):
            try:
                for i, tensor in enumerate(function([given[k] for k in range(count)])):
                    out[i] = tensor
            except Exception as error:  # ctypes would drop it
                self.raised.append(error)

        self.kept.append(BODY(call))
        return self.kept[-1]

    def control(self, name, out, *arguments):
        function = getattr(self.c, f"keel_{name}_at")
        function.restype = None
        results = tensors([front.Tensor()] * out)
        function(front.HERE, *arguments, results)
        if self.raised:
            raise self.raised.pop()
        return list(results)[:out]

    def scan(self, body, carry, inputs=(), outputs=0, length=0, is_reversed=False, save="all"):
        given = Scan(tensors(carry), len(carry), tensors(inputs), len(inputs), outputs, length,
                     is_reversed, SAVE[save])
        return self.control("scan", len(carry) + outputs, self.context,
                            self.body(body, len(carry) + len(inputs)), None, ctypes.byref(given))

    def loop(self, condition, body, carry):
        return self.control("while", len(carry), self.context, self.body(lambda c: [condition(c)], len(carry)),
                            self.body(body, len(carry)), None, tensors(carry), ctypes.c_size_t(len(carry)))

    def cond(self, predicate, on_true, on_false, count):
        return self.control("cond", count, predicate, self.body(lambda c: on_true(), 0),
                            self.body(lambda c: on_false(), 0), None, ctypes.c_size_t(count))

    def switch(self, index, branches, count):
        bodies = [self.body(lambda c, b=b: b(), 0) for b in branches]
        return self.control("switch", count, index, (BODY * len(bodies))(*bodies),
                            ctypes.c_size_t(len(bodies)), None, ctypes.c_size_t(count))


    def checkpoint(self, body, given, count, save):
        return self.control("checkpoint", count, self.context, self.body(body, len(given)), None, SAVE[save],
                            tensors(given), ctypes.c_size_t(len(given)), ctypes.c_size_t(count))

    def custom(self, forward, backward, inputs, count, saved):
        both = len(inputs) + count + saved
        given = Custom(self.body(forward, len(inputs)), self.body(backward, both + count), None,
                       tensors(inputs), len(inputs), count, saved)
        return self.control("custom_gradient", count, self.context, ctypes.byref(given))

    def layers(self, layer, carry, parameters, save="all", barrier_every=0, declined=None):
        """`declined`: a part of the reason not to scan; None: it must scan."""

        def call(user, number, given, out):
            try:
                count = len(carry) + len(parameters[0])
                for i, tensor in enumerate(layer(number, [given[k] for k in range(count)])):
                    out[i] = tensor
            except Exception as error:
                self.raised.append(error)

        self.kept.append(LAYER(call))
        flat = [x for some in parameters for x in some]
        given = Layers(tensors(carry), len(carry), tensors(flat), len(parameters[0]), len(parameters),
                       SAVE[save], barrier_every, declined == "it was asked not to")
        out = self.control("layers", len(carry), self.context, self.kept[-1], None, ctypes.byref(given))
        self.c.keel_layers_declined.restype = ctypes.c_char_p
        reason = self.c.keel_layers_declined(self.context)
        if (reason is None) != (declined is None) or (declined and declined not in reason.decode()):
            raise front.Error(f"layers are not scanned: {reason}, and that should be {declined}")
        return out

    def barrier(self, given):
        return self.control("barrier", len(given), tensors(given), ctypes.c_size_t(len(given)))


    def slope(self, function, x):
        """Of the sum of what it gives, at a tensor that nothing else depends on."""
        y = function(x)
        return self.gradients(self.reduce("SUM", y, range(self.c.keel_shape(y).rank)), [x])[0]


class Jax:
    """To be mixed into the twin of against_jax.py."""

    def scan(self, body, carry, inputs=(), outputs=0, length=0, is_reversed=False, save="all"):
        def step(carry, inputs):
            out = body([*carry, *inputs])
            return out[: len(carry)], out[len(carry) :]

        carry, stacked = jax.lax.scan(step, list(carry), list(inputs), length=length or None, reverse=is_reversed)
        return [*carry, *stacked]

    def loop(self, condition, body, carry):
        return jax.lax.while_loop(lambda c: condition(c), lambda c: body(c), list(carry))

    def cond(self, predicate, on_true, on_false, count):
        return jax.lax.cond(predicate, lambda: on_true(), lambda: on_false())

    def switch(self, index, branches, count):
        return jax.lax.switch(jnp.asarray(index), [lambda b=b: b() for b in branches])

    def checkpoint(self, body, given, count, save):
        policy = {"all": jax.checkpoint_policies.everything_saveable, "dots": jax.checkpoint_policies.dots_saveable,
                  "nothing": None}[save]
        return jax.checkpoint(lambda *t: body(list(t)), policy=policy)(*given)

    def custom(self, forward, backward, inputs, count, saved):
        @jax.custom_vjp
        def call(*given):
            return tuple(forward(list(given))[:count])

        def save(*given):
            out = forward(list(given))
            return tuple(out[:count]), (*given, *out)

        call.defvjp(save, lambda kept, gradients: tuple(backward([*kept, *gradients])))
        return list(call(*inputs))

    def barrier(self, given):
        return list(jax.lax.optimization_barrier(tuple(given)))

    def slope(self, function, x):
        return jax.grad(lambda x: jnp.sum(function(x)))(x)

    def layers(self, layer, carry, parameters, save="all", barrier_every=0, declined=None):
        for number, some in enumerate(parameters):
            carry = layer(number, [*carry, *some])
        return carry
