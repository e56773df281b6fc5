"""Ways in which a stored entry can be broken, by name. Each takes the entry's path, its bytes as
they were, and those of another program's entry. src/store/entry.h holds the grammar."""

import hashlib
import os
import random
import struct

VERSION, OLDEST, HEADER, DIGEST, PAYLOAD_DIGEST, ENVELOPE = 8, 12, 16, 32, 64, 96


def header_size(entry):
    return int.from_bytes(entry[HEADER:HEADER + 8], "little")


def sealed(entry):
    """The entry with a header's digest that fits."""
    header = entry[:DIGEST] + entry[PAYLOAD_DIGEST:header_size(entry)]
    digest = hashlib.blake2b(header, digest_size=32).digest()
    return entry[:DIGEST] + digest + entry[PAYLOAD_DIGEST:]


def with_versions(entry, version, oldest):
    return sealed(entry[:VERSION] + version.to_bytes(4, "little") + oldest.to_bytes(4, "little")
                  + entry[HEADER:])


def with_compile_seconds(entry, seconds):
    """As if its compile had taken so long."""
    at, tag = ENVELOPE, 7
    while int.from_bytes(entry[at:at + 4], "little") != tag:
        at += 8 + int.from_bytes(entry[at + 4:at + 8], "little")
    return sealed(entry[:at + 8] + struct.pack("<d", seconds) + entry[at + 16:])


def write(make):
    def damage(path, entry, other):
        path.write_bytes(make(entry, other))
    return damage


def flip(at):
    """Flips one bit of a byte; `at` is an offset, or a share of the payload."""
    def make(entry, _):
        header = header_size(entry)
        offset = at if isinstance(at, int) else header + int(at * (len(entry) - header - 1))
        bit = 1 << random.Random(offset).randrange(8)
        return entry[:offset] + bytes([entry[offset] ^ bit]) + entry[offset + 1:]
    return write(make)


def cut(length):
    return write(lambda entry, _: entry[:length(entry)])


def in_its_place(make):
    def damage(path, entry, other):
        path.unlink()
        make(path)
    return damage


DAMAGES = {f"a bit of byte {at}": flip(at) for at in
           (0, 7, VERSION, OLDEST, HEADER, HEADER + 7, 24, DIGEST, 63, PAYLOAD_DIGEST, 95, ENVELOPE,
            104, 140, 160, 300)}
DAMAGES |= {f"a bit at {share:.0%} of the payload": flip(share)
            for share in (0.0, 0.1, 0.35, 0.5, 0.77, 0.99, 1.0)}
DAMAGES |= {
    "cut to nothing": cut(lambda entry: 0),
    "cut to one byte": cut(lambda entry: 1),
    "cut inside the envelope": cut(lambda entry: ENVELOPE - 1),
    "cut after the envelope": cut(lambda entry: ENVELOPE),
    "cut inside the header": cut(lambda entry: header_size(entry) - 1),
    "cut after the header": cut(header_size),
    "cut inside the payload": cut(lambda entry: (header_size(entry) + len(entry)) // 2),
    "cut by one byte": cut(lambda entry: len(entry) - 1),
    "a byte more": write(lambda entry, _: entry + b"\0"),
    "all zero": write(lambda entry, _: bytes(len(entry))),
    "another program's entry": write(lambda _, other: other),
    "text": write(lambda _, __: b"no entry at all\n"),
    "a newer version that this one cannot read": write(lambda e, _: with_versions(e, 99, 99)),
    "a folder": in_its_place(lambda path: path.mkdir()),
    "a link to nothing": in_its_place(lambda path: path.symlink_to("nothing")),
    "a link to itself": in_its_place(lambda path: path.symlink_to(path.name)),
    "a pipe": in_its_place(os.mkfifo),
}
# Not damaged at all.
HARMLESS = {"a newer version that this one can read": write(lambda e, _: with_versions(e, 99, 1))}
