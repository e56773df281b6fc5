// Removes old runs, and the programs that no remaining run names.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "journal/prune.h"

enum { FATES = KEEL_PRUNE_FAILED + 1 };

typedef struct telling_t {
    bool json, dry_run;
    keel_buffer_t lists[FATES]; // by keel_prune_fate_t: lines, or an array
    keel_json_t arrays[FATES];
} telling_t;

static void tell_text(telling_t *telling, keel_prune_fate_t fate, const char *run, uint64_t bytes,
                      const char *why) {
    char size[16];
    keel_format_size(bytes, size);
    if (fate == KEEL_PRUNE_REMOVED)
        keel_buffer_format(&telling->lists[fate], "%s  %s\n", run, size);
    else if (fate == KEEL_PRUNE_GOES_ON)
        cli_say("%s is still running and is kept", run);
    else
        cli_say("%s", why);
}

static void tell_json(telling_t *telling, keel_prune_fate_t fate, const char *run, uint64_t bytes,
                      const char *why) {
    keel_json_t *array = &telling->arrays[fate];
    keel_json_object(array, NULL);
    keel_json_string(array, fate == KEEL_PRUNE_FAILED ? "what" : "id", run);
    if (fate == KEEL_PRUNE_REMOVED) keel_json_unsigned(array, "bytes", bytes);
    if (fate == KEEL_PRUNE_FAILED) keel_json_string(array, "why", why);
    keel_json_end_object(array);
}

static void list_fate(void *context, keel_prune_fate_t fate, const char *run, uint64_t bytes,
                      const char *why) {
    telling_t *telling = context;
    (telling->json ? tell_json : tell_text)(telling, fate, run, bytes, why);
}

static void sum_up(const keel_pruned_t *pruned, bool dry_run, keel_buffer_t *out) {
    char runs[16], files[16];
    keel_format_size(pruned->run_bytes, runs);
    keel_format_size(pruned->file_bytes, files);
    keel_buffer_format(
        out, "%s %" PRIu64 " run%s, %s, and %" PRIu64 " file%s that no run needs any more, %s\n",
        dry_run ? "would remove" : "removed", pruned->runs, pruned->runs == 1 ? "" : "s", runs,
        pruned->files, pruned->files == 1 ? "" : "s", files);
}

static void answer_json(telling_t *telling, const keel_pruned_t *pruned, keel_buffer_t *out) {
    static const char *const names[FATES] = {
        [KEEL_PRUNE_REMOVED] = "removed",
        [KEEL_PRUNE_GOES_ON] = "going_on",
        [KEEL_PRUNE_FAILED] = "failed",
    };
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_bool(&json, "dry_run", telling->dry_run);
    keel_json_unsigned(&json, "runs", pruned->runs);
    keel_json_unsigned(&json, "run_bytes", pruned->run_bytes);
    keel_json_unsigned(&json, "files", pruned->files);
    keel_json_unsigned(&json, "file_bytes", pruned->file_bytes);
    for (int i = 0; i < FATES; ++i) {
        keel_json_end_array(&telling->arrays[i]);
        keel_buffer_str(keel_json_value(&json, names[i]),
                        keel_bytes_str(keel_buffer_bytes(&telling->lists[i])));
    }
    keel_json_end_object(&json);
}

// Puts the answer into `out`.
static keel_status_t prune(const char *run_dir, keel_prune_t *how, telling_t *telling,
                           keel_pruned_t *pruned, keel_buffer_t *out) {
    how->tell = list_fate;
    how->context = telling;
    KEEL_TRY(keel_journal_prune(run_dir, how, pruned));
    for (int i = 0; i < FATES; ++i)
        KEEL_TRY(keel_buffer_status(&telling->lists[i]));
    if (telling->json) {
        answer_json(telling, pruned, out);
    } else {
        keel_buffer_text(out, keel_buffer_cstr(&telling->lists[KEEL_PRUNE_REMOVED]));
        sum_up(pruned, telling->dry_run, out);
    }
    return NULL;
}

// ---- the command -------------------------------------------------------------------------------

static const char details[] =
    "A run is as old as its last event. Without --older and --keep, the setting keep_runs applies\n"
    "and the newest 20 runs stay. With both, a run is removed if it is older than AGE and not "
    "among\n"
    "the newest N. AGE is a number with s, m, h, d or w (30d), or 0. A run that is still going on "
    "is\n"
    "never removed. Programs and source texts that no other run names are removed too and, with\n"
    "--older, histories of scripts that have not run for that long. What cannot be removed is "
    "named,\n"
    "the rest is removed, and the exit code is 3.\n";

