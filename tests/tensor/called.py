#!/usr/bin/env python3
"""What is refused is named as the user called it: each function of docs/reference that traces gets tensors,
axes, sizes and bodies that do not fit, and each error has the caller's line and the function's name.

Usage: tests/tensor/called.py BUILD
"""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHOWN = re.compile(r"^(\w[\w *]*?)keel_(\w+)\(([^()]*)\);", re.M)

# Of each type; the first tensors fit most functions.
VALUES = {
    "keel_tensor_t": ["tensors[0]", "tensors[1]", "tensors[2]", "tensors[3]", "tensors[4]", "tensors[5]", "tensors[6]"],
    "int": ["0", "7"],
    "int32_t": ["7"],
    "int64_t": ["1", "-1"],
    "size_t": ["1"],
    "uint32_t": ["1"],
    "double": ["0.5"],
    "keel_axes_t": ["KEEL_AXES(0)", "KEEL_AXES(7)"],
    "keel_shape_t": ["KEEL_SHAPE(2, 3)", "KEEL_SHAPE(-1)"],
    "keel_spec_t": ["KEEL_SPEC(NULL)", 'KEEL_SPEC("none")'],
    "keel_dtype_t": ["KEEL_F32", "KEEL_I32"],
    "keel_order_t": ["KEEL_ASCENDING"],
    "keel_precision_t": ["((keel_precision_t)9)"],
    "keel_product_t": ["((keel_product_t){.dtype = KEEL_I8})"],
    "keel_put_op_t": ["KEEL_PUT_SET"],
    "keel_reduce_op_t": ["KEEL_OP_ANY"],
    "keel_binary_op_t": ["KEEL_OP_SUBTRACT"],
    "keel_schedule_t": ["KEEL_CONSTANT_RATE(0.1)"],
    "keel_routing_options_t": ["((keel_routing_options_t){1, 1, 0})"],
    "keel_attention_options_t": ["((keel_attention_options_t){0})"],
    "const char *": ['"ij,jk->ik"', '"none"'],
    "const keel_window_t *": ["&window"],
    "const keel_convolution_t *": ["NULL"],
    "const keel_tensor_t *": ["tensors", "&tensors[4]"],
    "keel_tensor_t *": ["out"],
    "keel_rows_t *": ["NULL"],
    "keel_routing_t *": ["&routing"],
    "keel_attention_receipt_t *": ["NULL"],
    "const keel_routing_t *": ["&routing"],
    "keel_context_t *": ["keel"],
    "void *": ["NULL"],
    "const void *": ["NULL", "zeros"],
    "uint64_t": ["1"],
    "keel_save_t": ["KEEL_SAVE_ALL"],
    "keel_body_t": ["body", "no_body"],
    "const keel_body_t *": ["bodies"],
    "keel_layer_t": ["layer"],
    "keel_combine_t": ["NULL", "combine"],
    "const keel_scan_t *": ["NULL", "&scan"],
    "const keel_layers_t *": ["NULL", "&layers"],
    "const keel_custom_t *": ["NULL", "&custom"],
    "const keel_custom_call_t *": ["NULL", "&call"],
}
# They give the context no error.
LEFT = {"is_empty", "shape", "dtype", "all_axes", "release", "read", "step_end", "context_free"}

