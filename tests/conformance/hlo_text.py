"""HLO text as XLA prints it, taken apart; and the same text made from what `keel show --json` says."""

import json
import re
import struct

import numpy as np

# ---- XLA's text ----------------------------------------------------------------------------------

OPENING, CLOSING = "({[", ")}]"


def end_of_string(text, at):
    """The place behind the string that begins at text[at] with a quote."""
    at += 1
    while text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at + 1


def span(text, at, stops):
    """The place from `at` on of the first of `stops` that is in no bracket and no string."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char == '"':
            at = end_of_string(text, at)
            continue
        if depth == 0 and char in stops:
            return at
        depth += (char in OPENING) - (char in CLOSING)
        at += 1
    return at


def split(text):
    """`a, {b, c}` -> ["a", "{b, c}"]"""
    parts, at = [], 0
    while at < len(text):
        end = span(text, at, ",")
        parts.append(text[at:end].strip())
        at = end + 1
    return parts


def unescape(text):
    return re.sub(rb"\\([0-7]{3}|.)", lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else
                  {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(m[1], m[1]),
                  text.encode()).decode("utf-8", "replace")


def words(text):
    """`{a="b" c=1}` -> {"a": "b", "c": "1"}"""
    found = {}
    for match in re.finditer(r'(\w+)=("(?:[^"\\]|\\.)*"|\{[^}]*\}|[^\s}]+)', text):
        value = match[2]
        found[match[1]] = unescape(value[1:-1]) if value.startswith('"') else value
    return found


class Instruction:
    """One line: `ROOT %name = shape opcode(operands), attributes`."""

    def __init__(self, line):
        line = line.strip()
        self.is_root = line.startswith("ROOT ")
        name, line = line.removeprefix("ROOT ").split(" = ", 1)
        self.name = name.removeprefix("%")
        end = span(line, 0, " ")
        self.shape, line = line[:end], line[end + 1:]
        end = line.index("(")
        self.opcode = line[:end]
        close = span(line, end + 1, ")")
        self.operands = line[end + 1:close]
        rest = line[close + 1:].lstrip(", ").replace(", device_ids=", "\0device_ids=")
        self.attributes = dict(part.replace("\0", ", ").split("=", 1) for part in split(rest))
        self.metadata = words(self.attributes.pop("metadata", "{}"))
        self.attributes.pop("origin", None)
        self.attributes.pop("statistics", None)

    def operand_names(self):
        return [part.split("%")[-1] for part in split(self.operands)]


class Module:
    """What HloModule.to_string gives, with its tables of frames."""

    def __init__(self, text):
        self.computations, self.tables, self.entry = {}, {}, None
        table = instructions = None
        lines = text.splitlines()
        self.name = re.match(r"HloModule ([^,\s]+)", lines[0])[1]
        lines[0] = re.sub(r"/\*index=\d+\*/", "", lines[0])
        self.header = dict(part.split("=", 1) for part in split(lines[0]) if "=" in part)
        for line in lines[1:]:
            line = re.sub(r"/\*index=\d+\*/", "", line)
            if re.fullmatch(r"FileNames|FunctionNames|FileLocations|StackFrames", line):
                table = self.tables.setdefault(line, {})
            elif table is not None and re.match(r"\d+ ", line):
                number, value = line.split(" ", 1)
                table[int(number)] = unescape(value[1:-1]) if value[0] == '"' else words(value)
            elif line.startswith("  "):
                instruction = Instruction(line)
                instructions[instruction.name] = instruction
            elif line.endswith("{"):
                table = None
                name = line.removeprefix("ENTRY ").split(" ")[0].removeprefix("%")
                instructions = self.computations.setdefault(name, {})
                if line.startswith("ENTRY "):
                    self.entry = name

    def frames(self, number):
        """(file, function, line, column, end line, end column), innermost first."""
        chain = []
        while number and number in self.tables["StackFrames"]:
            frame = self.tables["StackFrames"][number]
            place = self.tables["FileLocations"][int(frame["file_location_id"])]
            chain.append((self.tables["FileNames"][int(place["file_name_id"])],
                          self.tables["FunctionNames"][int(place["function_name_id"])],
                          *(int(place.get(key, 0)) for key in ("line", "column", "end_line",
                                                               "end_column"))))
            # The text tells the parent's number plus one.
            number = int(frame.get("parent_frame_id", 1)) - 1
        return chain


# ---- Keel's types --------------------------------------------------------------------------------

ELEMENTS = {"i1": "pred", "i2": "s2", "i4": "s4", "i8": "s8", "i16": "s16", "i32": "s32",
            "i64": "s64", "si1": "s1", "complex<f32>": "c64", "complex<f64>": "c128"}
NUMPY = {"pred": "u1", "s1": "i1", "s2": "i1", "s4": "i1", "s8": "i1", "s16": "i2", "s32": "i4",
         "s64": "i8", "u1": "u1", "u2": "u1", "u4": "u1", "u8": "u1", "u16": "u2", "u32": "u4",
         "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}


def numbers(items):
    return "{" + ",".join(map(str, items or [])) + "}"


class TypeParser:
    """`tensor<2xf32, {0}>` -> `f32[2]{0}`"""

    def __init__(self, text):
        self.text, self.at = text, 0

    def take(self, pattern):
        match = re.compile(pattern).match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def value(self):
        if self.take(r"hlo\.message\{"):
            fields = {}
            while not self.take(r"\}"):
                self.take(", ")
                name = self.take(r"(\w+) = ")[1]
                fields[name] = self.value()
            return fields
        if self.take(r"\["):
            items = []
            while not self.take(r"\]"):
                self.take(", ")
                items.append(self.value())
            return items
        word = self.take(r'"[^"]*"|[^\s,\]\}>]+')[0]
        return int(word) if re.fullmatch(r"-?\d+", word) else word

    def layout(self):
        if not self.take(", "):
            return None
        order = self.take(r"\{([\d,]*)\}")
        if order:
            return {"minor_to_major": [int(each) for each in order[1].split(",") if each]}
        return self.value()

    def shape(self):
        if self.take("!token"):
            return "token[]"
        if self.take("!opaque"):
            return "opaque[]"
        if self.take("tuple<"):
            parts = []
            while not self.take(">"):
                if self.text.startswith((", hlo.message", ", {"), self.at):
                    self.layout()
                    continue
                self.take(", ")
                parts.append(self.shape())
            return "(" + ", ".join(parts) + ")"
        buffer = self.take("memref<")
        if not buffer and not self.take("tensor<"):
            raise ValueError(f"not a type: {self.text[self.at:]}")
        sizes = [size[:-1] for size in re.findall(r"(?:\d+|\?)x", self.take(r"((?:\d+|\?)x)*")[0])]
        element = self.take(r"complex<f\d+>|\w+")[0]
        layout = self.layout()
        self.take(">")
        text = array_text(ELEMENTS.get(element, element.lower().replace("ui", "u")), sizes, layout)
        return f"b({text})" if buffer else text


def array_text(element, sizes, layout):
    dynamic = layout.get("is_dynamic_dimension", []) if layout else []
    if dynamic:
        layout = layout.get("layout")
    sizes = [("<=" + size if size != "?" else size) if flag else size
             for size, flag in zip(sizes, dynamic or [0] * len(sizes))]
    text = f"{element}[{','.join(sizes)}]"
    return text if layout is None else text + layout_text(layout, len(sizes))


def layout_text(layout, rank):
    parts = ""
    if layout.get("tiles"):
        parts += "T" + "".join("(" + ",".join("*" if d == -(2**63) else str(d)
                                              for d in tile.get("dimensions", [])) + ")"
                               for tile in layout["tiles"])
    if layout.get("element_size_in_bits"):
        parts += f"E({layout['element_size_in_bits']})"
    if layout.get("memory_space"):
        parts += f"S({layout['memory_space']})"
    unknown = set(layout) - {"minor_to_major", "tiles", "element_size_in_bits", "memory_space"}
    if unknown:
        raise ValueError(f"a layout with {unknown}")
    if not rank and not parts:
        return ""
    order = ",".join(map(str, layout.get("minor_to_major", [])))
    return "{" + order + (":" + parts if parts else "") + "}"


def shape_text(keel_type):
    return TypeParser(keel_type).shape()


# ---- Keel's attributes ---------------------------------------------------------------------------


def plain(value):
    """Messages and dictionaries as dicts, however they are wrapped."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        for wrapper in ("message", "dictionary"):
            if list(value) == [wrapper]:
                return {name: plain(item) for name, item in value[wrapper].items()}
    return value