static bool read_limits(const cli_call_t *call, const char *older, const char *keep,
                        const keel_settings_t *settings, keel_prune_t *out, int *out_code) {
    char *end = NULL;
    if (older && !keel_parse_age(older, &out->older)) {
        *out_code = cli_misuse(call,
                               "--older %s: not an age; use a number with s, m, h, d or w, "
                               "such as 30d, or 0",
                               older);
        return false;
    }
    if (keep) out->keep = strtoull(keep, &end, 10);
    if (keep && (*keep < '0' || *keep > '9' || *end || out->keep > UINT32_MAX)) {
        *out_code = cli_misuse(call, "--keep %s: not a number of runs", keep);
        return false;
    }
    if (older || keep) return true;
    out->older = settings->keep_runs;
    out->keep = settings->keep_runs ? CLI_KEPT_RUNS : UINT32_MAX;
    return true;
}

static int run(const keel_settings_t *settings, keel_prune_t *how, bool json) {
    keel_buffer_t out;
    keel_pruned_t pruned = {0};
    telling_t telling = {.json = json, .dry_run = how->dry_run};
    keel_buffer_initialize(&out, 0);
    for (int i = 0; i < FATES; ++i) {
        keel_buffer_initialize(&telling.lists[i], 0);
        telling.arrays[i] = keel_json(&telling.lists[i], KEEL_JSON_SPACED);
        if (json) keel_json_array(&telling.arrays[i], NULL);
    }
    cli_progress_begin("removing runs");
    keel_status_t status = cli_check_folder(settings, KEEL_SETTING_RUN_DIR);
    if (!status)
        status =
            prune(keel_settings_text(settings, KEEL_SETTING_RUN_DIR), how, &telling, &pruned, &out);
    cli_progress_end();
    for (int i = 0; i < FATES; ++i)
        keel_buffer_deinitialize(&telling.lists[i]);
    if (status) {
        keel_buffer_deinitialize(&out);
        return cli_fail(status);
    }
    int code = cli_answer(&out);
    return code == CLI_OK && pruned.failures ? CLI_FAILURE : code;
}

int cli_runs_prune(cli_call_t *call) {
    const char *older = NULL, *keep = NULL;
    bool json = false;
    keel_prune_t how = {.thorough = true};
    int code;
    ++call->arguments;
    call->name = "runs prune";
    call->usage = "[OPTION]...";
    call->sentence = "remove old runs, and the programs that no run needs any more";
    call->details = details;
    cli_text(call, "--older", "AGE", "remove runs whose last event is older than this", &older);
    cli_text(call, "--keep", "N", "keep the newest N runs, whatever their age", &keep);
    cli_switch(call, "--dry-run", "say what would be removed, and remove nothing", &how.dry_run);
    cli_switch(call, "--json", "print JSON", &json);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    cli_setting(call, KEEL_SETTING_KEEP_RUNS);
    if (!cli_parse(call, 0, 0, &code)) return code;
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    if (read_limits(call, older, keep, &settings, &how, &code)) code = run(&settings, &how, json);
    keel_settings_deinitialize(&settings);
    return code;
}

// ---- after a run -------------------------------------------------------------------------------

void cli_prune_after(const keel_settings_t *settings, bool quiet) {
    const char *run_dir = keel_settings_text(settings, KEEL_SETTING_RUN_DIR);
    const keel_prune_t how = {.older = settings->keep_runs, .keep = CLI_KEPT_RUNS};
    keel_pruned_t pruned = {0};
    char size[16];
    if (!settings->keep_runs || !*run_dir) return;
    keel_status_t refused = keel_settings_trust_folder(settings, KEEL_SETTING_RUN_DIR, "");
    keel_status_ignore(refused);
    if (refused) return; // nothing was recorded either
    cli_progress_begin("removing old runs");
    keel_status_ignore(keel_journal_prune(run_dir, &how, &pruned)); // `keel runs prune` says why
    cli_progress_end();
    if (quiet || !pruned.runs) return;
    keel_format_size(pruned.run_bytes + pruned.file_bytes, size);
    cli_say("removed %" PRIu64 " run%s older than %s, %s (the setting keep_runs)", pruned.runs,
            pruned.runs == 1 ? "" : "s", keel_settings_text(settings, KEEL_SETTING_KEEP_RUNS),
            size);
}