HEAD = """#include <keel/keel.h>
#include <stdio.h>
#include <string.h>
static keel_context_t *keel;
static keel_tensor_t tensors[7];
static const char zeros[512];
static int errors;
static void body(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = in ? in[0] : tensors[0];
}
static void no_body(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user, (void)in, (void)out;
}
static void layer(void *user, size_t which, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)which;
    no_body(user, in, out);
}
static void combine(void *user, const keel_tensor_t *x, const keel_tensor_t *y, keel_tensor_t *out) {
    (void)y;
    no_body(user, x, out);
}
static const keel_body_t bodies[1] = {no_body};
static const keel_scan_t scan = {.inputs = &tensors[5], .input_count = 1};
static const keel_layers_t layers = {.carry = tensors, .carry_count = 1, .layer_count = 2};
static const keel_custom_t custom = {.forward = no_body, .inputs = tensors, .input_count = 1, .output_count = 1};
static const keel_custom_call_t call = {.target = NULL};
static void check(const char *name) {
    const char *error = keel_context_error(keel), *at = error ? strstr(error, ".c:") : NULL;
    if (error) {
        ++errors;
        at = at ? strstr(at, ": ") : NULL;
        if (!at || strncmp(at + 2, name, strlen(name)) || at[2 + strlen(name)] != ':')
            printf("keel_%s: %s\\n", name, error);
    }
    keel_step_discard(keel);
}
"""
MAIN = """int main(void) {
    if (keel_context_create(NULL, &keel)) return 1;
    tensors[0] = keel_variable(keel, "a", KEEL_F32, KEEL_SHAPE(2, 3), zeros);
    tensors[1] = keel_variable(keel, "b", KEEL_F32, KEEL_SHAPE(5, 4, 2), zeros);
    tensors[2] = keel_variable(keel, "c", KEEL_I32, KEEL_SHAPE(2), zeros);
    tensors[3] = keel_variable(keel, "d", KEEL_BOOL, KEEL_SHAPE(2, 3), zeros);
    tensors[4] = keel_variable(keel, "e", KEEL_C64, KEEL_SHAPE(2, 3), zeros);
    tensors[5] = keel_variable(keel, "f", KEEL_F32, KEEL_SCALAR, zeros);
    tensors[6] = keel_variable(keel, "g", KEEL_BF16, KEEL_SHAPE(0, 3), zeros);
"""


def parameters_of(text):
    for part in (part.strip() for part in text.split(",")):
        yield re.sub(r"\s*\w+(\[\w*\])?$", "", part) if "*" not in part else re.sub(r"\w+$", "", part)


def functions():
    """As (name, lists of arguments)."""
    for path in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for _, name, text in SHOWN.findall(path.read_text()):
            types = list(parameters_of(text))
            is_traced = {"keel_tensor_t", "keel_context_t *"} & set(types)
            if is_traced and name not in LEFT and set(types) <= set(VALUES):
                yield name, list(itertools.product(*(VALUES[each] for each in types)))


def program():
    text, calls = HEAD, ""
    for name, lists in functions():
        body = "".join(f"    (void)keel_{name}({', '.join(each)});\n    check(\"{name}\");\n" for each in lists)
        text += f"static void call_{name}(void) {{\n    keel_tensor_t out[8];\n    keel_window_t window = {{.count = 1, .size = {{9}}}};\n    keel_routing_t routing = {{0}};\n    (void)out, (void)window, (void)routing;\n{body}}}\n"
        calls += f"    call_{name}();\n"
    return text + MAIN + calls + '    printf("%d errors\\n", errors);\n    keel_context_free(keel);\n}\n'


def main():
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder) / "calls.c", pathlib.Path(folder) / "calls"
        source.write_text(program())
        library = build / "lib"
        subprocess.run(["gcc", "-std=c11", f"-I{ROOT / 'include'}", source, f"-L{library}", "-lkeel",
                        f"-Wl,-rpath,{library}", "-o", binary], check=True)
        answer = subprocess.run([binary], capture_output=True, text=True, check=False)
    if answer.returncode:
        sys.exit(f"{answer.returncode}\n{answer.stdout}\n{answer.stderr}")
    *wrong, last = answer.stdout.splitlines()
    print(len(list(functions())), "functions,", last)
    seen = {}
    for line in wrong:
        seen.setdefault((line.split(":")[0], re.sub(r"^\S+ \S+ ", "", line)[:14]), line)
    if wrong:
        sys.exit("\n".join(seen.values()))


if __name__ == "__main__":
    main()
