#!/usr/bin/env python3
"""Compares what Keel reads of MLIR bytecode with what MLIR itself reads.

Usage: mlir_oracle.py KEEL [FILE...]
Runs `KEEL show --json` on each file (without files: on the whole corpus and the samples) and walks
MLIR's module, read by the bindings in jaxlib, beside it: names and order of operations, operands by
identity, types, every attribute, regions, block arguments and locations. Exits with 1 where they
differ, or where fewer than 200 programs could be compared.
"""

import collections
import concurrent.futures
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import types

import corpus
from corpus import ir, jax, jax_mlir
from mlir_text import ADDED, attribute_tree, location_tree, plain_type, type_text

# The bindings look for a Python module of each operation's dialect, in vain each time.
for _dialect in ("vhlo",):
    sys.modules.setdefault(f"jaxlib.mlir.dialects.{_dialect}", types.ModuleType(_dialect))

HERE = pathlib.Path(__file__).resolve().parent
LEAST_PROGRAMS = 200
MOST_SHOWN = 20


class Differs(Exception):
    pass


def parsed(text):
    """An attribute that can be compared: in a list, since the bindings cannot hold all by itself."""
    return ir.Attribute.parse(f"[{text}]")


def equal(what, ours, theirs):
    if ours != theirs:
        raise Differs(f"{what}: Keel has {str(ours)[:300]}, MLIR has {str(theirs)[:300]}")


# ---- attributes ----------------------------------------------------------------------------------


def string_bytes(ours):
    if isinstance(ours, dict) and list(ours) == ["bytes"]:
        return bytes.fromhex(ours["bytes"])
    return ours.encode() if isinstance(ours, str) else ours


def quoted(data):
    return '"' + "".join(chr(b) if chr(b).isalnum() and b < 128 else f"\\{b:02X}" for b in data) + '"'


def float_bits(kind, digits):
    """The bits of a decimal, or of hex digits, in that type."""
    if digits.lower().startswith("0x"):
        return int(digits, 16)
    import ml_dtypes
    import numpy as np
    if kind in ("f32", "f64"):
        return struct.unpack("<I" if kind == "f32" else "<Q",
                             struct.pack("<f" if kind == "f32" else "<d", float(digits)))[0]
    names = {"f16": "float16", "bf16": "bfloat16"}
    dtype = names.get(kind) or "float" + re.sub(r"^f", "", kind).replace("E", "_e", 1).lower().replace("_v", "v")
    made = np.array(float(digits)).astype(getattr(ml_dtypes, dtype, None) or dtype)
    return int.from_bytes(made.tobytes(), "little")


def bool_text(ours):
    """true and false in nested brackets, since MLIR's hex form of bools is packed."""
    values = ["true" if ours["data"][i:i + 2] == "01" else "false" for i in range(0, len(ours["data"]), 2)]
    if ours["splat"]:
        return values[0]
    for size in reversed([int(n) for n in re.findall(r"(\d+)x", ours["tensor"])]):
        values = ["[" + ",".join(values[i:i + size]) + "]" for i in range(0, len(values), size)]
    return values[0]


