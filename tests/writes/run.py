"""Rehearsals of scripts that save, with the libraries that people save with: each script runs for real, then
is rehearsed twice, on one device and on four. After each rehearsal the script's folder is what it was, to the
byte, the mode and the time.

Usage: tests/writes/run.py [NAME...]

It runs with the Python whose libraries it tests, on a build (KEEL_TEST_BUILD, default `build`). A script whose
library is missing is skipped and named. torch.save is tested in tests/torch/rehearse.py.
"""

import hashlib
import importlib.util
import pathlib
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "client"))

from harness import (BUILD, KEEL, ROOT, Report, Workspace, run, run_environment,  # noqa: E402
                     told)

TARGETS = ("cpu:1", "cpu:4")

# What no device computes in a rehearsal: more work than Keel does for a value.
TRAINED = """
import os, shutil, sys
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def step(params, x):
    for _ in range(3):
        x = jnp.tanh(x @ params["w"]) @ params["w"].T
    return {"w": params["w"] - 1e-3 * x.T @ x, "b": params["b"] + x.mean(0)}
params = {"w": jnp.full((512, 512), .01), "b": jnp.zeros(512)}
for _ in range(3): params = step(params, jnp.ones((512, 512)))
def same(a, b): return all(np.array_equal(np.asarray(a[k]), np.asarray(b[k])) for k in a)
"""