def flag(condition):
    return "true" if condition else "false"


def window_text(window):
    dims = window.get("dimensions", [])

    def column(render, unless):
        values = [render(dim) for dim in dims]
        return None if all(value == unless for value in values) else "x".join(values)

    def one(name):
        return lambda dim: str(dim.get(name, 0))

    def padding(dim):
        return f"{dim.get('padding_low', 0)}_{dim.get('padding_high', 0)}"

    parts = [("size", "x".join(one("size")(dim) for dim in dims)),
             ("stride", column(one("stride"), "1")), ("pad", column(padding, "0_0")),
             ("lhs_dilate", column(one("base_dilation"), "1")),
             ("rhs_dilate", column(one("window_dilation"), "1")),
             ("rhs_reversal", column(lambda dim: "1" if dim.get("window_reversal") else "0", "0"))]
    return "{" + " ".join(f"{name}={value}" for name, value in parts if value) + "}"


def labels_text(n):
    def label(spatial, named):
        places = {place: str(i) for i, place in enumerate(n.get(spatial, []))}
        places |= {n.get(name, 0): letter for name, letter in named.items()}
        return "".join(places[place] for place in sorted(places))

    inputs = label("input_spatial_dimensions", {"input_batch_dimension": "b",
                                                "input_feature_dimension": "f"})
    kernel = label("kernel_spatial_dimensions", {"kernel_input_feature_dimension": "i",
                                                 "kernel_output_feature_dimension": "o"})
    outputs = label("output_spatial_dimensions", {"output_batch_dimension": "b",
                                                  "output_feature_dimension": "f"})
    return f"{inputs}_{kernel}->{outputs}"


