// Shardings in one line, as a message has them.
#define _GNU_SOURCE
#include "small_program.h"

#include "read/print.h"

static void tiles_are_written_as_hlo_writes_them(void **state) {
    (void)state;
    static const struct {
        const char *sharding, *text;
    } cases[] = {
        {"tile_assignment_dimensions=[4,1] tile_assignment_devices=[0,1,2,3]",
         "devices=[4,1]0,1,2,3"},
        {"tile_assignment_dimensions=[2,2] iota_reshape_dims=[2,2] iota_transpose_perm=[0,1]",
         "devices=[2,2]<=[2,2]"},
        {"tile_assignment_dimensions=[2,1,2] iota_reshape_dims=[2,2] iota_transpose_perm=[1,0] "
         "replicate_on_last_tile_dim=true",
         "devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[512];
        keel_program_t program;
        keel_buffer_t out;
        snprintf(text, sizeof text,
                 "hlo\nx: f32[4]\n"
                 "y = custom-call f32[4] x {custom_call_target='Sharding' "
                 "sharding=hlo.message{type=OTHER %s}}\n"
                 "return y",
                 cases[i].sharding);
        small_program(text, &program);
        keel_buffer_initialize(&out, 0);
        keel_attr_id_t sharding = KEEL_NONE;
        for (keel_op_id_t op = 0; op < keel_program_op_count(&program); ++op) {
            keel_attr_id_t known = keel_program_dict_find(
                &program, program.operations.data[op].attributes, "sharding");
            if (known != KEEL_NONE) sharding = known;
        }
        assert_true(keel_print_sharding(&program, sharding, true, &out));
        assert_string_equal(keel_buffer_cstr(&out), cases[i].text);
        keel_buffer_deinitialize(&out);
        keel_program_deinitialize(&program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_written_as_hlo_writes_them),
    };
    return cmocka_run_group_tests_name("print_sharding", tests, NULL, NULL);
}
