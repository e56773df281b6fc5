// Tests of what a key means: a function makes programs by number, and each has a key of its own, or
// all share one.
#ifndef KEEL_TESTS_KEY_DIFFER_H_
#define KEEL_TESTS_KEY_DIFFER_H_

#include "key_build.h"

// Makes the n-th of the programs that a test compares; false after the last.
typedef bool (*make_t)(build_t *b, unsigned n);

static inline bool digest_nth(make_t make, unsigned n, keel_digest_t *out) {
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    bool made = make(&b, n);
    build_end(&b);
    *out = digest_of(&b);
    return made;
}

static inline void assert_all_differ(make_t make, unsigned at_least) {
    keel_digest_t digests[100];
    unsigned count = 0;
    for (; digest_nth(make, count, &digests[count]); ++count) {
        assert_true(count + 1 < sizeof digests / sizeof *digests);
        for (unsigned k = 0; k < count; ++k)
            if (keel_digest_equal(&digests[k], &digests[count]))
                fail_msg("numbers %u and %u share a key", k, count);
    }
    assert_true(count >= at_least);
}

static inline void assert_all_the_same(make_t make, unsigned at_least) {
    keel_digest_t first, other;
    unsigned count = 1;
    assert_true(digest_nth(make, 0, &first));
    for (; digest_nth(make, count, &other); ++count)
        if (!keel_digest_equal(&first, &other))
            fail_msg("numbers 0 and %u have keys of their own", count);
    assert_true(count >= at_least);
}

static inline uint32_t list_of(build_t *b, uint32_t count, const uint32_t *items) {
    uint32_t list = 0;
    MUST(keel_program_add_list(&b->program, items, count, &list));
    return list;
}
#define LIST(b, ...)                                                                               \
    list_of((b), sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                       \
            (const uint32_t[]){__VA_ARGS__})

static inline uint32_t ints_of(build_t *b, uint32_t count, const int64_t *items) {
    uint32_t list = 0;
    MUST(keel_program_add_ints(&b->program, items, count, &list));
    return list;
}
#define INTS(b, ...)                                                                               \
    ints_of((b), sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                         \
            (const int64_t[]){__VA_ARGS__})

#define TYPE(...) push_type(b, (keel_type_t){__VA_ARGS__})
#define ATTR(...) push_attr(b, (keel_attr_t){__VA_ARGS__})

static inline keel_type_id_t integer(build_t *b, uint32_t width, uint8_t sign) {
    return TYPE(.kind = KEEL_TYPE_INTEGER, .aux = sign, .a = width);
}

#endif // KEEL_TESTS_KEY_DIFFER_H_
