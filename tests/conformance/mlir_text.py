"""Reads what MLIR prints of types, attributes and locations, as structures that can be compared."""

import re

# Versions of operations that add a property, and its text where it says nothing: Keel reads such an
# operation as one of the older version. So it reads a composite_v2 without regions.
ADDED = {
    "custom_call_v2": ("result_tilings", "#vhlo.array_v1<[]>"),
    "collective_broadcast_v2": ("has_dynamic_root", "#vhlo.bool_v1<false>"),
}


class Reader:
    """A cursor over one printed type, attribute or location."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def fail(self, wanted):
        raise ValueError(f"{wanted} expected at {self.text[self.at:self.at + 60]!r} of {self.text[:200]!r}")

    def skip(self):
        while self.at < len(self.text) and self.text[self.at] in " \n":
            self.at += 1

    def eat(self, token):
        self.skip()
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def need(self, token):
        if not self.eat(token):
            self.fail(repr(token))

    def match(self, pattern):
        self.skip()
        found = re.compile(pattern).match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def string(self):
        """A quoted string as bytes."""
        found = self.match(r'"((?:[^"\\]|\\.)*)"')
        if not found:
            self.fail("a string")
        return unescape(found.group(1))

    def many(self, close, item):
        items = []
        while not self.eat(close):
            if items:
                self.need(",")
            items.append(item())
        return items

    def balanced(self):
        """The text of a bracket and what is in it, from where the cursor stands."""
        start, depth = self.at, 0
        while True:
            if self.at >= len(self.text):
                self.fail("a closing bracket")
            character = self.text[self.at]
            if character == '"':
                self.string()
                continue
            if self.text.startswith("->", self.at):
                self.at += 2
                continue
            depth += (character in "<([{") - (character in ">)]}")
            self.at += 1
            if not depth:
                return self.text[start:self.at]


def unescape(text):
    simple = {"n": b"\n", "t": b"\t", "\\": b"\\", '"': b'"'}

    def one(found):
        word = found.group(1)
        return bytes([int(word, 16)]) if len(word) == 2 else simple[word]

    parts = re.split(r'(\\(?:[0-9A-Fa-f]{2}|[nt"\\]))', text)
    return b"".join(one(re.match(r"\\(.*)", part)) if part.startswith("\\") else part.encode()
                    for part in parts)


# ---- types ---------------------------------------------------------------------------------------

_ODD = {"bool": "i1", "token": "!token", "witness": "!witness", "tf31": "tf32", "none": "none"}


class TypeReader(Reader):
    """Gives a type as Keel writes it: VHLO's and builtin types in one spelling."""

    def type(self):
        self.skip()
        if self.eat("!vhlo."):
            return self.vhlo()
        if self.eat("("):
            return self.function(self.many(")", self.type))
        if self.eat("tensor<"):
            return self.shaped("tensor")
        if self.eat("complex<"):
            inner = self.type()
            self.need(">")
            return f"complex<{inner}>"
        if self.eat("tuple<"):
            return f"tuple<{', '.join(self.many('>', self.type))}>"
        found = self.match(r"(?:!stablehlo\.)?(\w+)")
        if not found:
            self.fail("a type")
        return "!token" if found.group() == "!stablehlo.token" else found.group(1)

    def vhlo(self):
        name = self.match(r"(\w+)_v\d+").group(1)
        if name == "tensor":
            self.need("<")
            return self.shaped("tensor")
        if name == "buffer":
            self.need("<")
            return self.shaped("memref")
        if name == "unranked_tensor":
            self.need("<")
            inner = self.type()
            self.need(">")
            return f"tensor<*x{inner}>"
        if name == "complex":
            self.need("<")
            inner = self.type()
            self.need(">")
            return f"complex<{inner}>"
        if name in ("tuple", "future"):
            self.need("<")
            inner = ", ".join(self.many(">", self.type))
            return f"tuple<{inner}>" if name == "tuple" else f"!future<{inner}>"
        if name == "func":
            self.need("<(")
            inputs = [] if self.eat("())") else self.many(")", self.type)
            return self.function(inputs, close=">")
        if name in ("quant", "quant_per_axis"):
            return self.quantized(name)
        return _ODD.get(name, name)

    def shaped(self, word):
        found = self.match(r"((?:\*x|(?:\?|\d+)x)*)")
        shape = found.group(1) + self.type()
        if self.eat(","):
            self.need("#vhlo.type_extensions_v1<bounds = [")
            bounds = self.many("]", lambda: self.match(r"\?|\d+").group())
            self.need(">")
            shape += f", type_extensions<{', '.join(bounds)}>"
        self.need(">")
        return f"{word}<{shape}>"

    def function(self, inputs, close=None):
        self.need("->")
        if close:  # MLIR writes no brackets round several results here
            results = [] if self.eat("()") else [self.type()]
            while self.eat(","):
                results.append(self.type())
            self.need(close)
        elif self.eat("("):
            results = self.many(")", self.type)
        else:
            results = [self.type()]
        joined = ", ".join(results)
        return f"({', '.join(inputs)}) -> {joined if len(results) == 1 else f'({joined})'}"

    def quantized(self, name):
        self.need("<")
        storage = self.type()
        self.need(":")
        expressed = self.type()
        self.need(",")
        numbers = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", self.rest_of_bracket())]
        return f"!quant.uniform<{storage}:{expressed}, {sorted(numbers)}>"

    def rest_of_bracket(self):
        end = self.text.index(">", self.at)
        words, self.at = self.text[self.at:end], end + 1
        return words


