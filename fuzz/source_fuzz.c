// A Python source of the user's, as the explanations read it: whatever it holds, every answer is
// about a line of it. The first two bytes choose lines.
#include <stdlib.h>
#include <string.h>

#include "explain/arms.h"
#include "explain/imports.h"
#include "explain/stored.h"
#include "host/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void follow_names(keel_str_t text, uint32_t line, uint32_t other, keel_arena_t *arena) {
    keel_depends_t reads;
    check(!keel_depends_parse(&reads, text, arena));
    check(reads.line_count >= 1);
    for (int round = 0; round < 2; ++round) {
        keel_depends_reset(&reads, line % 3);
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
    keel_depends_deinitialize(&reads);
}

// Into the source itself, whatever its imports name.
static keel_status_t follow_import(void *context, const char *path, bool is_whole,
                                   bool *out_is_there) {
    keel_import_t *import = context;
    check(path[0] == '/' && strlen(path) > strlen("/.py"));
    check(!is_whole || !import->is_star);
    *out_is_there = strlen(path) % 2;
    return NULL;
}

static void follow_imports(keel_str_t text, uint32_t line, keel_arena_t *arena) {
    keel_depends_t reads;
    uint32_t at = 0;
    keel_import_t import;
    check(!keel_depends_parse(&reads, text, arena));
    keel_depends_reset(&reads, line % 3);
    keel_depends_start(&reads, &(keel_frame_t){.line = line});
    keel_depends_follow(&reads);
    while (keel_imports_next(&reads, &at, &import)) {
        keel_depends_start_import(&reads, &reads, &import);
        check(!keel_import_files(&import, "/w/project/train.py", "/w\n/w/lib\n", follow_import,
                                 &import));
    }
    keel_depends_start_attributes(&reads, &reads, line % 2);
    keel_depends_deinitialize(&reads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    uint32_t line = data[0], other = data[1];
    keel_str_t text = keel_bytes_str(keel_bytes(data + 2, size - 2));
    keel_arena_t arena;
    keel_arms_t arms;
    keel_arena_initialize(&arena, 0);
    follow_names(text, line, other, &arena);
    follow_imports(text, line, &arena);
    check(!keel_arms_read(&arms, text, &arena));
    check(keel_arms_fork(&arms, line, other) <= arms.count);
    keel_arms_deinitialize(&arms);
    uint32_t stored = keel_stored_at(text, line);
    check(!stored || stored > line);
    static lambdas_t lambdas;
    site_lambdas_of(text, &lambdas);
    check(site_lambda_at(&lambdas, line, other) <= lambdas.count);
    keel_arena_deinitialize(&arena);
    return 0;
}
