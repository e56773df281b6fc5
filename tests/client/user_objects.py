"""Reading what the user calls arguments, and what JAX compares of a call, asks the user's own objects for
nothing: no attribute, no text, no comparison. A hostile object of each kind is passed through a library
that wraps jax.jit, and to jax.jit itself: static, as a container, held by one, as its key."""

from harness import Report, Workspace, PYTHON, journal, keel_environment, last_json, of_kind, run, told

report = Report()

LIBRARY = '''
import jax


class Wrapper:
    def __init__(self, function):
        self.function = function
        def run(leaves):
            args, kwargs = jax.tree.unflatten(self.tree, leaves)
            return function(*args, **kwargs)
        run.__name__ = getattr(function, "__name__", type(function).__name__)
        self.jitted = jax.jit(run)

    @property
    def __wrapped__(self):
        return self.function

    def __call__(self, *args, **kwargs):
        leaves, self.tree = jax.tree.flatten((args, kwargs))
        return self.jitted(leaves)
'''

SCRIPT = '''
import json, sys
sys.path.insert(0, sys.argv[1])
import jax, jax.numpy as jnp, numpy as np
from wrap import Wrapper

touched = []


def note(what):
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == "<string>":
            touched.append(what)
        frame = frame.f_back


class Meta(type):
    def __getattribute__(kind, name):
        note("type." + name)
        return super().__getattribute__(name)


class Key:
    def __init__(self, number):
        self.number = number
    def __hash__(self):
        return self.number
    def __eq__(self, other):
        note("eq")
        return self.number == other.number
    def __lt__(self, other):
        return self.number < other.number
    def __repr__(self):
        note("repr")
        return "Key"
    __str__ = __repr__


class Model(metaclass=Meta):
    def __getattr__(self, name):
        note("getattr " + name)
        raise AttributeError(name)
    def __call__(self, batch, odd):
        return jnp.sum(batch["tokens"]) + sum(jnp.sum(x) for x in odd.values())
    def __bool__(self):
        note("bool")
        raise ValueError


@Wrapper
def loss(batch, odd):
    return jnp.sum(batch["tokens"]) + sum(jnp.sum(x) for x in odd.values())


for function in (loss, Wrapper(Model())):
    for size in (4, 5):
        function({"tokens": np.ones(size, np.float32), "mask": np.ones(3, np.float32)},
                 {Key(1): np.ones(size, np.float32), Key(2): np.ones(2, np.float32)})


class Held(metaclass=Meta):
    def __init__(self, array, model):
        self.array, self.model = array, model
    def __repr__(self):
        note("repr")
        return "Held"


jax.tree_util.register_pytree_node(Held, lambda held: ((held.array,), held.model),
                                   lambda model, children: Held(children[0], model))


def scored(held, odd, model, key):
    return jnp.sum(held.array)


score = jax.jit(scored, static_argnames=("model", "key"))
for number in (1, 2):
    score(Held(np.ones(4, np.float32), Key(3)), {Key(1): np.ones(2, np.float32)}, model=Model(),
          key=(Key(number), Model()))
print(json.dumps(touched))
'''


def main():
    with Workspace("user-objects") as space:
        script, packages = space.path("script.py"), space.path("site-packages")
        (packages / "wrap").mkdir(parents=True)
        (packages / "wrap" / "__init__.py").write_text(LIBRARY)
        script.write_text(SCRIPT)
        environment = keel_environment(space.path("cache"), space.runs, "hostile")
        answer = run([PYTHON, script, packages], environment)
        report.check("it ran", answer.code == 0, told(answer, 8))
        report.equal("nothing of the user's was asked", last_json(answer), [])
        calls = [event.get("call", "") for event in of_kind(journal(space.runs, "hostile"), "ask")
                 if event["name"] == "jit_scored"]
        report.check("what JAX compares is known, twice",
                     len(calls) == 2 and all(f"\n{line}" in call for call in calls for line in (
                         "s key\t(Key ~0x", "s model\tModel 0x", "n held\tHeld\n", "x held\tKey ~0x",
                         "l held[0]\tf32[4]", "n odd\tdict")), calls)
        names = [event.get("names", "") for event in of_kind(journal(space.runs, "hostile"), "ask")
                 if event["name"] in ("jit_loss", "jit_Model")]
        report.equal("both functions were compiled twice", len(names), 4)
        # One of the programs is the other function's, and loaded: nothing is asked for it.
        report.equal("names that are plain text are known", ["batch['tokens']" in text for text in names if text],
                     [True] * 3)
        report.check("a key of the user's own is not printed", not any("Key" in text for text in names), names)
    report.finish()


if __name__ == "__main__":
    main()
