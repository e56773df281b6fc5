#include <stdio.h>

#include "cli/cli.h"
#include "journal/journal.h"
#include "journal/prune.h"
#include "text/text.h"
#include "why/figures.h"

typedef struct listing_t {
    const char *run_dir;
    keel_buffer_t out;
    bool json;
    keel_json_t array; // in `out`
    unsigned width;
    bool damaged;
    size_t count;
} listing_t;

// From its figures, or else from its journal.
static keel_status_t read_run(const char *run_dir, const char *id, keel_why_t *out) {
    keel_status_t status = keel_figures_read(run_dir, id, out);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    KEEL_TRY(keel_why_read(run_dir, id, 0, out));
    keel_figures_leave(out, run_dir);
    out->run.journal_bytes = keel_journal_run_bytes(run_dir, id);
    return NULL;
}

// A run whose journal cannot be read is named and left out.
static keel_status_t list_run(void *context, const char *id) {
    listing_t *listing = context;
    keel_why_t why;
    keel_status_t status = read_run(listing->run_dir, id, &why);
    if (status) {
        if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
        listing->damaged = true;
        cli_fail(status);
        return NULL;
    }
    if (listing->json) {
        if (listing->count) keel_json_break(&listing->array, "\n ");
        keel_text_stats_json(&why, false, keel_json_value(&listing->array, NULL));
    } else {
        keel_text_line(&why, listing->width, &listing->out);
        keel_buffer_byte(&listing->out, '\n');
    }
    ++listing->count;
    if (why.run.damage.lines) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_text_damage(&why.run, &text);
        fprintf(stderr, "keel: %s\n", keel_buffer_cstr(&text));
        keel_buffer_deinitialize(&text);
        listing->damaged = true;
    }
    keel_why_deinitialize(&why);
    return NULL;
}

static const char details[] =
    "Each line has a run's id, its start, the size of its own files, what it compiled and loaded,\n"
    "and its command. `keel runs prune` removes old runs; `keel runs prune --help` explains it.\n";

int cli_runs(cli_call_t *call) {
    bool json = false;
    int code;
    if (call->arguments[0] && strcmp(call->arguments[0], "prune") == 0) return cli_runs_prune(call);
    call->details = details;
    cli_switch(call, "--json", "print JSON: a list of runs, oldest first", &json);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 0, 0, &code)) return code;
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    listing_t listing = {.run_dir = keel_settings_text(&settings, KEEL_SETTING_RUN_DIR),
                         .json = json,
                         .width = cli_width(stdout)};
    keel_buffer_initialize(&listing.out, 0);
    listing.array = keel_json(&listing.out, KEEL_JSON_SPACED);
    if (json) keel_json_array(&listing.array, NULL);
    cli_progress_begin("reading journals");
    status = cli_check_folder(&settings, KEEL_SETTING_RUN_DIR);
    if (!status) status = keel_journal_runs(listing.run_dir, list_run, &listing);
    cli_progress_end();
    if (json) keel_json_end_array(&listing.array);
    if (!status && !listing.count && !json)
        fprintf(stderr, "keel: no run is recorded in %s; `keel run -- CMD` records one\n",
                listing.run_dir);
    keel_settings_deinitialize(&settings);
    if (status) {
        keel_buffer_deinitialize(&listing.out);
        return cli_fail(status);
    }
    code = cli_answer(&listing.out);
    return code == CLI_OK && listing.damaged ? CLI_USAGE : code;
}
