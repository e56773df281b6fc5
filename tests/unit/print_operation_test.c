#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "key_build.h"
#include "read/print.h"
#include "read/read.h"

static void each_operation_alone_is_its_line_of_the_text(void **state) {
    (void)state;
    static const char *const samples[] = {"mlir/gpt_step.mlir", "mlir/scan_while.mlir",
                                          "hlo/spmd.hlo"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        char *path;
        uint8_t *data;
        size_t size;
        keel_program_t program;
        keel_buffer_t text, line;
        keel_buffer_initialize(&text, 0);
        keel_buffer_initialize(&line, 0);
        assert_null(keel_path(&path, "%s/%s", KEEL_TEST_SAMPLES, samples[i]));
        assert_null(keel_file_read(path, 1 << 24, &data, &size));
        keel_program_initialize(&program);
        assert_null(keel_read(keel_bytes(data, size), &program));
        const keel_print_options_t options = {.largest_value = 16};
        assert_null(keel_print_text(&program, &options, &text));
        for (uint32_t f = 0; f < program.functions.count; ++f) {
            const keel_region_t *region = &program.regions.data[program.functions.data[f].region];
            keel_op_id_t op = program.blocks.data[region->first_block].first_op;
            for (; op < region->end; ++op) {
                line.size = 0;
                keel_print_operation(&program, op, program.functions.data[f].first_value, 16,
                                     &line);
                keel_buffer_text(&line, "\n");
                if (!strstr(keel_buffer_cstr(&text), keel_buffer_cstr(&line)))
                    fail_msg("%s: no line of the text: %s", samples[i], keel_buffer_cstr(&line));
            }
        }
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&text);
        keel_buffer_deinitialize(&line);
        keel_free(data);
        keel_free(path);
    }
}

// Attributes that say nothing are left out; the least that says something is not.
static void what_says_nothing_is_left_out(void **state) {
    (void)state;
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    keel_type_id_t type = f32(&b), none = push_type(&b, (keel_type_t){.kind = KEEL_TYPE_NONE});
    b.program.entry = begin_function(&b, (fn_t){"main", type, KEEL_NONE, true});
    keel_value_id_t x = argument_of(&b, b.program.entry);
    keel_attr_id_t attributes = DICT(
        &b, {"empty", string_attr(&b, "")}, {"letter", string_attr(&b, "x")},
        {"lack", push_attr(&b, (keel_attr_t){.kind = KEEL_ATTR_TYPE, .a = none})},
        {"made", push_attr(&b, (keel_attr_t){.kind = KEEL_ATTR_TYPE, .a = type})},
        {"void", push_attr(&b, (keel_attr_t){.kind = KEEL_ATTR_NONE})}, {"zero", int_attr(&b, 0)});
    keel_op_id_t op = b.program.operations.count;
    add_op(&b, (op_t){"convert", attributes, type, {x}, 1});
    end_function(&b, b.program.entry);
    build_end(&b);
    keel_buffer_t line;
    keel_buffer_initialize(&line, 0);
    keel_print_operation(&b.program, op, x, 16, &line);
    const char *text = keel_buffer_cstr(&line);
    static const char *const told[] = {"letter", "made", "f32", "zero"};
    static const char *const left_out[] = {"empty", "lack", "void"};
    for (size_t i = 0; i < sizeof told / sizeof *told; ++i)
        if (!strstr(text, told[i])) fail_msg("no %s: %s", told[i], text);
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; ++i)
        if (strstr(text, left_out[i])) fail_msg("%s: %s", left_out[i], text);
    keel_buffer_deinitialize(&line);
    keel_program_deinitialize(&b.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_alone_is_its_line_of_the_text),
        cmocka_unit_test(what_says_nothing_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
