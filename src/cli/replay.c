// keel replay: the programs of a run, compiled and run again without their client. It answers what
// another plugin would change: what compiles again, what fails, what grows, what computes other
// values.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "cli/replay.h"
#include "journal/journal.h"
#include "probe/probe.h"

// ---- plugins -----------------------------------------------------------------------------------

static keel_status_t build_of(const replay_t *replay, const char *plugin, keel_digest_t *out) {
    char *folder;
    KEEL_TRY(cli_digests_folder(&replay->settings, &folder));
    keel_status_t status = keel_key_plugin_build(plugin, folder, out);
    keel_free(folder);
    return status;
}

static bool is_recorded(const replay_t *replay, const keel_digest_t *build) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(build, hex);
    return strcmp(hex, replay->recorded_build) == 0;
}

// The plugin that is asked about: the one that is named, else the run's.
static keel_status_t find_after(replay_t *replay, char **out) {
    const keel_setting_value_t *named = &replay->settings.values[KEEL_SETTING_PLUGIN];
    const char *recorded = replay->recorded.plugin;
    if (named->origin == KEEL_ORIGIN_FLAG)
        return keel_plugin_find(named->text, replay->interpreter, out);
    if (recorded && keel_is_file(recorded)) return keel_strdup(keel_str(recorded), out);
    if (replay->target.platform == KEEL_TARGET_CPU)
        return keel_plugin_find(named->text, replay->interpreter, out);
    return keel_target_plugin(&replay->target, replay->interpreter, out);
}

// Takes it if it is the very plugin of the run.
static keel_status_t try_before(replay_t *replay, const char *path) {
    replay_side_t *before = &replay->before;
    if (before->plugin || !path || !keel_is_file(path)) return NULL;
    KEEL_TRY(build_of(replay, path, &before->build));
    return is_recorded(replay, &before->build) ? keel_strdup(keel_str(path), &before->plugin)
                                               : NULL;
}

// The run's plugin, wherever it is: where it was, the one that is asked about, or that of the
// environment. Or the one that is named in its place.
static keel_status_t find_before(replay_t *replay, const char *named) {
    replay_side_t *before = &replay->before;
    char *usual = NULL;
    if (named) {
        KEEL_TRY(keel_plugin_find(named, replay->interpreter, &before->plugin));
        return build_of(replay, before->plugin, &before->build);
    }
    KEEL_TRY(try_before(replay, replay->recorded.plugin));
    KEEL_TRY(try_before(replay, replay->after.plugin));
    if (before->plugin) return NULL;
    keel_status_t status = keel_plugin_find(keel_target_platform_names[replay->target.platform],
                                            replay->interpreter, &usual);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    status = try_before(replay, usual);
    keel_free(usual);
    return status;
}

// Before this process loads it: a plugin may crash while it is loaded.
static keel_status_t check_plugin(const replay_t *replay, const char *path) {
    static keel_probe_t probe;
    KEEL_TRY(cli_check_plugin(path));
    if (replay->target.platform != KEEL_TARGET_CPU) return cli_check_target(&replay->target, path);
    keel_probe_initialize(&probe);
    keel_status_t status =
        keel_probe_use(&(keel_probe_request_t){.plugin = path,
                                               .cpu_devices = replay->target.device_count,
                                               .limit = 120,
                                               .last = KEEL_PROBE_CLIENT},
                       &probe);
    for (int i = KEEL_PROBE_LOAD; i <= KEEL_PROBE_CLIENT && !status; ++i)
        if (keel_probe_went_wrong(probe.steps[i].state))
            status =
                keel_status_make(KEEL_INVALID, "%s: step %s failed: %s; `keel probe %s` says more",
                                 path, keel_probe_step_names[i], probe.steps[i].message, path);
    keel_probe_deinitialize(&probe);
    return status;
}

static keel_status_t start(const replay_t *replay, replay_side_t *side) {
    return keel_compiler_start(&(keel_compiler_settings_t){.target = &replay->target,
                                                           .plugin = side->plugin,
                                                           .workers = replay->jobs,
                                                           .interpreter = replay->interpreter},
                               &side->compiler);
}