def iota_text(dimensions, reshape, transpose):
    text = "[" + ",".join(map(str, dimensions)) + "]<=[" + ",".join(map(str, reshape)) + "]"
    if transpose and transpose != sorted(transpose):
        text += "T(" + ",".join(map(str, transpose)) + ")"
    return text


def mesh_text(mesh):
    text = "mesh[" + ",".join(f"'{axis['name']}'={axis['size']}" for axis in mesh["axes"]) + "]"
    if "iota_transform" in mesh:
        transform = mesh["iota_transform"]
        order = iota_text([], transform["reshape_dims"], transform.get("transpose_perm"))
        text += f", device_ids=({order.removeprefix('[]<=')})"
    elif "device_ids" in mesh:
        text += ", device_ids=(" + ",".join(map(str, mesh["device_ids"])) + ")"
    return text


def axes_text(mesh, axes):
    """`'a':(1)2` is a part of an axis."""
    texts = []
    for axis in axes:
        part = axis.get("sub_axis_info")
        texts.append(f"'{mesh['axes'][axis.get('mesh_axis_index', 0)]['name']}'" +
                     (f":({part['pre_size']}){part['size']}" if part else ""))
    return texts


def mesh_groups_text(groups):
    mesh = groups["mesh"]
    return f"{mesh_text(mesh)} {{{','.join(axes_text(mesh, groups['axes']))}}}"


def named_sharding_text(s):
    mesh, parts = s["mesh"], []
    for dim in s.get("dim_shardings", []):
        axes = axes_text(mesh, dim.get("axes", []))
        parts.append("{" + ", ".join(axes + ([] if dim.get("is_closed") else ["?"])) + "}")
    text = f"{{{mesh_text(mesh)}, [{', '.join(parts)}]"
    for name in ("replicated", "unreduced", "manual"):
        axes = axes_text(mesh, s.get(f"{name}_axes", []))
        how = s.get("reduction_op", "").lower() if name == "unreduced" else ""
        text += f", {name}={how}{{{', '.join(axes)}}}" if axes else ""
    return text + "}"


