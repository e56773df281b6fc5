"""The X-macro tables of Keel's source, as the tests read them."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


def strings(text):
    """The strings of an X-macro's row, adjacent ones joined as C does."""
    parts = re.findall(r'((?:"(?:\\.|[^"\\])*"\s*\\?\s*)+)', text)
    return ["".join(re.findall(r'"((?:\\.|[^"\\])*)"', part)) for part in parts]


def rows(path, macro):
    """The name of each row of the macro, in small letters, and its strings."""
    text = (ROOT / path).read_text()
    body = re.search(rf"#define {macro}\(X\)(.*?[^\\])\n", text, re.DOTALL)[1]
    parts = re.split(r"\n\s*X\(", "\n" + body.replace("\\\n", "\n"))[1:]
    return [(re.match(r"\w+", part)[0].lower(), strings(part)) for part in parts]


FRAMEWORKS = "jax", "torch", "c"  # the last strings of a row of KEEL_CAUSES: an advice for each


def advice(framework):
    """All that Keel advises to users of a framework: text by name."""
    column = FRAMEWORKS.index(framework) - len(FRAMEWORKS)
    causes = {name: texts[column]
              for name, texts in rows("src/explain/cause.h", "KEEL_CAUSES")}
    special = {name: texts[-1] for macro in ("KEEL_NOTES", "KEEL_CASES")
               for name, texts in rows("src/explain/cause.h", macro)}
    if causes.keys() & special.keys():
        raise ValueError(f"two kinds of advice of one name: {causes.keys() & special.keys()}")
    return causes | special
