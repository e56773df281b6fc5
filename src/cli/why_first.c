// `keel why --first`: where the time of a run's start went, and what makes its programs large.
#include <stdio.h>

#include "cli/cli.h"
#include "journal/journal.h"
#include "read/read.h"
#include "text/start.h"
#include "text/text.h"

enum { LOOKED_AT = 10 };

typedef struct first_t {
    keel_run_t run;
    keel_start_t start;
    keel_large_t large[LOOKED_AT];
    bool is_known[LOOKED_AT];
    size_t count;
    keel_arena_t arena;
} first_t;

// What is shown of a program is a copy: its bytes are not kept.
static keel_status_t keep(first_t *first, keel_frame_t *line) {
    KEEL_TRY(keel_arena_str(&first->arena, line->file, &line->file));
    return keel_arena_str(&first->arena, line->function, &line->function);
}

static keel_status_t look_at(first_t *first, const char *run_dir, size_t number) {
    const keel_run_program_t *asked = &first->run.programs[first->start.programs[number].index];
    keel_large_t *large = &first->large[number];
    cli_program_t file;
    keel_program_t program;
    KEEL_TRY(cli_program_open(asked->program, run_dir, &file));
    keel_program_initialize(&program);
    keel_status_t status = keel_read(keel_bytes(file.data, file.size), &program);
    if (!status)
        status = keel_explain_large(&program, asked->site.application, &first->arena, large);
    if (!status && large->has_repeat) status = keep(first, &large->repeat.line);
    for (uint32_t i = 0; !status && i < large->array_count; ++i)
        status = keep(first, &large->arrays[i].line);
    keel_program_deinitialize(&program);
    cli_program_close(&file);
    return status;
}

// A program that is gone, or cannot be read, is shown without it.
static keel_status_t look_at_all(first_t *first, const char *run_dir) {
    keel_status_t status = NULL;
    first->count = first->start.program_count < LOOKED_AT ? first->start.program_count : LOOKED_AT;
    cli_progress_begin("reading programs");
    for (size_t i = 0; !status && i < first->count; ++i) {
        status = look_at(first, run_dir, i);
        first->is_known[i] = !status;
        if (!status || keel_status_code(status) == KEEL_NO_MEMORY) continue;
        keel_status_ignore(status);
        status = NULL;
    }
    cli_progress_end();
    return status;
}

static keel_status_t read_first(const char *run_dir, const char *run, first_t *first) {
    char *id;
    KEEL_TRY(keel_journal_find_run(run_dir, run, &id));
    keel_status_t status = keel_run_read(run_dir, id, 0, &first->run);
    keel_free(id);
    if (!status) status = keel_run_start(&first->run, &first->start);
    return status ? status : look_at_all(first, run_dir);
}

int cli_why_first(const char *run_dir, const char *run, bool json, bool all) {
    first_t first = {.count = 0};
    keel_buffer_t out, damage;
    keel_run_initialize(&first.run);
    keel_arena_initialize(&first.arena, 0);
    keel_buffer_initialize(&out, 0);
    keel_buffer_initialize(&damage, 0);
    keel_status_t status = read_first(run_dir, run, &first);
    const keel_text_start_t text = {.run = &first.run,
                                    .start = &first.start,
                                    .large = first.large,
                                    .is_known = first.is_known,
                                    .large_count = first.count};
    if (!status && json)
        keel_text_start_json(&text, &out);
    else if (!status)
        keel_text_start(&text, all, &out);
    if (!status) keel_text_damage(&first.run, &damage);
    keel_start_deinitialize(&first.start);
    keel_run_deinitialize(&first.run);
    keel_arena_deinitialize(&first.arena);
    int code = CLI_USAGE;
    if (status) {
        code = cli_fail(status);
        keel_buffer_deinitialize(&out);
    } else {
        code = cli_answer(&out);
    }
    if (damage.size) {
        fprintf(stderr, "keel: %s\n", keel_buffer_cstr(&damage));
        code = CLI_USAGE;
    }
    keel_buffer_deinitialize(&damage);
    return code;
}