def sharding_text(s):
    if "named_sharding" in s:
        return named_sharding_text(s["named_sharding"])
    kind = s.get("type", "REPLICATED")
    if kind == "TUPLE":
        return "{" + ", ".join(map(sharding_text, s.get("tuple_shardings", []))) + "}"
    if kind == "MAXIMAL":
        return "{maximal device=" + str(s["tile_assignment_devices"][0]) + "}"
    if kind != "OTHER":
        return "{" + kind.lower() + group_text(s) + "}"
    dims = s["tile_assignment_dimensions"]
    if "iota_reshape_dims" in s:
        text = iota_text(dims, s["iota_reshape_dims"], s.get("iota_transpose_perm"))
    else:
        text = "[" + ",".join(map(str, dims)) + "]" + ",".join(map(str, s["tile_assignment_devices"]))
    text = "devices=" + text
    if s.get("replicate_on_last_tile_dim"):
        text += " last_tile_dim_replicate"
    if s.get("last_tile_dims"):
        text += " last_tile_dims={" + ", ".join(s["last_tile_dims"]).lower() + "}"
    metadata = s.get("metadata", [])
    if len(metadata) == 2 and metadata[0] == metadata[1]:
        metadata = metadata[:1]  # XLA writes the metadata of subgroups twice, and prints it once
    for m in metadata:
        text += f' metadata={{op_type="{m.get("op_type", "")}" op_name="{m.get("op_name", "")}"}}'
    return "{" + text + group_text(s) + "}"


def group_text(s):
    if not s.get("is_shard_group"):
        return ""
    return f" shard_{s.get('shard_group_type', 'AS').lower()} {s.get('shard_group_id', 0)}"


def groups_text(groups):
    return "{" + ",".join(numbers(group.get("replica_ids")) for group in groups) + "}"


def slices_text(slices):
    strides = any(s.get("stride", 0) != 1 for s in slices)
    return "{" + ", ".join(
        f"[{s.get('start', 0)}:{s.get('limit', 0)}" +
        (f":{s.get('stride', 0)}]" if strides else "]") for s in slices) + "}"


def padding_text(padding):
    dims = padding.get("dimensions", [])
    interior = any(dim.get("interior_padding") for dim in dims)
    return "x".join(f"{dim.get('edge_padding_low', 0)}_{dim.get('edge_padding_high', 0)}" +
                    (f"_{dim.get('interior_padding', 0)}" if interior else "") for dim in dims)


def aliasing_text(pairs):
    return "{" + ", ".join(
        f"{numbers(p.get('output_shape_index'))}: ({p.get('operand_index', 0)}, "
        f"{numbers(p.get('operand_shape_index'))})" for p in pairs) + "}"


def float_text(value):
    """As printf's %g: what XLA writes for a float among the attributes."""
    return f"{value['float']:g}"


def accuracy_text(accuracy):
    if "tolerance" in accuracy:
        t = accuracy["tolerance"]
        return "{tolerance={" + f"atol={t['atol']['float']:g},rtol={t['rtol']['float']:g}," \
            f"ulps={t.get('ulps', 0)}" + "}}"
    return "{mode=" + accuracy["mode"].lower() + "}"


# ---- literals ------------------------------------------------------------------------------------


def logical(array, shape, order):
    """Elements that stand in the order of a layout, row by row."""
    if order and list(order) != list(range(len(shape)))[::-1]:
        major = list(order)[::-1]
        array = array.reshape([shape[d] for d in major]).transpose(np.argsort(major))
    return array.reshape(-1)


SMALL_FLOATS = {"bf16": "bfloat16", "f8e5m2": "float8_e5m2", "f8e4m3fn": "float8_e4m3fn",
                "f8e4m3": "float8_e4m3", "f8e3m4": "float8_e3m4", "f8e4m3b11fnuz":
                "float8_e4m3b11fnuz", "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3fnuz":
                "float8_e4m3fnuz", "f8e8m0fnu": "float8_e8m0fnu", "f4e2m1fn": "float4_e2m1fn",
                "f6e3m2fn": "float6_e3m2fn", "f6e2m3fn": "float6_e2m3fn"}


def element_type(name):
    if name in SMALL_FLOATS:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, SMALL_FLOATS[name]))
    return np.dtype(NUMPY[name])