# name, the packages that it needs, the script
SCRIPTS = [
    ("savez", "", """
        np.savez("state.npz", **{k: np.asarray(v) for k, v in params.items()})
        assert same(dict(np.load("state.npz")), params)
     """),
    ("save each array", "", """
        os.makedirs("arrays", exist_ok=True)
        for k, v in params.items(): np.save(f"arrays/{k}.npy", v)
        assert same({k: np.load(f"arrays/{k}.npy") for k in params}, params)
     """),
    ("pickle", "", """
        import pickle
        with open("state.pkl", "wb") as file: pickle.dump(jax.device_get(params), file)
        assert same(pickle.load(open("state.pkl", "rb")), params)
     """),
    ("pickle and replace", "", """
        import pickle
        with open("state.tmp", "wb") as file: pickle.dump(params, file); file.flush(); os.fsync(file.fileno())
        os.replace("state.tmp", "state.pkl"); assert os.listdir(".") == ["state.pkl"]
     """),
    ("resume", "", """
        start = int(np.load("state.npz")["step"]) if os.path.exists("state.npz") else 0
        np.savez("state.npz", step=start + 1, w=params["w"]); assert int(np.load("state.npz")["step"]) == start + 1
     """),
    ("text that grows", "", """
        import json
        with open("log.jsonl", "a") as file: file.write(json.dumps({"loss": float(params["b"].mean())}) + "\\n")
        with open("last.json", "w") as file: json.dump(np.asarray(params["b"]).tolist(), file)
     """),
    ("memory map", "", """
        memory = np.memmap("state.bin", "float32", "w+", shape=(512, 512)); memory[:] = params["w"]; memory.flush()
        assert np.array_equal(np.fromfile("state.bin", "float32").reshape(512, 512), params["w"])
     """),
    ("map what is there", "", """
        if not os.path.exists("state.bin"): np.zeros((512, 512), "float32").tofile("state.bin")
        memory = np.memmap("state.bin", "float32", "r+", shape=(512, 512)); memory += np.asarray(params["w"]); memory.flush()
     """),
    ("subprocess", "", """
        import subprocess
        subprocess.run([sys.executable, "-c", "import sys; open('state.bin', 'wb').write(sys.stdin.buffer.read())"],
                       input=np.asarray(params["w"]).tobytes(), check=True)
        subprocess.run("cp state.bin copy.bin; gzip -kf copy.bin; rm -f copy.bin", shell=True, check=True)
        assert os.path.getsize("state.bin") == 512 * 512 * 4
     """),
    ("threads", "", """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor() as pool: list(pool.map(lambda n: np.save(f"part-{n}.npy", params["w"][n::8]), range(8)))
        assert sum(len(np.load(f"part-{n}.npy")) for n in range(8)) == 512
     """),
    ("processes", "", """
        import multiprocessing
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            pool.starmap(np.save, [(f"part-{n}.npy", np.asarray(params["w"])[n::2]) for n in range(2)])
        assert len(np.load("part-1.npy")) == 256
     """),
    ("database", "", """
        import sqlite3
        base = sqlite3.connect("state.db"); base.execute("create table if not exists t (w blob)")
        base.execute("insert into t values (?)", (np.asarray(params["w"]).tobytes(),)); base.commit(); base.close()
     """),
    ("archives", "", """
        import io, tarfile, zipfile
        data = np.asarray(params["w"]).tobytes()
        with zipfile.ZipFile("state.zip", "w") as file: file.writestr("w", data)
        with tarfile.open("state.tar.gz", "w:gz") as file:
            info = tarfile.TarInfo("w"); info.size = len(data); file.addfile(info, io.BytesIO(data))
     """),
    ("keep the last two", "", """
        step = max([int(n) for n in os.listdir(".")], default=0) + 1
        os.mkdir("writing"); np.savez("writing/state.npz", w=params["w"]); os.rename("writing", str(step))
        for old in sorted(map(int, os.listdir(".")))[:-2]: shutil.rmtree(str(old))
        assert len(os.listdir(".")) <= 2
     """),
    ("JAX's cache", "", """
        jax.config.update("jax_compilation_cache_dir", os.path.abspath("cache"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        np.save("w.npy", jax.jit(lambda x: jnp.sin(x) @ x)(params["w"]))
     """),
    ("export", "flatbuffers", """
        from jax import export
        exported = export.export(jax.jit(lambda x: x * 2))(params["b"])
        with open("program.bin", "wb") as file: file.write(exported.serialize())
        np.asarray(params["w"]).tofile("weights.bin")
     """),
    ("orbax", "orbax.checkpoint", """
        import orbax.checkpoint as ocp
        with ocp.StandardCheckpointer() as saver: saver.save(os.path.abspath("orbax"), params, force=True)
        with ocp.StandardCheckpointer() as loader: assert same(loader.restore(os.path.abspath("orbax"), params), params)
     """),
    ("orbax, asynchronous", "orbax.checkpoint", """
        import orbax.checkpoint as ocp
        options = ocp.CheckpointManagerOptions(max_to_keep=2, enable_async_checkpointing=True)
        with ocp.CheckpointManager(os.path.abspath("orbax"), options=options) as manager:
            first = (manager.latest_step() or 0) + 1
            for n in range(first, first + 3):
                params = step(params, jnp.ones((512, 512)))
                manager.save(n, args=ocp.args.StandardSave(params))
            manager.wait_until_finished(); assert manager.latest_step() == first + 2 and len(manager.all_steps()) == 2
     """),
    ("flax", "flax", """
        from flax import serialization
        with open("state.msgpack", "wb") as file: file.write(serialization.to_bytes(params))
        assert same(serialization.from_bytes(params, open("state.msgpack", "rb").read()), params)
     """),
    ("optax", "optax", """
        import optax, pickle
        state = optax.adamw(1e-3).init(params)
        _, state = jax.jit(optax.adamw(1e-3).update)(params, state, params)
        with open("state.pkl", "wb") as file: pickle.dump((params, state), file)
     """),
    ("safetensors", "safetensors", """
        from safetensors.numpy import load_file, save_file
        save_file({k: np.asarray(v) for k, v in params.items()}, "state.safetensors")
        assert same(load_file("state.safetensors"), params)
     """),
    ("safetensors of flax", "safetensors flax", """
        from safetensors.flax import load_file, save_file
        save_file(params, "state.safetensors"); assert same(load_file("state.safetensors"), params)
     """),
    ("hdf5", "h5py", """
        import h5py
        with h5py.File("state.h5", "a") as file:
            if "w" in file: del file["w"]
            file["w"] = np.asarray(params["w"])
        assert h5py.File("state.h5")["w"].shape == (512, 512)
     """),
    ("keras' callbacks", "keras", """
        os.environ["KERAS_BACKEND"] = "jax"
        import keras
        model = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(256), keras.layers.Dense(1)])
        model.compile("adam", "mse")
        model.fit(np.ones((64, 64)), np.ones((64, 1)), epochs=2, verbose=0, callbacks=[
            keras.callbacks.ModelCheckpoint("best.keras"), keras.callbacks.CSVLogger("log.csv", append=True),
            keras.callbacks.BackupAndRestore("backup")])
        keras.models.load_model("best.keras")
     """),
    ("keras' weights", "keras h5py", """
        os.environ["KERAS_BACKEND"] = "jax"
        import keras
        model = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(256), keras.layers.Dense(1)])
        if os.path.exists("model.weights.h5"): model.load_weights("model.weights.h5")
        model.compile("adam", "mse"); model.fit(np.ones((64, 64)), np.ones((64, 1)), verbose=0)
        model.save_weights("model.weights.h5")
     """),
    # marin-levanter needs JAX before 0.12, so it is not in .venv-libraries: give it an environment.
    ("levanter", "levanter", """
        import datetime
        from levanter.checkpoint import load_checkpoint, save_checkpoint
        save_checkpoint(params, 3, os.path.abspath("levanter"))
        assert same(load_checkpoint(params, os.path.abspath("levanter")), params)
     """),
]