// Without a client in this process there are no keys, and all the rest goes on.
static keel_status_t make_keys(replay_t *replay) {
    cli_progress_begin("making keys");
    keel_status_t status = replay_keys_make(replay);
    cli_progress_end();
    if (!status || keel_status_code(status) == KEEL_NO_MEMORY) return status;
    cli_say("keys are not compared: %s", keel_status_message(status));
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t open_plugins(replay_t *replay, const char *named_before) {
    KEEL_TRY(keel_target_set_environment(&replay->target));
    setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0); // plugins greet
    KEEL_TRY(find_after(replay, &replay->after.plugin));
    KEEL_TRY(check_plugin(replay, replay->after.plugin));
    KEEL_TRY(build_of(replay, replay->after.plugin, &replay->after.build));
    KEEL_TRY(find_before(replay, named_before));
    if (named_before) KEEL_TRY(check_plugin(replay, replay->before.plugin));
    replay_limits_settle(replay);
    KEEL_TRY(make_keys(replay));
    KEEL_TRY(cli_recorded_add_handlers(&replay->recorded, &replay->settings));
    if (replay->before.plugin) KEEL_TRY(start(replay, &replay->before));
    return start(replay, &replay->after);
}

// ---- the run -----------------------------------------------------------------------------------

static keel_status_t read_run(replay_t *replay, const char *text) {
    char *id;
    const char *run_dir = keel_settings_text(&replay->settings, KEEL_SETTING_RUN_DIR);
    KEEL_TRY(cli_check_folder(&replay->settings, KEEL_SETTING_RUN_DIR));
    KEEL_TRY(keel_journal_find_run(run_dir, text, &id));
    keel_status_t status =
        keel_run_read(run_dir, id, KEEL_RUN_KEYS | KEEL_RUN_MEMORY, &replay->run);
    keel_free(id);
    if (!status) status = replay_programs_read(replay);
    return status;
}

static keel_status_t prepare(replay_t *replay, const cli_call_t *call, const char *python,
                             const char *named_before) {
    KEEL_TRY(keel_settings_load(call->flags, &replay->settings));
    if (python) KEEL_TRY(cli_interpreter_named(python, &replay->interpreter));
    KEEL_TRY(read_run(replay, call->rest[0]));
    const char *recorded = replay->recorded.python;
    if (!replay->interpreter && recorded)
        KEEL_TRY(keel_strdup(keel_str(recorded), &replay->interpreter));
    replay->recorded_plugin = replay->run.plugin_path;
    replay->is_elsewhere = replay->target.platform != KEEL_TARGET_CPU;
    return open_plugins(replay, named_before);
}

// ---- the command -------------------------------------------------------------------------------

static void begin_progress(const replay_t *replay) {
    static char text[64];
    if (replay->done == replay->count) return;
    snprintf(text, sizeof text, "replaying program %zu of %zu", replay->done + 1, replay->count);
    cli_progress_begin(text);
}

static void tell_program(replay_t *replay, const replay_program_t *program) {
    cli_progress_end();
    if (!replay->json) replay_print_program(replay, program);
    begin_progress(replay);
}

static int answer(replay_t *replay) {
    replay_sum_t sum;
    if (!replay->json) replay_print_head(replay);
    begin_progress(replay);
    replay_work(replay, tell_program);
    cli_progress_end();
    replay_sum(replay, &sum);
    int code = replay_verdict(replay, &sum);
    if (!replay->json) {
        replay_print_end(replay, &sum);
        return code;
    }
    int printed = replay_print_json(replay, &sum);
    return printed == CLI_OK ? code : printed;
}

static void initialize(replay_t *replay) {
    keel_map_initialize(&replay->shown);
    keel_map_initialize(&replay->known);
    keel_key_initialize(&replay->recorded_key);
    cli_recorded_initialize(&replay->recorded);
    pthread_mutex_init(&replay->lock, NULL);
}