def parse_literal(text, dtype):
    text = re.sub(r"nan\(0x[0-9a-f]+\)", "nan", text.replace("true", "1").replace("false", "0"))
    if dtype.kind == "c":
        pairs = re.findall(r"\(([^,()]+), ([^,()]+)\)", text)
        part = np.float32 if dtype.itemsize == 8 else np.float64
        return np.array([part(p) for pair in pairs for p in pair], part).view(dtype)
    found = re.findall(r"[^\s,{}]+", text)
    if dtype.kind in "iu":
        return np.array([int(word) for word in found], dtype)
    return np.array([float(word) for word in found], np.float64).astype(dtype)


def same_literal(literal, text):
    """Whether XLA's text says the bytes that Keel has. NaNs are equal, as the text tells no bits."""
    if "tensor" not in literal:
        parts = split(text.strip()[1:-1])
        elements = plain(literal)["tuple_literals"]
        return len(parts) == len(elements) and all(map(same_literal, elements, parts))
    shape = shape_text(literal["tensor"])
    element, sizes, order = re.match(r"(\w+)\[([\d,]*)\](?:\{([\d,]*))?", shape).groups()
    dtype = element_type(element)
    sizes = [int(size) for size in sizes.split(",") if size]
    order = [int(place) for place in (order or "").split(",") if place]
    got = np.frombuffer(bytes.fromhex(literal["data"]), dtype)
    got = logical(got, sizes, order)
    wanted = parse_literal(text, dtype)
    if got.shape != wanted.shape:
        return False
    if dtype.kind in "iu":
        return bool((got == wanted).all())
    got = got.view(np.float32 if dtype == "c8" else np.float64) if dtype.kind == "c" else got
    wanted = wanted.view(got.dtype) if dtype.kind == "c" else wanted
    nan = np.isnan(got.astype(np.float64))
    equal = (got == wanted) & (np.signbit(got.astype(np.float64)) ==
                               np.signbit(wanted.astype(np.float64)))
    # XLA prints the zeros of complex numbers without their sign.
    if dtype.kind == "c":
        equal |= (got == 0) & (wanted == 0)
    return bool((equal | (nan & np.isnan(wanted.astype(np.float64)))).all())


# ---- an instruction's attributes as XLA's text ---------------------------------------------------

# Opcodes whose `dimensions` are printed even where they are empty.
WITH_DIMENSIONS = {"broadcast", "transpose", "reduce", "reverse", "concatenate", "sort", "map"}


def callees_text(opcode, names, operand_types):
    names = ["%" + name["symbol"] for name in names]
    if opcode == "while":
        return {"body": names[0], "condition": names[1]}
    if opcode == "select-and-scatter":
        return {"select": names[0], "scatter": names[1]}
    if opcode == "conditional" and operand_types[0].startswith("tensor<i1"):
        return {"true_computation": names[0], "false_computation": names[1]}
    if opcode == "conditional":
        return {"branch_computations": "{" + ", ".join(names) + "}"}
    if opcode == "custom-call":
        return {"called_computations": "{" + ", ".join(names) + "}"}
    if opcode in ("fusion", "async-start"):
        return {"calls": names[0]}
    return {"to_apply": names[0]} if len(names) == 1 else {"called_computations": names}


def dot(message, out):
    for side in ("lhs", "rhs"):
        if message.get(f"{side}_batch_dimensions"):
            out[f"{side}_batch_dims"] = numbers(message[f"{side}_batch_dimensions"])
        out[f"{side}_contracting_dims"] = numbers(message.get(f"{side}_contracting_dimensions"))


def indexed(always, sometimes):
    def render(message, out):
        for name in always:
            out[name] = numbers(message.get(name))
        for name in sometimes:
            if message.get(name):
                out[name] = numbers(message[name])
        out["index_vector_dim"] = str(message.get("index_vector_dim", 0))
    return render


GATHER = indexed(("offset_dims", "collapsed_slice_dims", "start_index_map"),
                 ("operand_batching_dims", "start_indices_batching_dims"))
SCATTER = indexed(("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"),
                  ("input_batching_dims", "scatter_indices_batching_dims"))


def ragged(message, out):
    dot(message.get("dot_dimension_numbers", {}), out)
    out["lhs_ragged_dims"] = numbers(message.get("lhs_ragged_dimensions"))
    if message.get("rhs_group_dimensions"):
        out["rhs_group_dims"] = numbers(message["rhs_group_dimensions"])