_types = {}


def type_text(mlir_type):
    """A type of MLIR as Keel writes it."""
    text = str(mlir_type)
    if text not in _types:
        reader = TypeReader(text)
        _types[text] = reader.type()
        reader.skip()
        if reader.at != len(text):
            reader.fail("the end")
    return _types[text]


def plain_type(text):
    """Keel's spelling with the numbers of quantized types in no order, as type_text has them."""
    def numbers(found):
        listed = [float(n) for n in re.findall(r"= (-?[\d.e+-]+)|(?<=[\[ ])(-?[\d.e+-]+)(?=[,\]])", found.group(2))
                  for n in n if n]
        return f"{found.group(1)}, {sorted(listed)}>"
    return re.sub(r"(!quant\.uniform<[^,]*), quantization\{(.*?)\}>", numbers, text)


# ---- attributes ----------------------------------------------------------------------------------


class AttributeReader(TypeReader):
    """Gives an attribute as a tuple that begins with its kind."""

    def attribute(self):
        self.skip()
        rest = self.text[self.at:self.at + 24]
        if rest.startswith("#vhlo<"):
            found = self.match(r"#vhlo<(\w+)_v\d+ (\w+)>")
            return ("enum", found.group(1), found.group(2))
        if rest.startswith("#vhlo."):
            return self.vhlo_attribute()
        if rest.startswith("#sdy"):
            self.match(r"#sdy[.\w]*")
            start = self.text.rindex("#sdy", 0, self.at)
            self.balanced()
            return ("sdy", self.text[start:self.at])
        if rest.startswith('"'):
            value = self.string()
            return ("string", value, self.type() if self.eat(": ") else None)
        if rest.startswith("["):
            self.need("[")
            return ("array", self.many("]", self.attribute))
        if rest.startswith("{"):
            self.need("{")
            return ("dictionary", dict(self.many("}", self.entry)))
        if rest.startswith("@"):
            return ("symbol", [self.symbol(), *self.nested()])
        for word in ("dense<", "dense_resource<", "array<", "sparse<"):
            if rest.startswith(word):
                return self.elements(word)
        for word in ("true", "false", "unit"):
            if self.match(word + r"\b"):
                return ("unit",) if word == "unit" else ("bool", word == "true")
        number = self.match(r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)")
        if number:
            return self.number(number.group())
        return ("type", self.type())

    def elements(self, word):
        start = self.at
        self.at += len(word) - 1
        self.balanced()
        if word != "array<":
            self.need(":")
            self.type()
        return (word[:-1], self.text[start:self.at])

    def number(self, digits):
        is_float = re.search(r"[.eE]", digits) and not digits.lower().startswith(("0x", "-0x"))
        kind = self.type() if self.eat(":") else "f64" if is_float else "i64"
        if re.match(r"u?s?i\d|index", kind):
            return ("int", kind, int(digits, 0))
        return ("float", kind, digits)

    def entry(self):
        self.skip()
        if self.text.startswith("#vhlo.string", self.at):
            name = self.attribute()[1]
        elif self.text.startswith('"', self.at):
            name = self.string()
        else:
            name = self.match(r"[\w.$-]+").group().encode()
        return name, (self.attribute() if self.eat("=") else ("unit",))

    def symbol(self):
        self.need("@")
        return self.string() if self.text[self.at] == '"' else self.match(r"[\w.$-]+").group().encode()

    def nested(self):
        while self.eat("::"):
            yield self.symbol()

    def vhlo_attribute(self):
        name = self.match(r"#vhlo\.(\w+)_v\d+").group(1)
        self.need("<")
        if name == "array":
            self.need("[")
            value = ("array", self.many("]", self.attribute))
        elif name == "dict":
            self.need("{")
            value = ("dictionary", dict(self.many("}", self.entry)))
        elif name == "string":
            value = ("string", self.string(), None)
        elif name == "bool":
            value = ("bool", self.match("true|false").group() == "true")
        elif name in ("integer", "float"):
            value = self.vhlo_number()
        elif name == "tensor":
            value = self.attribute()
        elif name == "type":
            value = ("type", self.type())
        else:
            value = ("record", name, dict(self.many(">", self.field)))
            return value
        self.need(">")
        return value

    def vhlo_number(self):
        word = self.match("true|false")
        if word:
            return ("int", "i1", int(word.group() == "true"))
        digits = self.match(r"-?(?:0x[0-9A-Fa-f]+|nan|inf|NaN|Inf|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)").group()
        kind = self.type() if self.eat(":") else "i64"
        return ("int", kind, int(digits, 0)) if re.match(r"u?s?i\d|index", kind) else ("float", kind, digits)

    def field(self):
        name = self.match(r"\w+").group()
        self.need("=")
        return name, self.attribute()


