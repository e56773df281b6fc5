#!/usr/bin/env python3
"""Every call that docs/reference shows compiles as it is shown there, in C11 and in C++17, with arguments
that have commas of their own: compound literals and templates. Macros must pass them on.

Usage: tests/build/headers.py
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}"]
C = ["-std=c11", "-pedantic", "-x", "c"]
CPP = ["-std=c++17", "-x", "c++"]  # its compilers know compound literals, but -pedantic does not like them
COMPILERS = [["gcc", *C], ["clang", *C], ["clang++", *CPP], ["g++", *CPP]]
OPTIONAL = ["g++"]

SHOWN = re.compile(r"^(\w[\w *]*?)(keel_\w+)\(([^()]*)\);", re.M)
STRUCT = re.compile(r"^typedef struct \w+ \{.*?^\} (\w+);", re.M | re.S)

HEAD = """#include <keel/keel.h>
#ifdef __cplusplus
template <class type, int which> type some();
#endif
"""
VALUES = """
double numbers[14];
keel_init_t inits[4];
keel_schedule_t rates[3];
keel_optimizer_options_t options[3];
keel_tensor_t make(keel_tensor_t random, const void *data);
void initialize(void);
void initialize(void) {
    inits[0] = KEEL_FILL(NUMBER);
    inits[1] = KEEL_UNIFORM(NUMBER);
    inits[2] = KEEL_NORMAL(NUMBER);
    inits[3] = KEEL_MADE(MAKE, DATA);
    rates[0] = KEEL_CONSTANT_RATE(NUMBER);
    rates[1] = KEEL_LINEAR_RATE(NUMBER, NUMBER, NUMBER, NUMBER);
    rates[2] = KEEL_COSINE_RATE(NUMBER, NUMBER, NUMBER, NUMBER);
    options[0] = KEEL_SGD(NUMBER);
    options[1] = KEEL_ADAMW(NUMBER);
    options[2] = KEEL_LION(NUMBER);
}
keel_status_t attempt(void);
keel_status_t attempt(void) {
    KEEL_TRY(STATUS);
    return NULL;
}
"""
TOO_FEW = ["keel_add(x)", "keel_number(x)", "KEEL_LINEAR_RATE(1, 2, 3)"]
TOO_MANY = ["keel_add(x, x, x)", "keel_number(x, 1, 2)", "KEEL_FILL(1, 2)", "KEEL_SGD(1, 2)", "KEEL_LINEAR_RATE(1, 2, 3, 4, 5)"]


def argument(type_name, structs, is_cpp):
    """A value of the type, with a comma that no parenthesis protects."""
    if is_cpp:
        return f"some<{type_name}, 0>()"
    value = "{0}" if type_name in structs else "0"
    return f"({type_name}[]){{{value}, {value}}}[0]"


def passed(parameter, structs, is_cpp):
    """For "const float *x" or "char out[SIZE]"."""
    if parameter == "const char *format":
        return '"%s, %s"'
    if parameter == "...":
        return ", ".join([argument("const char *", structs, is_cpp)] * 2)
    pointer = "*" if parameter.endswith("]") else ""
    return argument(re.sub(r"\s*\w+(\[\w*\])?$", "", parameter).strip() + pointer, structs, is_cpp)


def calls(pages, is_cpp):
    structs = set(STRUCT.findall(pages))
    for i, (result, name, parameters) in enumerate(SHOWN.findall(pages)):
        given = [passed(part.strip(), structs, is_cpp) for part in parameters.split(",") if part.strip() != "void"]
        call = f"{name}({', '.join(given)})"
        body = call if result.strip() == "void" else f"{result.strip()} result = {call}; (void)result"
        yield f"void call_{i}(void);\nvoid call_{i}(void) {{ {body}; }}\n"


def values(is_cpp):
    text = VALUES
    for word, type_name in ("NUMBER", "double"), ("DATA", "const float *"), ("STATUS", "keel_status_t"):
        text = re.sub(rf"\b{word}\b", argument(type_name, (), is_cpp), text)
    return re.sub(r"\bMAKE\b", "make", text)


def compiles(compiler, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "calls"
        path.write_text(text)
        return subprocess.run([*compiler, *WARNINGS, path], capture_output=True, text=True, check=False)


def main():
    pages = "\n".join(path.read_text() for path in sorted((ROOT / "docs" / "reference").glob("*.md")))
    count = len(SHOWN.findall(pages))
    if count < 200:
        sys.exit(f"docs/reference shows {count} functions only")
    for compiler in COMPILERS:
        if compiler[0] in OPTIONAL and not shutil.which(compiler[0]):
            continue
        is_cpp = "c++" in compiler
        answer = compiles(compiler, HEAD + "".join(calls(pages, is_cpp)) + values(is_cpp))
        if answer.returncode:
            sys.exit(f"{compiler[0]}: {answer.stderr[:4000]}")
        for call in TOO_FEW + TOO_MANY:
            text = f"{HEAD}void f(keel_tensor_t x);\nvoid f(keel_tensor_t x) {{ (void)x; (void){call}; }}\n"
            if not compiles(compiler, text).returncode:
                sys.exit(f"{compiler[0]}: {call} compiles")
    print(f"{count} functions are called as docs/reference shows them")


if __name__ == "__main__":
    main()