# libkeel's own: built by the C compiler that built Keel.
IN_C = """
#include <keel/keel.h>
int main(void) {
    keel_context_t *k; keel_tree_t *t; static float d[512 * 512];
    if (keel_context_create(NULL, &k) || keel_tree_create(k, &t)) return 1;
    keel_tensor_t w = keel_tree_add(t, "w", KEEL_F32, KEEL_SHAPE(512, 512), KEEL_FILL(1));
    keel_tree_initialize(t, 1);
    if (keel_step_end(k)) return 2;
    keel_tensor_t x = keel_input(k, "x", KEEL_F32, KEEL_SHAPE(512, 512), d);
    keel_assign(w, keel_add(w, keel_matmul(keel_matmul(x, w), w)));
    if (keel_step_end(k) || keel_checkpoint_save(t, "state.safetensors", 0)) return 3;
    keel_tree_free(t);
    keel_context_free(k);
    return 0;
}
"""


def digest(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        found[str(path.relative_to(folder))] = (
            facts.st_mode, facts.st_size, facts.st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
    return found


class Rehearsals:
    def __init__(self, report, place):
        self.report, self.place, self.rehearsals, self.files = report, place, 0, 0
        self.environment = run_environment(place / "cache", place / "runs", PYTHONDONTWRITEBYTECODE="1")

    def check(self, name, command):
        folder = self.place / name.replace(" ", "-")
        folder.mkdir()
        real = run(command, self.environment | {"JAX_PLATFORMS": "cpu"}, cwd=folder)
        before = digest(folder)
        if not self.report.check(f"{name}: it saves", real.code == 0 and before, told(real, 20)):
            return
        for target in TARGETS:
            answer = run([KEEL, "rehearse", "--on", target, "--compile", "none", "--", *command], self.environment,
                         cwd=folder)
            after = digest(folder)
            changed = sorted(k for k in before.keys() | after.keys() if before.get(k) != after.get(k))
            self.rehearsals, self.files = self.rehearsals + 1, self.files + len(changed)
            said = [line for line in answer.err.splitlines() if "would have" in line]
            self.report.check(f"{name} on {target}: {said[0] if said else 'it says what it would have written'}",
                              answer.code == 0 and not changed and said,
                              f"changed {changed}; {told(answer, 20)}")

    def check_script(self, name, needs, script):
        missing = [package for package in needs.split() if not importlib.util.find_spec(package.split(".")[0])]
        if missing:
            self.report.skip(name, f"{', '.join(missing)} is missing")
            return
        path = self.place / f"save-{name.replace(' ', '-')}.py"
        path.write_text(TRAINED + "if __name__ == '__main__':\n" + textwrap.indent(textwrap.dedent(script), "    "))
        self.check(name, [sys.executable, path])

    def check_c(self):
        source, program = self.place / "save.c", self.place / "save"
        source.write_text(IN_C)
        library = BUILD / "lib"
        subprocess.run(["cc", str(source), "-o", str(program), f"-I{ROOT}/include", f"-L{library}", "-lkeel",
                        f"-Wl,-rpath,{library}"], check=True)
        self.check("keel_checkpoint_save", [program])


def main():
    names = sys.argv[1:]
    report = Report()
    with Workspace("rehearsed-writes") as space:
        rehearsals = Rehearsals(report, space.folder)
        for name, needs, script in SCRIPTS:
            if not names or name in names:
                rehearsals.check_script(name, needs, script)
        if not names or "keel_checkpoint_save" in names:
            rehearsals.check_c()
        print(f"{rehearsals.rehearsals} rehearsals, {rehearsals.files} files changed")
    report.finish()


if __name__ == "__main__":
    main()
