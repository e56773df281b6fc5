#!/usr/bin/env python3
"""Compares what Keel reads from HloModuleProto with what XLA reads, field by field.

Usage: hlo_oracle.py KEEL [NAME...]
  KEEL   the program `keel`; `KEEL show --json FILE` is what is compared
  NAME   only these modules

Modules: the samples from PyTorch/XLA, the JAX programs of corpus_jax.py and the StableHLO of
corpus_stablehlo.py turned into HLO by XLA, and HLO text for what neither asks for. Compared are the
computations, the order of instructions, opcodes, shapes with layouts, operands, roots, the entry,
frames and names of positions, literals, and the attributes as XLA's text has them.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import corpus  # sets the environment of JAX, so it comes first
import corpus_jax
import corpus_stablehlo
import hlo_text
import hlo_texts
import jax
from jaxlib import _hlo, _jax

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "samples" / "hlo"
FEWEST_MODULES = 40


# ---- modules -------------------------------------------------------------------------------------


def from_jax(make):
    jax.clear_caches()
    lowered = make()
    if not hasattr(lowered, "compiler_ir"):
        raise ValueError("shapes that are not known")
    return lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()


def from_stablehlo(text):
    """In a process of its own: XLA ends the process at what it cannot translate."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            data = _jax.mlir.mlir_module_to_xla_computation(
                text, use_tuple_args=False, return_tuple=False).as_serialized_hlo_module_proto()
            with os.fdopen(write, "wb") as file:
                file.write(data)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        data = file.read()
    _, status = os.waitpid(child, 0)
    if status:
        raise ValueError("XLA cannot translate it")
    return data


def modules():
    """Yields (name, a function that gives the bytes)."""
    for path in sorted(SAMPLES.glob("*.hlo")):
        yield f"sample_{path.stem}", path.read_bytes
    for name, text in hlo_texts.TEXTS.items():
        yield f"hlo_{name}", lambda text=text: _hlo.hlo_module_from_text(
            text).as_serialized_hlo_module_proto()
    for name, text in corpus_stablehlo.TEXTS.items():
        yield f"stablehlo_{name}", lambda text=text: from_stablehlo(text)
    for name, make in corpus_jax.CASES.items():
        yield f"jax_{name}", lambda make=make: from_jax(make)


# ---- the order in the file -----------------------------------------------------------------------