def element_size(kind):
    """Bytes of one element, which is stored in whole bytes."""
    if kind.startswith("complex<"):
        return 2 * element_size(kind[len("complex<"):-1])
    return 8 if kind == "index" else max(1, int(re.search(r"\d+", kind).group()) // 8)


def check_values(what, kind, data, count, values):
    """The numbers beside the bytes say the same."""
    size = element_size(kind)
    parts = [data[i:i + size] for i in range(0, len(data), size)] * (count if len(data) == size else 1)
    if kind == "i1":
        wanted = [part == b"\1" for part in parts[:count]]
    else:
        bits = 8 * size if kind == "index" else int(re.search(r"\d+", kind).group())
        wanted = [int.from_bytes(part, "little") % 2**bits for part in parts[:count]]
        if not kind.startswith("u"):
            wanted = [value - 2**bits if value >> (bits - 1) else value for value in wanted]
    equal(f"values of {what}", values, wanted)
    equal(f"kind of values of {what}", {type(value) for value in values} <= {bool if kind == "i1" else int}, True)


def check_tensor(what, ours):
    shape, kind = re.fullmatch(r"tensor<((?:\d+x)*)(.*)>", ours["tensor"]).groups()
    count = math.prod(int(size) for size in shape.split("x") if size)
    data = bytes.fromhex(ours["data"])
    is_splat = count > 1 and len(data) == element_size(kind)
    equal(f"splat of {what}", ours["splat"], is_splat)
    equal(f"bytes of {what}", len(data), element_size(kind) * (1 if is_splat else count))
    listed = kind in ("i1", "index") or re.fullmatch(r"u?i\d+", kind)
    equal(f"a list of {what}", "values" in ours, bool(listed and count <= 64))
    if "values" in ours:
        check_values(what, kind, data, count, ours["values"])


def held_text(theirs):
    """A splat of no elements keeps its value in MLIR, where it is not equal to another. It means nothing."""
    found = re.fullmatch(r"dense<[^>]*> : (tensor<((?:\d+x)*).*>)", theirs)
    return f"dense<> : {found[1]}" if found and "0" in found[2].split("x") else theirs


def tensor_text(ours):
    check_tensor("a tensor", ours)
    kind = ours["tensor"]
    if not ours["data"]:
        return f"dense<> : {kind}"
    if re.search(r"[<x]i1>$", kind):
        return f"dense<{bool_text(ours)}> : {kind}"
    return f'dense<"0x{ours["data"]}"> : {kind}'


def array_text(ours):
    """A dense array's elements, from its bytes."""
    kind, size = ours["array"], element_size(ours["array"])
    data = bytes.fromhex(ours["data"])
    if "values" in ours:
        check_values("an array", kind, data, len(data) // size, ours["values"])
    parts = [data[i:i + size] for i in range(0, len(data), size)]
    if kind == "i1":
        words = ["true" if part[0] else "false" for part in parts]
    elif kind in ("f32", "f64"):
        words = [repr(struct.unpack("<f" if kind == "f32" else "<d", part)[0]) for part in parts]
        words = [word if re.search(r"[.n]", word) else word.replace("e", ".0e") for word in words]
    else:
        words = [str(int.from_bytes(part, "little", signed=True)) for part in parts]
    return f"array<{kind}{': ' if words else ''}{', '.join(words)}>"


def same_array(what, ours, theirs):
    equal(what, type(ours), list)
    equal(f"length of {what}", len(ours), len(theirs))
    for i, (one, other) in enumerate(zip(ours, theirs)):
        same(f"{what}[{i}]", one, other)


def same_dictionary(what, ours, theirs):
    equal(f"names of {what}", sorted(name.encode() for name in ours), sorted(theirs))
    for name, value in ours.items():
        same(f"{what}.{name}", value, theirs[name.encode()])


RECORD_NAMES = {"sub_axis_info": "sub_axis"}
FIELD_NAMES = {"outputTupleIndices": "output_tuple_indices", "operandIndex": "operand_index",
               "operandTupleIndices": "operand_tuple_indices"}


def same_record(what, ours, name, theirs):
    equal(f"kind of {what}", ours.get("kind"), RECORD_NAMES.get(name, name))
    fields = {FIELD_NAMES.get(key, key): value for key, value in theirs.items()}
    mine = {key: value for key, value in ours.items() if key != "kind"}
    if ours["kind"] == "type_extensions":
        mine = {"bounds": mine["values"]}
    equal(f"fields of {what}", sorted(mine), sorted(fields))
    for key, value in mine.items():
        same(f"{what}.{key}", value, fields[key])


def same_resource(what, ours, text):
    """MLIR numbers a resource anew where another module of the context has one of that name."""
    name, kind = re.match(r"dense_resource<(.*)> : (.*)", text).groups()
    mine = ours["value"]["opaque"]
    equal(what, (ours["kind"], ours["type"]["type"]), ("dense_resource", kind))
    equal(f"name of {what}", name.startswith(mine) and bool(re.fullmatch(r"(_\d+)*", name[len(mine):])), True)


def same(what, ours, theirs):
    """Compares an attribute in Keel's JSON with a tree of mlir_text."""
    kind = theirs[0]
    try:
        if kind == "type":
            wanted = {"type": theirs[1]}
            if theirs[1] == "none" and ours is None:
                return
            equal(what, {"type": plain_type(ours["type"])}, wanted)
        elif kind == "bool":
            equal(what, ours is True if theirs[1] else ours is False, True)
        elif kind == "int":
            value = theirs[2]
            if theirs[1] == "i64":
                equal(what, (type(ours), ours), (int, value))
            elif isinstance(ours["int"], str):
                width = int(re.search(r"\d+", theirs[1]).group())
                equal(what, int(ours["int"], 16) % 2**width, value % 2**width)
            else:
                equal(what, ours, {"int": value, "type": theirs[1]})
        elif kind == "float":
            equal(what, (ours["type"], int(ours["bits"], 16)), (theirs[1], float_bits(*theirs[1:])))
            if "nan" not in str(ours["float"]):  # many bits are that
                equal(f"decimal of {what}", float_bits(theirs[1], str(ours["float"])), int(ours["bits"], 16))
        elif kind == "enum":
            equal(what, ours, theirs[2])
        elif kind == "string" and theirs[2] in (None, "none"):
            equal(what, string_bytes(ours), theirs[1])
        elif kind == "string":
            equal(what, (string_bytes(ours["string"]), ours["type"]), theirs[1:])
        elif kind == "unit":
            equal(what, ours, {"unit": True})
        elif kind == "array":
            same_array(what, ours, theirs[1]) if isinstance(theirs[1], list) else \
                equal(what, array_text(ours), normal_array(theirs[1]))
        elif kind == "dictionary":
            same_dictionary(what, ours["dictionary"], theirs[1])
        elif kind == "record":
            same_record(what, ours, theirs[1], theirs[2])
        elif kind == "symbol":
            names = [ours["symbol"], *(each["symbol"] for each in ours.get("nested", []))]
            equal(what, [string_bytes(name) for name in names], theirs[1])
        elif kind == "sdy":
            equal(what, parsed(sdy_text(ours)), parsed(theirs[1]))
        elif kind == "dense" and "strings" in ours:
            values = [quoted(string_bytes(value)) for value in ours["values"]]
            words = values[0] if ours["splat"] else "[" + ", ".join(values) + "]"
            made = f"dense<{words}> : {ours['strings'].replace('xnone>', 'x!vhlo.none_v1>')}"
            equal(what, parsed(made), parsed(theirs[1]))
        elif kind == "dense":
            equal(what, parsed(tensor_text(ours)), parsed(held_text(theirs[1])))
        elif kind == "sparse":
            same_sparse(what, ours, theirs[1])
        elif kind == "dense_resource":
            same_resource(what, ours, theirs[1])
        else:
            raise Differs(f"{what}: nothing known of {kind}")
    except (KeyError, TypeError, AttributeError, IndexError) as problem:
        raise Differs(f"{what}: Keel has {str(ours)[:200]}, MLIR has {str(theirs)[:200]} "
                      f"({type(problem).__name__}: {problem})") from problem


def normal_array(text):
    """array<f32: 1.000000e+00> and array<f32: 1.0> are one."""
    kind, _, words = text[len("array<"):-1].partition(": ")
    if kind in ("f32", "f64"):
        size = "<f" if kind == "f32" else "<d"
        values = [struct.unpack(size, struct.pack(size, float(word)))[0] for word in words.split(", ") if word]
        words = ", ".join(repr(value) for value in values)
    return f"array<{kind}{': ' if words else ''}{words}>"


def same_sparse(what, ours, text):
    parts = [str(parsed(tensor_text(part)))[1:-1] for part in ours["parts"]]
    indices, values = (re.match(r"dense<(.*)> : ", part, re.DOTALL).group(1) for part in parts)
    equal(what, parsed(f"sparse<{indices}, {values}> : {ours['sparse']}"), parsed(text))


# ---- Shardy's attributes, back into the text that MLIR reads -------------------------------------


def of_kind(ours, kind):
    equal("kind", ours["kind"], kind)
    return ours


def sdy_axis(axis):
    sub = of_kind(axis, "sdy.axis_ref").get("sub_axis_info")
    if sub:
        of_kind(sub, "sdy.sub_axis")
    return quoted(string_bytes(axis["name"])) + (f":({sub['pre_size']}){sub['size']}" if sub else "")


def sdy_axes(axes):
    return "{" + ", ".join(sdy_axis(axis) for axis in axes) + "}"


def sdy_dimension(dimension):
    of_kind(dimension, "sdy.dimension_sharding")
    words = [sdy_axis(axis) for axis in dimension["axes"]] + ([] if dimension["is_closed"] else ["?"])
    priority = f"p{dimension['priority']}" if "priority" in dimension else ""
    return "{" + ", ".join(words) + "}" + priority


def sdy_mesh(mesh):
    axes = ", ".join(f"{quoted(string_bytes(a['name']))}={of_kind(a, 'sdy.mesh_axis')['size']}" for a in mesh["axes"])
    ids = f", device_ids={mesh['device_ids']}" if mesh["device_ids"] else ""
    return f"<[{axes}]{ids}>"


def sdy_sharding(sharding):
    mesh = of_kind(sharding, "sdy.sharding")["mesh"]
    words = "@" + quoted(string_bytes(mesh["symbol"])) if "symbol" in mesh else "mesh" + sdy_mesh(mesh)
    words += ", [" + ", ".join(sdy_dimension(d) for d in sharding["dimensions"]) + "]"
    for key in ("replicated", "unreduced"):
        if sharding.get(key):
            words += f", {key}={sdy_axes(sharding[key])}"
    if sharding.get("reduction"):
        raise Differs(f"a reduction {sharding['reduction']}, which no printed form is known of")
    return f"<{words}>"


def factor(number):
    """Factors are named i to z, then z_1, z_2, and so on."""
    return chr(ord("i") + number) if number <= 17 else f"z_{number - 17}"


def sdy_rule(rule):
    def tensors(mappings):
        return ", ".join("[" + ", ".join(dimension(d) for d in of_kind(m, "sdy.tensor_mapping")["dim_mappings"]) + "]"
                         for m in mappings)

    def dimension(mapping):
        return "".join(factor(n) for n in of_kind(mapping, "sdy.dim_mapping")["values"])
    sizes = ", ".join(f"{factor(i)}={size}" for i, size in enumerate(rule["factor_sizes"]))
    words = f"({tensors(rule['operand_mappings'])})->({tensors(rule['result_mappings'])}) {{{sizes}}}"
    for key in ("reduction", "need_replication", "permutation", "blocked_propagation"):
        if rule[key + "_factors"]:
            words += f" {key}={{{', '.join(factor(n) for n in rule[key + '_factors'])}}}"
    return words + (", custom" if rule["is_custom_rule"] else "")


def sdy_text(ours):
    kind = ours["kind"]
    if kind == "sdy.sharding":
        return "#sdy.sharding" + sdy_sharding(ours)
    if kind == "sdy.sharding_per_value":
        return "#sdy.sharding_per_value<[" + ", ".join(sdy_sharding(s) for s in ours["shardings"]) + "]>"
    if kind == "sdy.mesh":
        return "#sdy.mesh" + sdy_mesh(ours)
    if kind == "sdy.manual_axes":
        axes = ", ".join(quoted(string_bytes(axis)) for axis in ours["axes"])
        return f"#sdy<manual_axes{{{axes}}}>"
    if kind == "sdy.sharding_rule":
        return f"#sdy.op_sharding_rule<{sdy_rule(ours)}>"
    raise Differs(f"no printed form of {kind} is known")


# ---- locations -----------------------------------------------------------------------------------


def frames(tree):
    """The name stack and the frames, innermost first, as docs/show.md defines them."""
    outer, settled = b"", False
    found, pending = [], [(tree, b"")]
    while pending:
        tree, name = pending.pop()
        if tree[0] == "name" and not settled:
            # "while:" only tells the kind of the operation; the name stack stands below it.
            settled = not (tree[1].endswith(b":") and tree[2][0] == "name")
            outer = tree[1] if settled else b""
            pending.append((tree[2], name))
        elif tree[0] == "name":
            pending.append((tree[2], tree[1]))
        elif tree[0] == "fused":
            pending += [(each, name) for each in reversed(tree[1])]
        else:
            settled = True
            if tree[0] == "callsite":
                pending += [(tree[2], b""), (tree[1], name)]
            elif tree[0] == "file":
                found.append((tree[1], *tree[2], name))
    return outer, found


def told_end(frame):
    """A frame without an end: MLIR prints it as one that ends where it begins."""
    start = (frame["line"], frame["column"])
    return start if (frame["end_line"], frame["end_column"]) == (0, 0) else \
        (frame["end_line"], frame["end_column"])


def same_location(counts, what, ours, location):
    name, wanted = frames(location_tree(location))
    listed = [(string_bytes(f["file"]), f["line"], f["column"], *told_end(f), string_bytes(f["name"]))
              for f in ours.get("locations", [])]
    equal(f"frames of {what}", listed, wanted)
    equal(f"name of the location of {what}", string_bytes(ours.get("location_name", "")), name)
    counts["locations"] += 1
    counts["frames"] += len(wanted)


# ---- operations ----------------------------------------------------------------------------------


def named_attributes(operation):
    return {name: operation.attributes[name] for name in operation.attributes}


def same_attributes(counts, what, ours, theirs):
    equal(f"attributes of {what}", sorted(ours), sorted(theirs))
    for name, attribute in theirs.items():
        same(f"{what}, {name}", ours[name], attribute_tree(attribute))
        counts["attributes"] += 1


def split_name(name):
    dialect, _, name = name.partition(".")
    found = re.fullmatch(r"(.*)_v(\d+)", name) if dialect == "vhlo" else None
    return (dialect, found.group(1), int(found.group(2))) if found else (dialect, name, 0)


def settled(operation):
    """The name and the attributes, of the older version if the newer one says nothing new."""
    dialect, name, version = split_name(operation.name)
    attributes = named_attributes(operation)
    added, nothing = ADDED.get(operation.name.removeprefix("vhlo."), (None, None))
    is_older = operation.name == "vhlo.composite_v2" and not len(operation.regions)
    if added and str(attributes[added]) == nothing:
        is_older = name != "collective_broadcast" or len(operation.results) == 1
        if is_older:
            del attributes[added]
    return (dialect, name, version - is_older), attributes


class Walk:
    """One function, or the module's own operations, of both sides."""

    def __init__(self, counts):
        self.counts = counts
        self.numbers = {}

    def define(self, values):
        given = []
        for value in values:
            given.append(len(self.numbers))
            self.numbers[value] = given[-1]
        return given

    def operation(self, what, ours, theirs):
        theirs = theirs.operation
        name, attributes = settled(theirs)
        equal(f"name of {what}", (ours["dialect"], ours["name"], ours["version"]), name)
        what = f"{what} ({theirs.name})"
        operands, results = list(theirs.operands), list(theirs.results)
        equal(f"operands of {what}", ours["operands"], [self.numbers.get(value) for value in operands])
        equal(f"operand types of {what}", [plain_type(t) for t in ours["operand_types"]],
              [type_text(value.type) for value in operands])
        equal(f"results of {what}", ours["results"], self.define(results))
        equal(f"result types of {what}", [plain_type(t) for t in ours["result_types"]],
              [type_text(value.type) for value in results])
        same_attributes(self.counts, what, ours["attributes"], attributes)
        same_location(self.counts, what, ours, theirs.location)
        self.counts["operations"] += 1
        self.counts["kinds", theirs.name] += 1
        equal(f"regions of {what}", len(ours["regions"]), len(theirs.regions))
        for region, other in zip(ours["regions"], theirs.regions):
            equal(f"blocks of {what}", len(region["blocks"]), len(other.blocks))
            for block, wanted in zip(region["blocks"], other.blocks):
                self.block(what, block, wanted)

    def block(self, what, ours, theirs):
        arguments = list(theirs.arguments)
        equal(f"arguments in {what}", [a["value"] for a in ours["arguments"]], self.define(arguments))
        for number, (mine, argument) in enumerate(zip(ours["arguments"], arguments)):
            equal(f"type of argument {number} in {what}", plain_type(mine["type"]), type_text(argument.type))
            same_location(self.counts, f"argument {number} in {what}", mine, argument.location)
        self.operations(what, ours["operations"], list(theirs.operations))

    def operations(self, what, ours, theirs):
        equal(f"number of operations in {what}", len(ours), len(theirs))
        for place, (mine, other) in enumerate(zip(ours, theirs)):
            self.operation(f"{what}, operation {place}", mine, other)

    def function(self, ours, theirs):
        theirs = theirs.operation
        attributes = named_attributes(theirs)
        trees = {name: attribute_tree(attributes.pop(name))
                 for name in ("sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs")}
        what = f"@{ours['name']}"
        equal("name of a function", ours["name"].encode(), trees["sym_name"][1])
        equal(f"visibility of {what}", ours["visibility"],
              "private" if trees["sym_visibility"][1] == b"private" else "public")
        block = theirs.regions[0].blocks[0]
        arguments = list(block.arguments)
        self.define(arguments)
        equal(f"types of the arguments of {what}", [plain_type(a["type"]) for a in ours["arguments"]],
              [type_text(a.type) for a in arguments])
        results = [plain_type(r["type"]) for r in ours["results"]]
        inputs = [plain_type(a["type"]) for a in ours["arguments"]]
        joined = results[0] if len(results) == 1 else f"({', '.join(results)})"
        equal(f"type of {what}", f"({', '.join(inputs)}) -> {joined}", trees["function_type"][1])
        for key, mine in (("arg_attrs", ours["arguments"]), ("res_attrs", ours["results"])):
            wanted = trees[key][1] or [("dictionary", {})] * len(mine)
            same_array(f"{key} of {what}", [{"dictionary": each["attributes"]} for each in mine], wanted)
            self.counts["attributes"] += sum(len(each[1]) for each in wanted)
        for number, (mine, argument) in enumerate(zip(ours["arguments"], arguments)):
            name, places = frames(location_tree(argument.location))
            equal(f"name of argument {number} of {what}", mine["name"],
                  name.decode(errors="replace") if name and not places else None)
            same_location(self.counts, f"argument {number} of {what}", mine, argument.location)
        same_attributes(self.counts, what, ours["attributes"], attributes)
        same_location(self.counts, what, ours, theirs.location)
        self.counts["operations"] += 1
        self.operations(what, ours["operations"], list(block.operations))


def compare(counts, ours, module):
    operation = module.operation
    attributes = named_attributes(operation)
    name = attributes.pop("sym_name", None)
    equal("name of the module", ours["name"], None if name is None else attribute_tree(name)[1].decode())
    same_attributes(counts, "the module", ours["attributes"], attributes)
    body = list(module.body.operations)
    functions = [op for op in body if op.operation.name == "vhlo.func_v1"]
    others = [op for op in body if op.operation.name != "vhlo.func_v1"]
    equal("number of functions", len(ours["functions"]), len(functions))
    for mine, function in zip(ours["functions"], functions):
        Walk(counts).function(mine, function)
    Walk(counts).operations("the module", ours["operations"], others)


# ---- all of it -----------------------------------------------------------------------------------


def keel_json(keel, path):
    made = subprocess.run([*keel, "show", "--json", str(path)], capture_output=True, timeout=900)
    if made.returncode:
        raise Differs(f"keel show: exit {made.returncode}: {made.stderr.decode(errors='replace').strip()[:300]}")
    return json.loads(made.stdout)


def check(answer, path, counts):
    ours = answer.result()
    data = path.read_bytes()
    producer = data[data.index(b"ML\xefR") + 5:].split(b"\0")[0]
    equal("producer", ours["producer"].encode(), producer)
    equal("format", (ours["format"], ours["bytecode_version"]), ("mlir", data[4] >> 1))
    named = [function["name"] for function in ours["functions"]]
    equal("entry", ours["entry"], "main" if "main" in named else None)
    compare(counts, ours, ir.Module.parse(data))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    keel = [sys.argv[1]]
    started = time.time()
    counts = collections.Counter()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 2:
            files, skipped = {path: [pathlib.Path(path)] for path in sys.argv[2:]}, {}
        else:
            files, skipped = corpus.write(folder)
            for sample in sorted((HERE.parent / "samples" / "mlir").glob("*.mlir")):
                files[f"sample {sample.stem}"] = [sample]
        made = time.time()
        with jax_mlir.make_ir_context(), concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = {path: pool.submit(keel_json, keel, path) for paths in files.values() for path in paths}
            for name, paths in files.items():
                good = True
                for path in paths:
                    counts["files"] += 1
                    try:
                        check(answers.pop(path), path, counts)
                    except (Differs, ValueError) as problem:
                        problems.append(f"{name} ({path.name}): {problem}")
                        good = False
                counts["programs"] += good
    report(counts, problems, skipped, made - started, time.time() - made)
    enough = len(sys.argv) > 2 or counts["programs"] >= LEAST_PROGRAMS
    if not enough:
        print(f"only {counts['programs']} programs agree; at least {LEAST_PROGRAMS} are wanted")
    sys.exit(0 if enough and not problems else 1)


def report(counts, problems, skipped, making, comparing):
    kinds = sum(1 for key in counts if isinstance(key, tuple))
    for problem in problems[:MOST_SHOWN]:
        print(f"differs: {problem}")
    if len(problems) > MOST_SHOWN:
        print(f"and {len(problems) - MOST_SHOWN} files more")
    for name, reason in skipped.items():
        print(f"left out: {name}: {reason}")
    print(f"jax {jax.__version__}: {counts['programs']} programs agree, {len(skipped)} left out")
    print(f"{'files':>8} {'differ':>8} {'kinds':>8} {'operations':>11} {'locations':>10} {'frames':>8} {'attributes':>11}")
    print(f"{counts['files']:8} {len(problems):8} {kinds:8} {counts['operations']:11} {counts['locations']:10} "
          f"{counts['frames']:8} {counts['attributes']:11}")
    print(f"{making:.1f} s to make the programs, {comparing:.1f} s to compare")


if __name__ == "__main__":
    main()