def precision(message, out):
    operands = message.get("operand_precision", [])
    if any(p != "DEFAULT" for p in operands):
        out["operand_precision"] = "{" + ",".join(operands).lower() + "}"
    if "algorithm" in message:
        out["algorithm"] = message["algorithm"].lower().removeprefix("alg_")


def triangular(message, out):
    for name in ("left_side", "lower", "unit_diagonal"):
        if message.get(name):
            out[name] = "true"
    if "transpose_a" in message:
        out["transpose_a"] = message["transpose_a"]


def put(name, render=str, unless=None):
    def one(value, out):
        if value != unless:
            out[name] = render(value)
    return one


def quoted(text):
    text = text if isinstance(text, str) else bytes.fromhex(text["bytes"]).decode("latin-1")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'").replace(
        "\n", "\\n").replace("\t", "\\t") + '"'


def config_text(text):
    """What is in braces already is printed as it is, anything else as a string."""
    if isinstance(text, str) and text.startswith("{") and text.endswith("}"):
        return text
    return quoted(text)


# By field: what it adds to the attributes that XLA prints.
FIELDS = {
    "window": put("window", window_text), "convolution_dimension_numbers": put("dim_labels", labels_text),
    "feature_group_count": put("feature_group_count", unless=1),
    "batch_group_count": put("batch_group_count", unless=1),
    "slice_dimensions": put("slice", slices_text), "padding_config": put("padding", padding_text),
    "dynamic_slice_sizes": put("dynamic_slice_sizes", numbers),
    "comparison_direction": put("direction"),
    "dot_dimension_numbers": dot, "ragged_dot_dimension_numbers": ragged,
    "gather_dimension_numbers": GATHER, "scatter_dimension_numbers": SCATTER,
    "gather_slice_sizes": put("slice_sizes", numbers), "precision_config": precision,
    "indices_are_sorted": put("indices_are_sorted", flag), "unique_indices": put("unique_indices", flag),
    "fusion_kind": put("kind"), "fft_type": put("fft_type"), "fft_length": put("fft_length", numbers),
    "exponent_bits": put("exponent_bits"), "mantissa_bits": put("mantissa_bits"),
    "epsilon": put("epsilon", float_text), "is_stable": put("is_stable", flag),
    "cholesky_options": put("lower", lambda m: flag(m.get("lower"))), "triangular_solve_options": triangular,
    "custom_call_target": put("custom_call_target", quoted),
    "custom_call_has_side_effect": put("custom_call_has_side_effect", flag),
    "custom_call_schedule": put("schedule"),
    "output_operand_aliasing": put("output_to_operand_aliasing", aliasing_text),
    "backend_config": put("backend_config", config_text), "channel_id": put("channel_id"),
    "replica_groups": put("replica_groups", groups_text), "use_global_device_ids": put("use_global_device_ids", flag),
    "source_target_pairs": put("source_target_pairs", lambda pairs: "{" + ",".join(
        f"{{{p.get('source', 0)},{p.get('target', 0)}}}" for p in pairs) + "}"),
    "sharding": put("sharding", sharding_text),
    "frontend_attributes": put("frontend_attributes", lambda d: "{" + ",".join(
        f"{name}={config_text(value)}" for name, value in d.items()) + "}"),
    "result_accuracy": put("result_accuracy", accuracy_text), "is_composite": put("is_composite", flag),
    "k": put("k"), "is_host_transfer": put("is_host_transfer", flag), "delta": put("delta"),
    "distribution": put("distribution", lambda name: "rng_" + name.lower()),
    "rng_algorithm": put("algorithm", lambda name: "rng_" + name.lower()),
    "infeed_config": put("infeed_config", quoted), "outfeed_config": put("outfeed_config", quoted),
    "outfeed_shape": put("outfeed_shape", lambda t: shape_text(t["type"])),
    "cross_program_prefetch_index": put("cross_program_prefetch_index"),
    "parameter_replication": put("parameter_replication", lambda m: "{" + ",".join(
        map(flag, m["replicated_at_leaf_buffers"])) + "}"),
    "is_reverse": put("is_reverse", flag), "num_carries": put("num_carries"),
    "is_associative": put("is_associative", lambda name: flag(name == "TRI_STATE_TRUE")),
    "all_reduce_id": put("all_reduce_id"), "constrain_layout": put("constrain_layout", flag),
}


