#!/usr/bin/env python3
"""Checkpoints against the Python package safetensors, in both directions, and against a reader of the
format's own page, written here.

Usage: tests/tensor/checkpoints.py LIBKEEL
"""

import json
import pathlib
import struct
import sys
import tempfile

import front
import ml_dtypes
import models
import numpy

try:
    import safetensors
    import safetensors.numpy
except ImportError:  # an older .venv
    safetensors = None

RANDOM = numpy.random.default_rng(11)
DTYPES = [d for d in front.DTYPES if not d.startswith("C")]  # trees have no complex numbers
WORDS = {"BOOL": "BOOL", "F8E4M3FN": "F8_E4M3", "F8E5M2": "F8_E5M2"}
SHAPES = [(), (3,), (2, 0, 4), (2, 3, 4), (1,) * 8]


def arrays_of_all():
    arrays = {}
    for dtype in DTYPES:
        for shape in SHAPES:
            values = numpy.asarray(RANDOM.integers(0, 2 if dtype == "BOOL" else 100, shape))
            name = "x".join(map(str, shape)) or "scalar"
            arrays[f"L0.{dtype}.{name}"] = values.astype(front.NUMPY[dtype])
    arrays['quo"ted\\name'] = numpy.arange(3, dtype="float32")
    return arrays


def tree_of(k, arrays, zero=False):
    tree = models.Tree(k)
    for name, array in arrays.items():
        tree.put(name, k.variable(numpy.zeros_like(array) if zero else array))
    return tree


def check_values(k, tree, arrays):
    for name, tensor in tree.leaves().items():
        got = k.read(tensor)
        assert got.dtype == arrays[name].dtype and got.tobytes() == arrays[name].tobytes(), name


def read_plainly(path):
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    assert size % 8 == 0 and data[8:9] == b"{"
    words = {WORDS.get(d, d): front.NUMPY[d] for d in DTYPES}
    arrays = {}
    for name, tensor in header.items():
        begin, end = (8 + size + place for place in tensor["data_offsets"])
        array = numpy.frombuffer(data[begin:end], words[tensor["dtype"]]).reshape(tensor["shape"])
        assert begin % array.dtype.itemsize == 0, "tensors are aligned"
        arrays[name] = array
    return arrays


def equal(ours, theirs):
    assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
    for name in ours:
        assert ours[name].dtype == theirs[name].dtype and ours[name].shape == theirs[name].shape, name
        assert ours[name].tobytes() == theirs[name].tobytes(), name


def check_round_trip(k, work, arrays):
    tree, blank = tree_of(k, arrays), tree_of(k, arrays, zero=True)
    tree.save(work / "all.safetensors")
    equal(read_plainly(work / "all.safetensors"), arrays)
    blank.load(work / "all.safetensors")
    check_values(k, blank, arrays)
    tree.free(), blank.free()


def check_package(k, work, arrays):
    """What the package writes is read, and the other way round."""
    if not safetensors:
        print("safetensors is not installed: tools/setup installs it")
        return
    tree, blank = tree_of(k, arrays), tree_of(k, arrays, zero=True)
    tree.save(work / "ours.safetensors")
    words = {WORDS.get(d, d): front.NUMPY[d] for d in DTYPES}
    theirs = {name: numpy.frombuffer(tensor["data"], words[tensor["dtype"]]).reshape(tensor["shape"])
              for name, tensor in safetensors.deserialize((work / "ours.safetensors").read_bytes())}
    equal(theirs, arrays)
    safetensors.numpy.save_file(arrays, work / "theirs.safetensors", {"format": "np"})
    blank.load(work / "theirs.safetensors")
    check_values(k, blank, arrays)
    tree.free(), blank.free()


def check_parts(k, work, arrays):
    index = work / "model.safetensors.index.json"
    tree, blank = tree_of(k, arrays), tree_of(k, arrays, zero=True)
    stray = work / "model-extra.safetensors"
    stray.write_text("not a part")
    for part_bytes in (1, 400, 1 << 40):
        tree.save(index, part_bytes)
        files = json.loads(index.read_text())["weight_map"]
        assert files.keys() == arrays.keys()
        parts = {path.name for path in work.glob("model-*-of-*.safetensors")}
        assert parts == set(files.values()), "parts of earlier saves are gone, others are not"
        assert (len(parts) == 1) == (part_bytes == 1 << 40) and stray.exists()
        found = {}
        for part in parts:
            found |= read_plainly(work / part)
        equal(found, arrays)
        blank.load(index)
        check_values(k, blank, arrays)
    tree.free(), blank.free()


def refused(function, *parts):
    try:
        function()
    except front.Error as error:
        missing = [part for part in parts if part not in str(error)]
        assert not missing, f"{missing} not in: {error}"
        return
    raise AssertionError("not refused")


