// What the journal says of when a rehearsed program is compiled.
#define _GNU_SOURCE
#include "place.h"

#include "engine/rehearsal.h"
#include "rehearse/rehearse.h"

static keel_rehearse_state_t state_now;

keel_rehearse_state_t __wrap_keel_rehearse_state(PJRT_LoadedExecutable *loaded);

keel_rehearse_state_t __wrap_keel_rehearse_state(PJRT_LoadedExecutable *loaded) {
    (void)loaded;
    return state_now;
}

static void a_program_is_compiled_now_later_or_never(void **state) {
    (void)state;
    static const char *const words[] = {[KEEL_REHEARSE_NOT_COMPILED] = "never",
                                        [KEEL_REHEARSE_COMPILING] = "later",
                                        [KEEL_REHEARSE_COMPILED] = "now"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        state_now = (keel_rehearse_state_t)i;
        assert_string_equal(rehearsal_word(NULL), words[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_compiled_now_later_or_never),
    };
    return cmocka_run_group_tests_name("engine_rehearsal", tests, NULL, NULL);
}