def comparison_text(attributes, operand_types, out):
    """The order is printed where it is not that of the operands' type."""
    kind, order = attributes.pop("comparison_type", None), attributes.pop("comparison_order", None)
    is_float = bool(operand_types) and re.search(r"[a-z]*f\d|complex", operand_types[0]) is not None
    if order == ("TOTAL" if is_float else "PARTIAL"):
        out["order"] = order
    elif not order and kind == "TOTALORDER":
        out["order"] = "TOTAL"


def special_attributes(opcode, attributes, names, operand_types):
    """What depends on the opcode, or on several fields. Takes what it renders out of `attributes`."""
    out = {}
    dimensions = attributes.pop("dimensions", None)
    if opcode == "iota":
        out["iota_dimension"] = str((dimensions or [0])[0])
    elif dimensions is not None or opcode in WITH_DIMENSIONS:
        out["dimensions"] = numbers(dimensions)
    if opcode == "get-tuple-element":
        out["index"] = str(attributes.pop("tuple_index", 0))
    if opcode == "fft":
        attributes.setdefault("fft_type", "FFT")
    if opcode == "rng-bit-generator":
        attributes.setdefault("rng_algorithm", "DEFAULT")
    if opcode == "domain":
        # The text has them the other way round than the names of the fields.
        leave, entry = (sharding_text(attributes.pop(f"domain_{side}_sharding"))
                        for side in ("entry", "exit"))
        out["domain"] = f'{{kind="sharding", entry={entry}, exit={leave}}}'
    if opcode in ("collective-broadcast", "collective-reduce"):
        out["has_dynamic_root"] = flag(attributes.pop("has_dynamic_root", False))
    if opcode.startswith("batch-norm"):
        attributes.setdefault("epsilon", {"float": 0})
        out["feature_index"] = str(attributes.pop("feature_index", 0))
    if opcode == "topk":
        out["largest"] = flag(attributes.pop("largest", False))
    comparison_text(attributes, operand_types, out)
    if "called_computations" in attributes:
        out.update(callees_text(opcode, attributes.pop("called_computations"), operand_types))
    if "control_predecessors" in attributes:
        out["control-predecessors"] = "{" + ", ".join(
            "%" + names[place] for place in attributes.pop("control_predecessors")) + "}"
    if opcode == "custom-call":
        version = attributes.pop("custom_call_api_version", "API_VERSION_UNSPECIFIED")
        if version not in ("API_VERSION_ORIGINAL", "API_VERSION_UNSPECIFIED"):
            out["api_version"] = version
        if attributes.pop("constrain_layout", False):
            shapes = attributes.pop("operand_shapes_with_layout", [])
            out["operand_layout_constraints"] = "{" + ", ".join(
                shape_text(s["type"]) for s in shapes) + "}"
    if "collective_device_list" in attributes:
        # The same groups as field 49, which an older reader knows.
        groups = attributes.pop("collective_device_list").get("replica_groups")
        attributes.setdefault("replica_groups", groups)
    if "iota_collective_device_list" in attributes:
        groups = attributes.pop("iota_collective_device_list")
        attributes.pop("replica_groups", None)
        out["replica_groups"] = iota_text(
            [groups["num_replica_groups"], groups["num_devices_per_group"]],
            groups["iota_reshape_dims"], groups.get("iota_transpose_perm"))
    if "mesh_axes_replica_group_list" in attributes:
        out["replica_groups"] = mesh_groups_text(attributes.pop("mesh_axes_replica_group_list"))
        attributes.pop("replica_groups", None)
    return out


def attributes_text(operation, names):
    """(what XLA should print, the fields that this file cannot render)."""
    opcode = operation["name"]
    attributes = {name: plain(value) for name, value in operation["attributes"].items()}
    for elsewhere in ("literal", "parameter_number"):
        attributes.pop(elsewhere, None)
    out, unknown = special_attributes(opcode, attributes, names, operation["operand_types"]), []
    for name, value in attributes.items():
        if name in FIELDS:
            FIELDS[name](value, out)
        elif value not in ({}, [], None):
            unknown.append(name)
    return out, unknown
