// Once a thread's arena was expanded, what the thread allocates within that changes the process's
// map of memory no more.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/poison.h"
#include "engine/arena.h"

enum { ALL = 20 << 20, SMALL = 1000, COUNT = ALL / 2 / SMALL };

// What is mapped where, and how; NULL if that cannot be read.
static const char *mappings(char text[1 << 18]) {
    FILE *file = fopen("/proc/self/maps", "r");
    if (!file) return NULL;
    static char buffer[1 << 12];
    setvbuf(file, buffer, _IOFBF, sizeof buffer); // not from the arena
    size_t size = fread(text, 1, (1 << 18) - 1, file);
    text[size] = 0;
    fclose(file);
    return size ? text : NULL;
}

typedef struct use_t {
    size_t expands_by;
    bool has_changed, failed;
} use_t;

static void *allocate(void *context) {
    static char before[1 << 18], after[1 << 18];
    static void *small[COUNT];
    use_t *use = context;
    void *expanded = arena_expand(use->expands_by);
    use->failed = !mappings(before);
    for (size_t i = 0; i < COUNT; ++i)
        use->failed |= keel_alloc(SMALL, &small[i]) != NULL;
    use->failed |= !mappings(after);
    use->has_changed = strcmp(before, after) != 0;
    for (size_t i = 0; i < COUNT; ++i)
        keel_free(small[i]);
    arena_settle(expanded);
    return NULL;
}

static bool changes(size_t expands_by) {
    use_t use = {.expands_by = expands_by};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, allocate, &use), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(use.failed);
    return use.has_changed;
}

static void an_expanded_arena_does_not_grow(void **state) {
    (void)state;
#if KEEL_POISONS || defined(__SANITIZE_THREAD__)
    print_message("skipped: sanitizers have a malloc of their own; the release build runs it\n");
    skip();
#endif
    assert_true(changes(0));
    assert_false(changes(ALL));
}

static void what_is_expanded_by_nothing_settles(void **state) {
    (void)state;
    assert_null(arena_expand(0));
    arena_settle(NULL);
    arena_settle(arena_expand(1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_expanded_arena_does_not_grow),
        cmocka_unit_test(what_is_expanded_by_nothing_settles),
    };
    return cmocka_run_group_tests_name("engine arena", tests, NULL, NULL);
}