_attributes = {}


def attribute_tree(attribute):
    text = str(attribute)
    if text not in _attributes:
        reader = AttributeReader(text)
        tree = reader.attribute()
        reader.skip()
        if reader.at != len(text):
            reader.fail("the end")
        if len(text) > 2000:
            return tree
        _attributes[text] = tree
    return _attributes[text]


# ---- locations -----------------------------------------------------------------------------------


class LocationReader(Reader):
    """Gives a location as a tuple: unknown, file, name, callsite, fused."""

    def location(self):
        self.skip()
        if self.eat("unknown"):
            return ("unknown",)
        if self.eat("callsite("):
            callee = self.location()
            self.need("at")
            caller = self.location()
            self.need(")")
            return ("callsite", callee, caller)
        if self.eat("fused"):
            if self.text[self.at] == "<":
                self.balanced()
            self.need("[")
            return ("fused", self.many("]", self.location))
        words = self.string()
        if self.text.startswith(":", self.at):
            return ("file", words, self.range())
        if self.eat("("):
            child = self.location()
            self.need(")")
            return ("name", words, child)
        return ("name", words, ("unknown",))

    def range(self):
        line, column = (int(n) for n in self.match(r":(\d+):(\d+)").groups())
        end = self.match(r"to (\d*):(\d+)")
        if not end:
            return (line, column, line, column)
        return (line, column, int(end.group(1) or line), int(end.group(2)))


def location_tree(location):
    text = str(location)
    reader = LocationReader(text[len("loc("):-1])
    return reader.location()