def fields(data):
    """(number, value) of a protobuf message; value is an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(tag & 7) or varint()
        yield tag >> 3, data[at:at + size]
        at += size


def file_order(data):
    """[(computation, [instruction])]: XLA sorts both by id when it reads."""
    def name(message):
        return next((value.decode() for number, value in fields(message) if number == 1), "")

    return [(name(computation), [name(value) for number, value in fields(computation) if number == 2])
            for number, computation in fields(data) if number == 3]


# ---- comparing -----------------------------------------------------------------------------------


class Comparison:
    def __init__(self, name, data, keel, report):
        self.name, self.keel, self.report = name, keel, report
        self.order = file_order(data)
        module = _hlo.HloModule.from_serialized_hlo_module_proto(data)
        options = _hlo.HloPrintOptions()
        options.print_large_constants = True
        self.xla = hlo_text.Module(module.to_string(options))

    def expect(self, where, what, got, wanted):
        self.report.counts[what] += 1
        if got != wanted:
            self.report.problem(f"{self.name}: {where}: {what}: Keel {got!r}, XLA {wanted!r}")

    def run(self):
        keel = self.keel
        self.expect("module", "name", keel["name"], self.xla.name)
        self.expect("module", "entry", keel["entry"], self.xla.entry)
        self.header()
        self.expect("module", "computations", [f["name"] for f in keel["functions"]],
                    [name for name, _ in self.order])
        for function, (name, instructions) in zip(keel["functions"], self.order):
            self.computation(function, name, instructions)

    def header(self):
        attributes = {name: hlo_text.plain(value) for name, value in self.keel["attributes"].items()}
        header, shape = self.xla.header, attributes["host_program_shape"]
        parameters = ", ".join(hlo_text.shape_text(p["type"]) for p in shape.get("parameters", []))
        self.expect("module", "entry_computation_layout",
                    f"{{({parameters})->{hlo_text.shape_text(shape['result']['type'])}}}",
                    header["entry_computation_layout"])
        numbers = hlo_text.numbers
        aliases = ", ".join(
            f"{numbers(e.get('output_shape_index'))}: ({e.get('parameter_number', 0)}, "
            f"{numbers(e.get('parameter_shape_index'))}, {e['kind'].lower().replace('_', '-')})"
            for e in attributes.get("input_output_alias", {}).get("entries", []))
        donors = sorted(f"({e.get('parameter_number', 0)}, {numbers(e.get('parameter_shape_index'))})"
                        for e in attributes.get("buffer_donor", {}).get("entries", []))
        found = sorted(re.findall(r"\(\d+, \{[\d,]*\}\)", header.get("buffer_donor", "")))
        self.expect("module", "input_output_alias", aliases,
                    header.get("input_output_alias", "{}")[1:-1].strip())
        self.expect("module", "buffer_donor", donors, found)

    def computation(self, function, name, names):
        xla = self.xla.computations.get(name)
        operations = function["operations"]
        if xla is None and name in self.wrapped():
            return
        xla = xla or {}
        self.expect(name, "instructions", len(operations), len(names))
        self.expect(name, "same instructions", sorted(names), sorted(xla))
        roots = [n for n, instruction in xla.items() if instruction.is_root]
        self.expect(name, "root", [names[function["root"]]], roots)
        schedule = function["attributes"].get("schedule")
        if "is_scheduled" in self.xla.header:
            self.expect(name, "schedule", [names[place] for place in schedule], list(xla))
        for place, (operation, own) in enumerate(zip(operations, names)):
            if own in xla:
                self.instruction(f"{name}/{own}", place, operation, xla[own], names)

    def wrapped(self):
        """Computations of asynchronous instructions: XLA prints what is in them instead of them."""
        return {callee["symbol"] for function in self.keel["functions"]
                for operation in function["operations"] if operation["name"] == "async-start"
                for callee in operation["attributes"]["called_computations"]}

    def instruction(self, where, place, operation, xla, names):
        if operation["name"].startswith("async-"):
            self.expect(where, "operands", [names[v] for v in operation["operands"]],
                        xla.operand_names())
            return
        self.expect(where, "opcode", operation["name"], xla.opcode)
        self.expect(where, "dialect", operation["dialect"], "hlo")
        self.expect(where, "result", operation["results"], [place])
        self.expect(where, "shape", hlo_text.shape_text(operation["result_types"][0]), xla.shape)
        if xla.opcode == "parameter":
            self.expect(where, "parameter_number",
                        str(operation["attributes"].get("parameter_number", 0)), xla.operands)
        elif xla.opcode == "constant":
            self.report.counts["literal"] += 1
            if not hlo_text.same_literal(operation["attributes"]["literal"], xla.operands):
                self.report.problem(f"{self.name}: {where}: literal: Keel "
                                    f"{operation['attributes']['literal']}, XLA {xla.operands[:200]}")
        else:
            self.expect(where, "operands", [names[v] for v in operation["operands"]],
                        xla.operand_names())
        self.position(where, operation, xla.metadata)
        wanted, unknown = hlo_text.attributes_text(operation, names)
        for field in unknown:
            self.report.unrendered[field] += 1
        for key in sorted(set(wanted) | set(xla.attributes)):
            self.expect(where, f"attribute {key}", wanted.get(key), xla.attributes.get(key))

    def position(self, where, operation, metadata):
        name = metadata.get("op_name") or metadata.get("op_type", "")
        self.expect(where, "op_name", operation.get("location_name", ""), name)
        got = [(f["file"], f["name"], f["line"], f["column"], f["end_line"], f["end_column"])
               for f in operation.get("locations", [])]
        if "stack_frame_id" in metadata:
            self.expect(where, "frames", got, self.xla.frames(int(metadata["stack_frame_id"])))
        elif "source_file" in metadata:
            self.expect(where, "source", [(got[0][0], got[0][2])] if got else got,
                        [(metadata["source_file"], int(metadata.get("source_line", 0)))])
        else:
            self.expect(where, "no position", got, [])


class Report:
    def __init__(self):
        self.counts, self.unrendered = collections.Counter(), collections.Counter()
        self.compared, self.left_out, self.problems = 0, {}, []

    def problem(self, text):
        self.problems.append(text)

    def print(self):
        for name, reason in self.left_out.items():
            print(f"left out {name}: {reason}")
        for text in self.problems[:60]:
            print(text[:1200])
        print(f"{self.compared} modules, {self.counts['opcode']} instructions, "
              f"{sum(self.counts.values())} comparisons, {len(self.problems)} differences")
        attributes = [f"{what.split(' ')[1]} {count}" for what, count in sorted(self.counts.items())
                      if what.startswith("attribute ")]
        print("attributes compared: " + ", ".join(attributes))
        if self.unrendered:
            print("attributes without XLA's text: " +
                  ", ".join(f"{name} {count}" for name, count in self.unrendered.items()))


def show(keel, data, folder):
    path = pathlib.Path(folder) / "module.hlo"
    path.write_bytes(data)
    answer = subprocess.run([keel, "show", "--json", path], capture_output=True)
    if answer.returncode:
        raise RuntimeError(f"keel show: {answer.stderr.decode('utf-8', 'replace').strip()}")
    return json.loads(answer.stdout)


def compare(keel, name, make, report, folder):
    try:
        with corpus.silence():
            data = make()
    except Exception as problem:  # noqa: BLE001: a version of JAX or XLA lacks it
        report.left_out[name] = (str(problem).strip().splitlines() or [type(problem).__name__])[0][:150]
        return
    try:
        Comparison(name, data, show(keel, data, folder), report).run()
    except Exception as problem:  # noqa: BLE001: one module must not hide the others
        report.problem(f"{name}: {type(problem).__name__}: {problem}")
    report.compared += 1


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    keel, names = sys.argv[1], sys.argv[2:]
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        for name, make in modules():
            if not names or name in names:
                compare(keel, name, make, report, folder)
    report.print()
    if report.problems or (not names and report.compared < FEWEST_MODULES):
        sys.exit(1)


if __name__ == "__main__":
    main()