def check_what_does_not_fit(k, work):
    stored = {"a": numpy.ones((2, 3), "float32"), "b": numpy.ones(4, "float32"), "old.c": numpy.ones(1, "int32"),
              "d": numpy.ones(2, "bfloat16")}
    wanted = {"a": numpy.zeros((3, 2), "float32"), "b": numpy.zeros(4, "float32"), "d": numpy.zeros(2, "float32"),
              "new.e": numpy.zeros(2, "float32")}
    path = work / "misfit.safetensors"
    tree, source = tree_of(k, wanted), tree_of(k, stored)
    source.save(path)
    refused(lambda: tree.load(path), "misfit.safetensors", "4 tensors do not fit",
            "a is f32[3,2] in the tree and f32[2,3] in the file",
            "d is f32[2] in the tree and bf16[2] in the file", "old.c is in the file and not in the tree",
            "new.e is in the tree and not in the file", "front.py")
    check_values(k, tree, wanted)
    tree.load(path, "b")
    check_values(k, tree, wanted | {"b": stored["b"]})
    refused(lambda: tree.load(path, "new.*"), "1 tensor does not fit", "new.e")
    refused(lambda: tree.load(work / "none"), "none")
    refused(lambda: tree.load(work), "not a regular file")
    many = tree_of(k, {f"layer.{'x' * 100}.{i}": numpy.zeros(1, "float32") for i in range(300)})
    refused(lambda: many.load(path), "304 tensors do not fit", "; ...")
    for some in (tree, source, many):
        some.free()


def damaged(tensors, data=b"\0" * 24, length=None):
    header = tensors if isinstance(tensors, bytes) else json.dumps(tensors).encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def check_damage(k, work):
    good = {"x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
    x = good["x"]
    cases = [
        (b"", "not a safetensors file"), (b"\0" * 7, "not a safetensors file"), (b"\0" * 8, "not a safetensors file"),
        (damaged(good, length=2**63), "was cut"), (damaged(good, length=10**9), "was cut"),
        (damaged(good)[:40], "was cut"), (damaged(good, b"\0" * 23), "x lies outside the file"),
        (damaged(good, b"\0" * 25), "bytes follow"), (damaged(b"[]"), "not a safetensors file"),
        (damaged(b'{"x":'), "not a JSON object"), (damaged(b'{"x": {}, "x": {}}'), "not a JSON object"),
        (damaged({"x": 3}), "x is not described"), (damaged({"x": {**x, "more": 1}}), "x is not described"),
        (damaged({"x": {**x, "dtype": 4}}), "x is not described"),
        (damaged({"x": {**x, "shape": [2, -3]}}), "x has no shape"), (damaged({"x": {**x, "shape": 6}}), "x has no shape"),
        (damaged({"x": {**x, "shape": [1] * 9}}), "x has no shape"), (damaged({"x": {**x, "shape": [2.0, 3]}}), "x has no shape"),
        (damaged({"x": {**x, "shape": [2**40, 2**40]}}), "a different number of bytes"),
        (damaged({"x": {**x, "shape": [2, 2]}}), "a different number of bytes"),
        (damaged({"x": {**x, "data_offsets": [8, 4]}}), "lies outside"), (damaged({"x": {**x, "data_offsets": [-1, 23]}}), "lies outside"),
        (damaged({"x": {**x, "data_offsets": [0]}}), "lies outside"),
        (damaged({"x": {**x, "shape": [5], "data_offsets": [4, 24]}}), "overlaps or follows a gap"),
        (damaged({"x": {**x, "shape": [4], "data_offsets": [0, 16]}, "y": {**x, "shape": [4], "data_offsets": [8, 24]}}), "overlaps"),
        (damaged({**good, "__metadata__": {"a": 1}}), "__metadata__ is not an object of texts"),
        (damaged({"x": {"dtype": "F4", "shape": [6], "data_offsets": [0, 24]}}), "x is f32[2,3] in the tree and F4[6] in the file"),
    ]
    tree = tree_of(k, {"x": numpy.full((2, 3), 7, "float32")})
    path = work / "damaged.safetensors"
    for content, expected in cases:
        path.write_bytes(content)
        refused(lambda: tree.load(path), expected, "damaged.safetensors")
        assert (k.read(tree.get("x")) == 7).all()
    path.write_bytes(damaged({**good, "__metadata__": {"format": "pt"}}))
    tree.load(path)
    assert (k.read(tree.get("x")) == 0).all()
    flags = tree_of(k, {"x": numpy.array([True])})
    path.write_bytes(damaged({"x": {"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]}}, b"\2"))
    refused(lambda: flags.load(path), "not bools")
    index = work / "bad.safetensors.index.json"
    for content, expected in [("", "not a JSON object"), ("[]", "not a JSON object"), ("{}", "no weight_map"),
                              ('{"weight_map": {"x": "../y"}}', "in no file of the same folder"),
                              ('{"weight_map": {"x": 3}}', "in no file of the same folder"),
                              ('{"weight_map": {"x": "damaged.safetensors", "y": "damaged.safetensors"}}', "has 2 tensors, and its files 1"),
                              ('{"weight_map": {"x": "missing.safetensors"}}', "missing.safetensors")]:
        index.write_text(content)
        refused(lambda: tree.load(index), expected)
    refused(lambda: tree.save(index), "if, and only if")
    refused(lambda: tree.save(path, 5), "if, and only if")
    refused(lambda: tree.save(work / "no" / "folder"), "folder")
    tree.free(), flags.free()


def main():
    k, arrays = front.Front(sys.argv[1]), arrays_of_all()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        check_round_trip(k, work, arrays)
        check_package(k, work, arrays)
        check_parts(k, work, arrays)
        check_what_does_not_fit(k, work)
        check_damage(k, work)
        assert not list(work.glob(".tmp*")), "no file is left over"
    print(f"{len(arrays)} tensors of {len(DTYPES)} dtypes went round")


if __name__ == "__main__":
    main()
