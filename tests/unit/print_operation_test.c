#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_alone_is_its_line_of_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
