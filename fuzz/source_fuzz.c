// A Python source of the user's, as the explanations read it: whatever it holds, every answer is
// about a line of it. The first two bytes choose lines.
#include <stdlib.h>

#include "explain/arms.h"
#include "explain/depends.h"
#include "explain/stored.h"
#include "host/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void follow_names(keel_str_t text, uint32_t line, uint32_t other, keel_arena_t *arena) {
    keel_depends_t reads;
    check(!keel_depends_parse(&reads, text, arena));
    check(reads.line_count >= 1 && reads.count <= reads.capacity);
    for (int round = 0; round < 2; ++round) {
        keel_depends_reset(&reads);
        keel_depends_exclude(&reads, other);
        keel_depends_start(&reads, &(keel_frame_t){.line = line});
        keel_depends_start(
            &reads, &(keel_frame_t){
                        .line = line, .column = 1, .end_line = line + round, .end_column = other});
        keel_depends_follow(&reads);
    }
    for (uint32_t at = 0; at <= reads.line_count; ++at) {
        bool is_function;
        keel_str_t owner = keel_depends_owner(&reads, at, &is_function);
        check(!owner.size ||
              (owner.data >= text.data && owner.data + owner.size <= text.data + text.size));
        keel_depends_has(&reads, at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    uint32_t line = data[0], other = data[1];
    keel_str_t text = keel_bytes_str(keel_bytes(data + 2, size - 2));
    keel_arena_t arena;
    keel_arms_t arms;
    keel_arena_initialize(&arena, 0);
    follow_names(text, line, other, &arena);
    check(!keel_arms_read(&arms, text, &arena));
    check(keel_arms_fork(&arms, line, other) <= arms.count);
    uint32_t stored = keel_stored_at(text, line);
    check(!stored || stored > line);
    static lambdas_t lambdas;
    site_lambdas_of(text, &lambdas);
    check(site_lambda_at(&lambdas, line, other) <= lambdas.count);
    keel_arena_deinitialize(&arena);
    return 0;
}
