#include "each.h"

#include <stdio.h>
#include <stdlib.h>

#include "explain/explain.h"
#include "host/host.h"
#include "journal/journal.h"
#include "page/part.h"
#include "read/print.h"
#include "read/read.h"
#include "unit/slices.h"
#include "unit/sound.h"

enum { LARGEST_VALUE = 16, SLICES = 4 };
#define LARGEST_FILE ((uint64_t)1 << 30)
#define LARGEST_TEXT ((size_t)256 << 20)

static void end(const char *what) {
    fprintf(stderr, "programs: %s\n", what);
    abort();
}

static void good(keel_status_t status) {
    if (!status) return;
    char what[512];
    snprintf(what, sizeof what, "%s", keel_status_message(status));
    keel_status_ignore(status);
    end(what);
}

static void check(bool holds, const char *what) {
    if (!holds) end(what);
}

// ---- one ---------------------------------------------------------------------------------------

keel_status_t load(const char *path, loaded_t *out) {
    *out = (loaded_t){0};
    size_t length = strlen(path);
    bool is_packed = length > 4 && strcmp(path + length - 4, ".zst") == 0;
    if (is_packed)
        KEEL_TRY(keel_journal_read_program(path, &out->bytes, &out->size));
    else
        KEEL_TRY(keel_file_read(path, LARGEST_FILE, &out->bytes, &out->size));
    keel_status_t status = keel_read(keel_bytes(out->bytes, out->size), &out->program);
    if (status)
        keel_free(out->bytes);
    else
        sound(&out->program);
    return status;
}

void unload(loaded_t *loaded) {
    keel_program_deinitialize(&loaded->program);
    keel_free(loaded->bytes);
}

static void show(const keel_program_t *program, bool locations) {
    keel_print_options_t options = {.locations = locations, .largest_value = LARGEST_VALUE};
    keel_buffer_t out;
    keel_buffer_initialize(&out, LARGEST_TEXT);
    good(keel_print_text(program, &options, &out));
    check(out.size > 0, "a program is shown as nothing");
    keel_buffer_deinitialize(&out);
}

static void show_json(const keel_program_t *program) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, LARGEST_TEXT);
    good(keel_print_json(program, &out));
    keel_buffer_deinitialize(&out);
}

static void find_site(const keel_program_t *program) {
    keel_arena_t arena;
    keel_site_t site;
    keel_arena_initialize(&arena, 0);
    keel_site_of(program, NULL, &arena, &site);
    check(site.place.file && site.place.function && site.origin, "a site without a text");
    keel_arena_deinitialize(&arena);
}

// A cause says what was and what is; only one that compares no values has neither.
static void sides_differ(const keel_difference_t *list, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const keel_difference_t *one = &list[i];
        if (one->kind == KEEL_CAUSE_RETRACE || strcmp(one->old_value, one->new_value) != 0)
            continue;
        fprintf(stderr, "programs: %s %s: %s -> %s\n", keel_cause_facts(one->kind)->word,
                one->subject, one->old_value, one->new_value);
        end("a cause with two equal sides");
    }
}

static void explain(const keel_program_t *before, const keel_program_t *after,
                    keel_explanation_t *out) {
    keel_explanation_initialize(out);
    good(keel_explain(&(keel_side_t){.program = before}, &(keel_side_t){.program = after}, out));
    check(out->alike >= 0 && out->alike <= 1, "a share beyond 0 to 1");
    check(out->unrelated == !out->root_total, "unrelated programs with a cause, or neither");
    uint64_t folds = 0;
    for (size_t i = 0; i < out->root_count; ++i)
        folds += out->roots[i].folds;
    check(folds == out->folded_total, "what follows is not the sum of its causes");
    if (before->format != after->format) return; // programs of different clients are never compared
    sides_differ(out->roots, out->root_count);
    sides_differ(out->folded, out->folded_count);
}

// The programs of some results, spread over all, and of all together.
static void slice(const keel_program_t *program) {
    keel_needs_t *needs;
    if (program->entry == KEEL_NONE) return;
    good(keel_needs_create(program, &needs));
    uint32_t count = keel_needs_result_count(needs);
    uint32_t *all = calloc(count + (size_t)1, sizeof *all);
    check(all != NULL, "out of memory");
    for (uint32_t i = 0; i < count; ++i)
        all[i] = i;
    for (uint32_t i = 0; i < SLICES && i < count; ++i)
        good(slices_try(needs, &all[(uint64_t)i * count / SLICES], 1, LARGEST_TEXT));
    if (count) good(slices_try(needs, all, count, LARGEST_TEXT));
    free(all);
    keel_needs_destroy(needs);
}

keel_status_t work_on(const keel_program_t *program, keel_sketch_t *out) {
    keel_digest_t digest;
    keel_cacheable_t cacheable;
    KEEL_TRY(keel_key_program(program, &digest));
    keel_key_cacheable(program, NULL, &cacheable);
    keel_sketch_of(program, out);
    check(keel_sketch_alike(out, out) == 1, "a program is not like itself");
    show(program, true);
    show(program, false);
    show_json(program);
    if (program->format == KEEL_FORMAT_HLO && !program->left_out) good(round_trip(program));
    slice(program);
    find_site(program);
    keel_explanation_t explanation;
    explain(program, program, &explanation);
    check(explanation.root_total == 1 && explanation.roots[0].kind == KEEL_CAUSE_RETRACE,
          "a program is another than itself");
    keel_explanation_deinitialize(&explanation);
    return NULL;
}

// ---- two ---------------------------------------------------------------------------------------

static keel_run_difference_t as_told(const keel_difference_t *d) {
    return (keel_run_difference_t){.kind = d->kind,
                                   .subject = d->subject,
                                   .old_value = d->old_value,
                                   .new_value = d->new_value,
                                   .note = d->note,
                                   .old_op = d->old_op,
                                   .new_op = d->new_op,
                                   .folds = d->folds,
                                   .follows = d->follows};
}

// The two side by side, as a page of a report has them.
static void view(const keel_program_t *before, const keel_program_t *after,
                 const keel_explanation_t *explanation) {
    static char old_name[] = "before", new_name[] = "after";
    keel_run_difference_t roots[KEEL_ROOTS_KEPT];
    for (size_t i = 0; i < explanation->root_count; ++i)
        roots[i] = as_told(&explanation->roots[i]);
    const keel_run_entry_t asked = {
        .against_program = old_name, .program = new_name, .unrelated = explanation->unrelated};
    const keel_why_entry_t entry = {
        .asked = &asked, .roots = roots, .root_count = explanation->root_count};
    keel_buffer_t out;
    keel_buffer_initialize(&out, LARGEST_TEXT);
    // Both are open already, so the page reads no file.
    keel_page_t page = {.out = &out,
                        .programs = {{.digest = old_name, .program = *before},
                                     {.digest = new_name, .program = *after}}};
    good(keel_page_view(&page, &entry, true));
    good(keel_buffer_status(&out));
    keel_buffer_deinitialize(&out);
}

void compare(const keel_program_t *before, const keel_program_t *after) {
    keel_explanation_t there, back;
    explain(before, after, &there);
    explain(after, before, &back);
    view(before, after, &there);
    keel_explanation_deinitialize(&there);
    keel_explanation_deinitialize(&back);
}