// The rehearsal still looks at the target and its options.
static void release(replay_t *replay) {
    keel_compiler_stop(replay->before.compiler);
    keel_compiler_stop(replay->after.compiler);
    keel_free(replay->before.plugin);
    keel_free(replay->after.plugin);
    replay_programs_release(replay);
    keel_key_deinitialize(&replay->recorded_key);
    keel_map_deinitialize(&replay->shown);
    keel_map_deinitialize(&replay->known);
    keel_run_deinitialize(&replay->run);
    keel_settings_deinitialize(&replay->settings);
}

static const char details[] =
    "RUN is a run's id, the beginning of one, latest, or a file of `keel pack`. Each of its\n"
    "programs is compiled by the run's own plugin, if that is still here, and by PLUGIN; without\n"
    "--plugin, by the run's again. Then both run with the same generated arguments, and their\n"
    "results are compared. All of that happens in child processes, so a crash\n"
    "costs one program.\n\n"
    "LIMIT is in percent: 25, or time=50,code=10,memory=10,run=20. The defaults are 50 for time\n"
    "and 20 for code and memory; run is judged only if it is named. The exit code is 1 if a\n"
    "program fails, grows beyond the limit or has other results, or if the run's own plugin would\n"
    "not find its keys again. docs/replay.md says what is compared and how.\n";

static bool read_number(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && *out >= 0;
}

int cli_replay(cli_call_t *call) {
    static replay_t replay; // a rehearsal sees it until the process ends
    const char *python = NULL, *before = NULL, *limit = NULL, *tolerance = "0", *seed = "0",
               *timeout = "60", *jobs = "1";
    bool stays = false, trusts = false, is_packed;
    double number;
    int code;
    call->details = details;
    cli_setting(call, KEEL_SETTING_PLUGIN);
    cli_text(call, "--before", "PLUGIN", "the run's plugin, if it is elsewhere now", &before);
    cli_text(call, "--on", "TARGET", "compile for this device: h200:8, v6e:2x4, cpu:4, or a file",
             &replay.on);
    cli_text(call, "--python", "PYTHON", "the environment of the plugin, unless it is the run's",
             &python);
    cli_text(call, "--limit", "LIMIT", "what may grow, in percent (time=50,code=20,memory=20)",
             &limit);
    cli_text(call, "--tolerance", "NUMBER", "the largest relative difference of results (0)",
             &tolerance);
    cli_text(call, "--seed", "NUMBER", "of the generated arguments (0)", &seed);
    cli_text(call, "--timeout", "SECONDS", "give up on a program that runs for this long (60)",
             &timeout);
    cli_text(call, "--jobs", "NUMBER", "programs at a time (1, so that times can be compared)",
             &jobs);
    cli_switch(call, "--no-run", "only compile", &stays);
    cli_switch(call, "--trust", "use the plugin and libraries that a file of `keel pack` names",
               &trusts);
    cli_switch(call, "--json", "print JSON", &replay.json);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    cli_setting(call, KEEL_SETTING_CACHE_DIR);
    if (!cli_parse(call, 1, 1, &code)) return code;
    if (!replay_limits_read(limit, &replay.limits))
        return cli_misuse(call, "--limit %s: write a number, or time=50,code=10,memory=10,run=20",
                          limit);
    if (!read_number(tolerance, &replay.tolerance))
        return cli_misuse(call, "--tolerance %s: write a number, as in 1e-6", tolerance);
    if (!read_number(seed, &number)) return cli_misuse(call, "--seed %s: write a number", seed);
    replay.seed = (uint64_t)number;
    if (!read_number(jobs, &number) || number < 1 || number > 256)
        return cli_misuse(call, "--jobs %s: write a number from 1 to 256", jobs);
    replay.jobs = (unsigned)number;
    if (!cli_read_seconds(call, timeout, &replay.seconds, &code)) return code;
    replay.runs = !stays;
    initialize(&replay);
    if (!cli_take_packed_runs(call, &is_packed, &code)) return code;
    replay.recorded.is_foreign = is_packed && !trusts;
    keel_status_t status = prepare(&replay, call, python, before);
    code = status ? cli_fail(status) : answer(&replay);
    release(&replay);
    return code;
}
