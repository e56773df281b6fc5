"""What of a GPU's serialized executable is code, and what only repeats the options of the compile.

XLA writes the options of a compile into the executable, so its bytes differ whenever an option does,
whether it matters or not. What runs is in the rest: kernels, the steps that launch them, buffers and
constants. Formats: Riegeli's records (block headers every 64 KiB, chunks of compressed records), snappy,
protobuf. Numbers: GpuExecutableProto of xla/service/gpu/gpu_executable.proto.
"""

import hashlib

BLOCK, BLOCK_HEADER, CHUNK_HEADER = 1 << 16, 24, 40
SIMPLE_RECORDS, SNAPPY, PLAIN = ord("r"), ord("s"), 0
SIGNATURE = b"\x83\xafp\xd1"
RECORD, FIELD = 2, 3  # of the first record, and of what it says of another
MODULE = 1  # of GpuExecutableProto; besides the HLO it has the options
HLO, COMPUTATIONS = 1, 3  # of HloModuleProtoWithConfig, and of HloModuleProto


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """Number and value of each field: bytes or an integer."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}[tag & 7]
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def unsnap(data):
    _, at = varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag, at = data[at], at + 1
        if tag & 3 == 0:
            size = tag >> 2
            if size >= 60:
                more = size - 59
                size, at = int.from_bytes(data[at:at + more], "little"), at + more
            out += data[at:at + size + 1]
            at += size + 1
            continue
        if tag & 3 == 1:
            size, offset, at = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at], at + 1
        else:
            more = 2 if tag & 3 == 2 else 4
            size, offset, at = (tag >> 2) + 1, int.from_bytes(data[at:at + more], "little"), at + more
        for _ in range(size):
            out.append(out[-offset])
    return bytes(out)


def plain(kind, data):
    if kind == PLAIN or not data:
        return data
    if kind != SNAPPY:
        raise ValueError(f"compression {chr(kind)!r}")
    return unsnap(data[varint(data, 0)[1]:])


def records(data):
    stream = b"".join(data[at + BLOCK_HEADER:at + BLOCK] for at in range(0, len(data), BLOCK))
    at = 0
    while at + CHUNK_HEADER <= len(stream):
        size = int.from_bytes(stream[at + 8:at + 16], "little")
        kind, body = stream[at + 24], stream[at + CHUNK_HEADER:at + CHUNK_HEADER + size]
        at += CHUNK_HEADER + size
        if kind != SIMPLE_RECORDS:
            continue
        sizes_size, begin = varint(body, 1)
        sizes = plain(body[0], body[begin:begin + sizes_size])
        values = plain(body[0], body[begin + sizes_size:])
        where = read = 0
        while read < len(sizes):
            size, read = varint(sizes, read)
            yield values[where:where + size]
            where += size


def code(data):
    """A digest for each part of the executable that is code, by the number of its field."""
    inner = next(record for record in records(data) if record.startswith(SIGNATURE))
    parts = {}

    def add(name, value):
        parts.setdefault(name, hashlib.sha256()).update(repr(value).encode())

    header, *rest = records(inner)
    assert b"GpuExecutableProto" in header, header[:80]
    # It says of each record whether it is a message, or the bytes of one field.
    kinds = [dict(fields(kind)) for number, kind in fields(header) if number == RECORD]
    for kind, record in zip(kinds, rest, strict=True):
        if FIELD in kind:
            add(kind[FIELD].hex(), record)
            continue
        for number, value in fields(record):
            if number != MODULE:
                add(number, value)
                continue
            for part, module in fields(value):
                if part == HLO:
                    for of_module, computation in fields(module):
                        if of_module == COMPUTATIONS:
                            add("computations", computation)
    return {name: digest.hexdigest()[:16] for name, digest in parts.items()}
