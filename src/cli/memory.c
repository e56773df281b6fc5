#include <stdio.h>

#include "cli/cli.h"
#include "journal/journal.h"
#include "text/text.h"

enum { SHORTEST_DIGEST = 4 };

static const char details[] =
    "RUN is a run's id, the beginning of one, latest, or a file of `keel pack`; PROGRAM is a\n"
    "program of a run: its digest, the first 4 or more digits of it, or its module name in the\n"
    "newest run. The default is the newest run. Sizes are in bytes on each device. The exit code\n"
    "is 1 if something did not fit, or if a program needs more than a device has.\n";

// ---- finding -----------------------------------------------------------------------------------

typedef struct search_t {
    const char *run_dir, *text;
    keel_run_t found; // the newest run that has such a program
    const keel_memory_program_t *program;
    bool is_ambiguous;
} search_t;

static bool is_digest(const char *text) {
    size_t length = strlen(text);
    return length >= SHORTEST_DIGEST && strspn(text, "0123456789abcdef") == length;
}

static const keel_memory_program_t *find_in(const keel_memory_t *memory, const char *text,
                                            bool *out_ambiguous) {
    const keel_memory_program_t *found = NULL;
    *out_ambiguous = false;
    for (size_t i = 0; i < memory->program_count; ++i) {
        const keel_memory_program_t *program = &memory->programs[i];
        bool is_it = is_digest(text) ? strncmp(program->program, text, strlen(text)) == 0
                                     : strcmp(program->name, text) == 0;
        if (!is_it) continue;
        if (found && strcmp(found->program, program->program) != 0) *out_ambiguous = true;
        if (!found) found = program; // the largest
    }
    return found;
}

// Runs come oldest first: the last one that has it stays.
static keel_status_t look_into(void *context, const char *id) {
    search_t *search = context;
    keel_run_t run;
    keel_status_t status = keel_run_read(search->run_dir, id, KEEL_RUN_MEMORY, &run);
    if (status && keel_status_code(status) == KEEL_NO_MEMORY) return status;
    if (status) {
        keel_status_ignore(status);
        return NULL;
    }
    bool is_ambiguous;
    const keel_memory_program_t *found = find_in(&run.memory, search->text, &is_ambiguous);
    if (!found) {
        keel_run_deinitialize(&run);
        return NULL;
    }
    keel_run_deinitialize(&search->found);
    search->found = run;
    search->program = found;
    search->is_ambiguous = is_ambiguous;
    return NULL;
}

static keel_status_t find_digest(search_t *search) {
    cli_progress_begin("reading journals");
    keel_status_t status = keel_journal_runs(search->run_dir, look_into, search);
    cli_progress_end();
    return status;
}

static keel_status_t find_name(search_t *search) {
    char *id;
    keel_status_t status = keel_journal_find_run(search->run_dir, NULL, &id);
    if (!status) {
        status = look_into(search, id);
        keel_free(id);
    } else if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        status = NULL;
    }
    return status;
}

static keel_status_t find_program(search_t *search) {
    KEEL_TRY(is_digest(search->text) ? find_digest(search) : find_name(search));
    if (!search->program)
        return keel_status_make(KEEL_NOT_FOUND,
                                "%s: no such run, and no run knows such a program; `keel runs` "
                                "lists runs, `keel memory RUN` their programs",
                                search->text);
    if (search->is_ambiguous)
        return keel_status_make(
            KEEL_INVALID,
            "%s: names several programs of run %s; give a digest from `keel memory %s`",
            search->text, search->found.id, search->found.id);
    return NULL;
}

// A run if there is one of that id, otherwise a program.
static keel_status_t find_programs(search_t *search) {
    char *id;
    keel_status_t status = keel_journal_find_run(search->run_dir, search->text, &id);
    if (!status) {
        status = keel_run_read(search->run_dir, id, KEEL_RUN_MEMORY, &search->found);
        keel_free(id);
        return status;
    }
    if (!search->text || keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return find_program(search);
}

// ---- the command -------------------------------------------------------------------------------

static bool fits(const search_t *search) {
    const keel_run_t *run = &search->found;
    if (*run->rehearsal.target.name) {
        keel_run_fit_t fit = keel_run_fit(run);
        if (!search->program) return fit.verdict != KEEL_RUN_TOO_LARGE;
        return !fit.limit || search->program->most <= fit.limit;
    }
    const keel_memory_t *memory = &search->found.memory;
    uint64_t limit = keel_memory_limit(memory);
    const keel_memory_program_t *largest = search->program         ? search->program
                                           : memory->program_count ? &memory->programs[0]
                                                                   : NULL;
    if (!search->program && search->found.asides.misfit_count) return false;
    return !limit || !largest || largest->total <= limit;
}

int cli_memory(cli_call_t *call) {
    bool json = false;
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON", &json);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 0, 1, &code)) return code;
    if (!cli_take_packed_runs(call, NULL, &code)) return code;
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    search_t search = {.run_dir = keel_settings_text(&settings, KEEL_SETTING_RUN_DIR),
                       .text = call->rest[0]};
    status = cli_check_folder(&settings, KEEL_SETTING_RUN_DIR);
    if (!status) status = find_programs(&search);
    keel_settings_deinitialize(&settings);
    if (status) {
        keel_run_deinitialize(&search.found);
        return cli_fail(status);
    }
    keel_buffer_t out, damage;
    keel_buffer_initialize(&out, 0);
    keel_buffer_initialize(&damage, 0);
    (json ? keel_text_memory_json : keel_text_memory)(&search.found, search.program, &out);
    keel_text_damage(&search.found, &damage);
    bool is_good = fits(&search);
    keel_run_deinitialize(&search.found);
    code = cli_answer(&out);
    if (code == CLI_OK && !is_good) code = CLI_NO;
    if (damage.size) {
        fprintf(stderr, "keel: %s\n", keel_buffer_cstr(&damage));
        code = CLI_USAGE;
    }
    keel_buffer_deinitialize(&damage);
    return code;
}
