"""Compiles programs through Keel, and prints the key of each by Keel (from the journal) and by JAX.

    edit_worker.py probe                        one program's keys as JSON
    edit_worker.py source FOLDER PART/PARTS     edits of source files, written below FOLDER
    edit_worker.py meaning                      edits that change the program

Tables come as a JSON list of rows: name, expected ("same" or "new"), Keel's and JAX's verdict, and
whatever else a failed row needs."""

import fcntl
import importlib.util
import json
import os
import pathlib
import sys
import warnings

import jax
from jax._src import compilation_cache, compiler

warnings.simplefilter("ignore")
JOURNAL = pathlib.Path(os.environ["KEEL_RUN_DIR"]) / os.environ["KEEL_RUN_ID"] / "journal.ndjson"
jax_keys = []


def note_jax_key(wrapped=compiler.compile_or_get_cached):
    """JAX's own key of each program that it compiles, with its cache left off."""
    def noting(backend, computation, devices, compile_options, *rest, **more):
        jax_keys.append(compilation_cache.get_cache_key(computation, devices, compile_options,
                                                        backend))
        return wrapped(backend, computation, devices, compile_options, *rest, **more)
    compiler.compile_or_get_cached = noting


def recorded():
    """The journal as it stands. Whoever writes holds a lock: without it, half a line may be seen."""
    if not JOURNAL.exists():
        return b""
    with open(JOURNAL, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        return file.read()


def keys(make):
    """Makes and compiles a program: its event, key and components by Keel, and its key by JAX."""
    jax.clear_caches()  # JAX would hand out the executable of an equal program that it knows
    made = make()
    lowered, options = made if isinstance(made, tuple) else (made, None)
    before = len(recorded())
    error = ""
    try:
        lowered.compile(compiler_options=options)
    except Exception as raised:  # a program that the plugin refuses has a key all the same
        error = str(raised)[:200]
    events = [json.loads(line) for line in recorded()[before:].splitlines()]
    keyed = [e for e in events if e["event"] in ("miss", "load", "uncacheable")]
    unread = [e.get("message", "") for e in events if e["event"] == "fallback"]
    assert len(keyed) == 1, (error, events)
    return {"event": keyed[0]["event"], "keel": keyed[0].get("key"), "jax": jax_keys[-1],
            "components": keyed[0].get("components", {}), "error": error, "unread": unread}


def row(name, expected, base, edited):
    def verdict(whose):
        return "same" if base[whose] == edited[whose] else "new"
    moved = [part for part, digest in edited["components"].items()
             if base["components"].get(part, digest) != digest]
    return {"name": name, "expected": expected, "keel": verdict("keel"), "jax": verdict("jax"),
            "events": [base["event"], edited["event"]], "moved": moved,
            "errors": [base["error"], edited["error"]], "unread": base["unread"] + edited["unread"]}


def lowered_from(folder, place, file, text):
    path = pathlib.Path(folder) / place / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.lowered


def source_edits():
    """Name, folder, file and text of each."""
    import edits_source as edits
    model = ("source", "model.py")
    return ([(name, place, file, edits.BASE) for name, place, file in edits.PLACES]
            + [("the helper in a module of its own", *model, edits.HELPER_ELSEWHERE(edits.BASE))]
            + [(name, *model, edit(edits.BASE)) for name, edit in edits.EDITS])


def source_table(folder, part):
    import edits_source as edits
    base = keys(lambda: lowered_from(folder, "source", "model.py", edits.BASE))
    sys.path.insert(0, folder)
    (pathlib.Path(folder) / "keel_test_helper.py").write_text(edits.HELPER_MODULE)
    number, parts = map(int, part.split("/"))
    every = source_edits()
    first, end = ((number - 1) * len(every) // parts, number * len(every) // parts)
    return [row(name, "same", base, keys(lambda: lowered_from(folder, place, file, text)))
            for name, place, file, text in every[first:end]]


def attempt(name, expected, base, edited):
    """A row; also where JAX cannot make one of the programs."""
    try:
        return row(name, expected, keys(base), keys(edited))
    except Exception as error:
        return {"name": name, "expected": expected, "keel": "none", "jax": "none", "events": [],
                "moved": [], "errors": [f"{type(error).__name__}: {error}"[:400]], "unread": []}


def meaning_table():
    import edits_meaning as edits
    wanted = sys.argv[2:]
    return [attempt(name, expected, base, edited)
            for expected, table in (("new", edits.EDITS), ("same", edits.NEUTRAL))
            for name, base, edited in table if not wanted or name in wanted]


def probe():
    import jax.numpy as jnp
    shape = jax.ShapeDtypeStruct((8, 8), "float32")
    return keys(lambda: jax.jit(lambda x: jnp.exp(x) @ x + 1).lower(shape))


def main():
    note_jax_key()
    if sys.argv[1] == "source":
        answer = source_table(*sys.argv[2:])
    else:
        answer = meaning_table() if sys.argv[1] == "meaning" else probe()
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
