#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "cli/bundle.h"
#include "cli/cli.h"
#include "cli/warn.h"
#include "contract/contract.h"
#include "host/host.h"
#include "journal/journal.h"
#include "pjrt/pjrt.h"
#include "remote/remote.h"
#include "settings/places.h"
#include "store/plan.h"
#include "text/text.h"
#include "why/figures.h"

typedef struct command_run_t {
    keel_settings_t settings;
    char *plugin;
    char *library;
    char *package; // of Python; NULL if it is missing
    char id[KEEL_RUN_ID_SIZE];
    const char *json_file;
    const char *fixes; // requested ones; NULL: none
    char *interpreter; // of the command; NULL if it is not a Python
    bool quiet;
    bool asked_for_none;        // of programs, known afterwards
    bool asked_for_operations;  // and for nothing else
    bool lists_operations;      // the contract does
    bool lines;                 // of PyTorch/XLA's operations
    bool nested;                // under another `keel run`, whose summary counts
    cli_rehearsal_t *rehearsal; // NULL: the devices are there
    const cli_run_use_t *use;   // what else is done with the run; NULL: nothing
} command_run_t;

// ---- before ------------------------------------------------------------------------------------

static keel_status_t same_file(const char *a, const char *b, bool *out) {
    keel_file_facts_t x, y;
    KEEL_TRY(keel_file_facts(a, &x));
    KEEL_TRY(keel_file_facts(b, &y));
    *out = x.inode == y.inode && x.device == y.device;
    return NULL;
}

static keel_status_t find_plugin(command_run_t *run) {
    const keel_setting_value_t *named = &run->settings.values[KEEL_SETTING_PLUGIN];
    bool is_cpu = run->rehearsal && run->rehearsal->target.platform == KEEL_TARGET_CPU;
    if (run->rehearsal && !is_cpu && named->origin != KEEL_ORIGIN_FLAG)
        return keel_target_plugin(&run->rehearsal->target, run->interpreter, &run->plugin);
    return keel_plugin_find(named->text, run->interpreter, &run->plugin);
}

static keel_status_t resolve_plugin(command_run_t *run) {
    KEEL_TRY(find_plugin(run));
    char *absolute; // the child may change its folder before it loads it
    KEEL_TRY(keel_place_absolute(run->plugin, &absolute));
    keel_free(run->plugin);
    run->plugin = absolute;
    KEEL_TRY(cli_check_plugin(run->plugin));
    bool own;
    KEEL_TRY(same_file(run->plugin, run->library, &own));
    if (!own) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "plugin %s: this is Keel's own library; name the plugin to wrap",
                            run->plugin);
}

// Whether the command, if it has a client, uses this plugin and no other: to load it here takes
// longer than all else that a start of `keel run` does.
static bool is_certain(const command_run_t *run) {
    return run->rehearsal ||
           run->settings.values[KEEL_SETTING_PLUGIN].origin != KEEL_ORIGIN_DEFAULT;
}

// Without the package a run lacks fixes and torch_xla.launch, and clients get Keel by --plugin
// only.
static keel_status_t find_package(command_run_t *run) {
    const char *given = getenv("KEEL_FIX");
    keel_status_t status = cli_find_package(&run->package);
    if (status && !run->fixes) {
        bool is_named = run->settings.values[KEEL_SETTING_PLUGIN].origin != KEEL_ORIGIN_DEFAULT;
        if (!is_named && !run->quiet)
            cli_say("%s; until then, programs run through Keel only with --plugin",
                    keel_status_message(status));
        keel_status_ignore(status);
        return NULL;
    }
    if (!status && run->fixes) status = cli_fixes_check(run->package, run->fixes);
    if (!run->fixes && given && *given) run->fixes = given;
    return status;
}

static keel_status_t prepare_rehearsal(command_run_t *run) {
    if (!run->rehearsal) return NULL;
    if (run->settings.mode == KEEL_MODE_OFF)
        return keel_status_make(KEEL_INVALID,
                                "mode is off: nothing can be rehearsed; use --mode on");
    uint32_t processes;
    KEEL_TRY(keel_target_read(run->rehearsal->on, &run->rehearsal->target));
    return cli_count_processes(run->rehearsal, &processes);
}

// A contract that cannot be held to stops the command before it starts.
static keel_status_t check_contract(const keel_settings_t *settings, bool *out_operations) {
    const char *path = keel_settings_text(settings, KEEL_SETTING_CONTRACT);
    bool has_contract = *path;
    if (settings->on_drift == KEEL_ON_DRIFT_RECORD && !has_contract)
        return keel_status_make(KEEL_INVALID,
                                "on_drift is record: name the contract that programs are added to, "
                                "with --contract FILE");
    if (!has_contract && !settings->freeze_after) return NULL;
    if (settings->mode == KEEL_MODE_OFF)
        return keel_status_make(KEEL_INVALID,
                                "mode is off: no program is looked at, so none can be "
                                "held to a contract; use --mode on");
    if (!has_contract) return NULL;
    keel_contract_t contract;
    KEEL_TRY(keel_contract_read(path, &contract));
    *out_operations = contract.operations;
    keel_contract_deinitialize(&contract);
    return NULL;
}

static keel_status_t prepare(command_run_t *run, const cli_call_t *call, char **words) {
    KEEL_TRY(keel_settings_load(call->flags, &run->settings));
    KEEL_TRY(check_contract(&run->settings, &run->lists_operations));
    if (run->json_file) KEEL_TRY(keel_status_annotate(cli_check_output(run->json_file), "--json"));
    KEEL_TRY(prepare_rehearsal(run));
    KEEL_TRY(cli_find_library(&run->library));
    KEEL_TRY(cli_interpreter_of(words[0], &run->interpreter));
    KEEL_TRY(resolve_plugin(run));
    if (run->rehearsal) KEEL_TRY(cli_check_target(&run->rehearsal->target, run->plugin));
    KEEL_TRY(
        cli_check_versions(run->interpreter, is_certain(run) ? run->plugin : NULL, run->quiet));
    KEEL_TRY(find_package(run));
    if (run->package) KEEL_TRY(cli_set_python(run->package, run->library, run->fixes));
    keel_journal_make_id(run->id);
    KEEL_TRY(cli_set_environment(&run->settings, run->plugin, run->library, run->id, run->lines));
    return run->rehearsal ? cli_set_rehearsal(run->rehearsal, run->plugin, run->library) : NULL;
}

// ---- after -------------------------------------------------------------------------------------

static keel_status_t write_json(const command_run_t *run, const keel_why_t *why, int code) {
    if (!run->json_file) return NULL;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_text_ended_json(why, code, &text);
    keel_buffer_byte(&text, '\n');
    return keel_status_annotate(cli_write_output(run->json_file, &text), "--json");
}

// The folder, or the nearest existing one above it.
static bool is_writable(const char *folder) {
    char *path, *slash;
    bool writable = false;
    keel_status_t status = keel_strdup(keel_str(folder), &path);
    while (!status) {
        keel_file_facts_t facts;
        keel_status_t looked = keel_file_facts(path, &facts);
        bool absent = keel_status_code(looked) == KEEL_NOT_FOUND;
        writable = !looked && facts.is_directory && access(path, W_OK | X_OK) == 0;
        keel_status_ignore(looked);
        slash = strrchr(path, '/');
        if (!absent || !slash) break;
        slash[slash == path] = 0;
    }
    if (!status) keel_free(path);
    keel_status_ignore(status);
    return writable;
}

typedef struct meanwhile_t {
    const char *run_dir, *id;
    size_t count;
    char newest[KEEL_RUN_ID_SIZE];
} meanwhile_t;

// Ids begin with the time.
static keel_status_t count_later(void *context, const char *name) {
    meanwhile_t *meanwhile = context;
    char *path;
    if (!keel_journal_is_id(name) || strcmp(name, meanwhile->id) <= 0) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s/journal.ndjson", meanwhile->run_dir, name));
    if (keel_is_file(path)) {
        ++meanwhile->count;
        if (strcmp(name, meanwhile->newest) > 0)
            snprintf(meanwhile->newest, sizeof meanwhile->newest, "%s", name);
    }
    keel_free(path);
    return NULL;
}

// The command may have a `keel run` of its own, or be one.
static bool say_meanwhile(const char *run_dir, const char *id) {
    meanwhile_t meanwhile = {.run_dir = run_dir, .id = id};
    keel_status_ignore(keel_directory_walk(run_dir, count_later, &meanwhile));
    if (meanwhile.count == 1)
        cli_say("nothing was recorded in this run itself; run %s began meanwhile",
                meanwhile.newest);
    else if (meanwhile.count)
        cli_say("nothing was recorded in this run itself; %zu runs began meanwhile, the last is %s",
                meanwhile.count, meanwhile.newest);
    return meanwhile.count;
}

static void say_no_client(const command_run_t *run, int code) {
    if (code && run->rehearsal)
        cli_say("nothing was recorded: the command ended with exit code %d before it started an "
                "XLA client",
                code);
    else
        cli_say("nothing was recorded: the command started no XLA client that loads Keel; see "
                "`keel run --help`");
}

static void nothing_recorded(const command_run_t *run, bool began, int code) {
    if (run->nested) return;
    const char *folder = keel_settings_text(&run->settings, KEEL_SETTING_RUN_DIR);
    keel_status_t refused =
        keel_settings_trust_folder(&run->settings, KEEL_SETTING_RUN_DIR, "nothing was recorded");
    if (began)
        cli_say("nothing was recorded: %s/%s could not be written; see above", folder, run->id);
    else if (run->settings.mode == KEEL_MODE_OFF)
        cli_say("mode is off: nothing was recorded");
    else if (!*folder)
        cli_say("nothing was recorded: there is no home folder; set KEEL_RUN_DIR");
    else if (!is_writable(folder))
        cli_say("nothing was recorded: %s cannot be written", folder);
    else if (refused)
        cli_say("%s", keel_status_message(refused));
    else if (!say_meanwhile(folder, run->id))
        say_no_client(run, code);
    keel_status_ignore(refused);
}

// Which plugin it was, unless it is the one that Keel would wrap by itself.
static void tell_plugin(const command_run_t *run, const keel_run_t *recorded) {
    const char *path = recorded->plugin_path;
    bool is_same = run->rehearsal || !*path || keel_plugin_is_jaxs_own(path);
    if (!is_same) keel_status_ignore(same_file(path, run->plugin, &is_same));
    if (!is_same)
        cli_say("in front of the plugin that the command uses by itself: %s, platform %s", path,
                recorded->plugin_platform);
}

static void no_fix(const command_run_t *run) {
    if (run->fixes && !run->nested)
        cli_say("no fix was applied: the affected module was not loaded, or Python ignored its "
                "environment (-I, -E, -S)");
}

static bool asked_for_operations(const keel_why_t *why) {
    for (size_t i = 0; i < why->run.request_count; ++i)
        if (why->run.requests[i].operation == SIZE_MAX) return false;
    for (size_t i = 0; i < why->entry_count; ++i)
        if (!why->entries[i].asked->is_eager) return false;
    return why->run.request_count != 0;
}

// What follows looks like a whole rehearsal.
static void say_ended_early(const command_run_t *run, const keel_run_t *recorded, int code) {
    if (!run->rehearsal || !code || run->quiet) return;
    const keel_target_t *target = &run->rehearsal->target;
    if (run->asked_for_none && !recorded->rehearsal.refusal_count)
        cli_say("the command ended with exit code %d before its first program; if it needs more "
                "than the %u device%s of %s, name a larger target",
                code, target->device_count, target->device_count == 1 ? "" : "s", target->name);
    else
        cli_say(
            "the command ended with exit code %d%s: the rehearsal is what it did until then", code,
            recorded->rehearsal.unreal_count ? ", after it had read values that no device computed"
                                             : "");
}

void cli_ended_tell(const cli_ended_t *ended, keel_buffer_t *out) {
    if (ended->command != CLI_OK)
        keel_buffer_format(out, "the command ended with exit code %d", ended->command);
    else if (ended->code == CLI_UNSEEN)
        keel_buffer_text(out, "the command succeeded, but a loop of it ended early in the "
                              "rehearsal, or may have");
    else
        keel_buffer_text(out, "the command succeeded, but its rehearsal failed");
}

// The exit code of a rehearsal whose command has none of its own.
static int judge(const keel_run_t *run) {
    if (!keel_run_passes(run)) return CLI_NO;
    return run->rehearsal.left_count ? CLI_UNSEEN : CLI_OK;
}

// What happened, on stderr. `code`: the command's. Returns what it becomes.
static int sum_up(command_run_t *run, int code) {
    keel_why_t why;
    const char *run_dir = keel_settings_text(&run->settings, KEEL_SETTING_RUN_DIR);
    if (!*run_dir) {
        if (!run->quiet || run->json_file) nothing_recorded(run, false, code);
        return code;
    }
    cli_analyze(run_dir, run->id);
    keel_status_t status = keel_why_read(run_dir, run->id, 0, &why);
    if (status) {
        bool absent = keel_status_code(status) == KEEL_NOT_FOUND;
        if (!absent)
            cli_fail(status);
        else if (!run->quiet || run->json_file)
            nothing_recorded(run, false, code);
        if (absent && !run->quiet) no_fix(run);
        run->asked_for_none = absent && is_writable(run_dir);
        if (absent) keel_status_ignore(status);
        return code;
    }
    keel_figures_leave(&why, run_dir);
    run->asked_for_none = why.run.processes && !why.run.request_count && !why.run.entry_count;
    run->asked_for_operations = why.run.processes && asked_for_operations(&why);
    // There was no room for its first line.
    if (!why.run.processes && (!run->quiet || run->json_file)) nothing_recorded(run, true, code);
    if (!run->quiet && why.run.processes) {
        say_ended_early(run, &why.run, code);
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_text_summary(&why, &text);
        fputs(keel_buffer_cstr(&text), stderr);
        keel_buffer_deinitialize(&text);
        if (!why.run.fixes.count) no_fix(run);
        tell_plugin(run, &why.run);
    }
    status = write_json(run, &why, code);
    if (status) cli_fail(status);
    if (run->rehearsal && code == CLI_OK) code = judge(&why.run);
    keel_why_deinitialize(&why);
    return code;
}

// A gate through which nothing went has held nothing.
static bool held_nothing(const command_run_t *run) {
    const keel_settings_t *settings = &run->settings;
    const char *contract = keel_settings_text(settings, KEEL_SETTING_CONTRACT);
    bool refuses =
        settings->freeze_after || (*contract && settings->on_drift == KEEL_ON_DRIFT_REFUSE);
    bool are_free = run->asked_for_operations && !run->lists_operations;
    if (run->nested || run->use || !refuses || !(run->asked_for_none || are_free)) return false;
    const char *asked = run->asked_for_none
                            ? "the command asked for no program through Keel"
                            : "the command asked only for operations outside jit, which are free";
    if (*contract)
        cli_say("%s, so nothing was held to %s", asked, contract);
    else
        cli_say("%s, so there was nothing to freeze", asked);
    return true;
}

static void record_drift(const command_run_t *run) {
    if (run->settings.on_drift != KEEL_ON_DRIFT_RECORD) return;
    keel_status_t status = cli_contract_extend(
        keel_settings_text(&run->settings, KEEL_SETTING_CONTRACT),
        keel_settings_text(&run->settings, KEEL_SETTING_RUN_DIR), run->id, run->quiet);
    if (status) cli_fail(status);
}

static void release_run(command_run_t *run) {
    keel_settings_deinitialize(&run->settings);
    keel_free(run->interpreter);
    keel_free(run->plugin);
    keel_free(run->library);
    keel_free(run->package);
}

// A script that has not run here: what it asked for elsewhere is fetched while Python imports.
static void fetch_ahead(const command_run_t *run, char **command) {
    const keel_settings_t *settings = &run->settings;
    const char *cache_dir = keel_settings_text(settings, KEEL_SETTING_CACHE_DIR);
    bool looks_up = settings->mode == KEEL_MODE_ON && settings->prefetch && *cache_dir;
    char folder[PATH_MAX], *script;
    keel_plan_t plan;
    if (!looks_up || run->rehearsal || run->nested || !settings->remotes.count) return;
    keel_status_t status =
        keel_host_script(command, getcwd(folder, sizeof folder) ? folder : "", &script);
    if (!status) {
        status = keel_plan_read(cache_dir, script, &plan);
        for (size_t i = 0; !status && !plan.count && i < settings->remotes.count; ++i) {
            keel_buffer_t answer;
            keel_buffer_initialize(&answer, KEEL_REMOTE_LINE);
            status = keel_remote_plan(settings, cache_dir, "ahead", i, script, &answer);
            keel_buffer_deinitialize(&answer);
        }
        keel_free(script);
    }
    keel_status_ignore(status); // the client says what is wrong with a remote
}

static keel_status_t run_processes(const command_run_t *run, char **command, cli_writes_t *writes,
                                   int *out_code, bool *out_started) {
    cli_processes_t processes = {.count = 1};
    cli_hosts_t hosts = {.folder = NULL};
    *out_started = false;
    if (run->rehearsal) KEEL_TRY(cli_count_processes(run->rehearsal, &processes.count));
    if (processes.count > 1) {
        cli_say_crowd(run->rehearsal, processes.count, run->quiet);
        processes.prepare = cli_set_process;
        processes.context = &hosts;
        KEEL_TRY(cli_hosts_begin(&run->rehearsal->target, run->id, &hosts));
    }
    // Of one host, the command itself may start the processes: a rank for each of a TPU's chips.
    if (run->rehearsal && processes.count == 1 &&
        run->rehearsal->target.platform == KEEL_TARGET_TPU) {
        processes.prepare = cli_set_ranks;
        processes.context = &hosts;
        KEEL_TRY(cli_hosts_begin(&run->rehearsal->target, run->id, &hosts));
    }
    if (run->rehearsal)
        cli_writes_begin(&run->settings, run->id, hosts.folder, run->plugin, writes);
    processes.view = writes->view;
    fetch_ahead(run, command);
    *out_code = cli_run_children(command, &processes, out_started);
    cli_hosts_end(&hosts);
    return NULL;
}

// Declares the options of a run.
static void declare(cli_call_t *call, command_run_t *run) {
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        bool holds = i == KEEL_SETTING_CONTRACT || i == KEEL_SETTING_ON_DRIFT ||
                     i == KEEL_SETTING_FREEZE_AFTER;
        bool rehearses = run->rehearsal || run->use;
        // A run that is recorded or checked is held to nothing.
        if ((!run->use || !holds) && (rehearses || i != KEEL_SETTING_WRITES))
            cli_setting(call, (keel_setting_t)i);
    }
    cli_switch(call, "--quiet", "print no summary, and nothing while the command runs",
               &run->quiet);
    cli_switch(call, "--lines", "have PyTorch/XLA record the source line of each operation",
               &run->lines);
    cli_text_or(call, "--fix", "[=NAME,...]", "all",
                "work around known client bugs, all or these (`keel fixes`)", &run->fixes);
}

static int no_command(const cli_call_t *call, const command_run_t *run) {
    cli_say("%s: no command; put it after --: keel %s -- python train.py", call->name,
            run->rehearsal ? "rehearse --on h200:8" : call->name);
    return CLI_USAGE;
}

static int go(const cli_call_t *call, char **words, command_run_t *run) {
    const char *quiet = getenv("KEEL_QUIET"), *above = getenv("KEEL_RUN_ID");
    run->quiet = run->quiet || (quiet && strcmp(quiet, "1") == 0);
    run->nested = above && *above;
    keel_status_t status = prepare(run, call, words);
    if (status) {
        release_run(run);
        return cli_fail(status);
    }
    bool started;
    keel_analysis_follower_t follower;
    const char *run_dir = keel_settings_text(&run->settings, KEEL_SETTING_RUN_DIR);
    cli_warn_t warn;
    cli_warn_initialize(&warn);
    bool warns = run->settings.warn && !run->quiet && !run->rehearsal;
    keel_analysis_follow(run_dir, run->id, warns ? &cli_warn_listener : NULL, &warn, &follower);
    int code;
    cli_writes_t writes = {.view = NULL};
    status = run_processes(run, words, &writes, &code, &started);
    cli_progress_begin("explaining the run's programs");
    keel_analysis_follow_end(&follower);
    cli_progress_end();
    cli_warn_deinitialize(&warn);
    if (status) code = cli_fail(status);
    cli_writes_keep_runs(&writes, run_dir);
    cli_ended_t ended = {.command = code};
    if (started) code = sum_up(run, code);
    if (started && code == CLI_OK && held_nothing(run)) code = CLI_UNSEEN;
    if (started) cli_writes_tell(&writes, run_dir, run->id, code, run->quiet);
    cli_writes_end(&writes);
    if (started && !run->nested) record_drift(run);
    ended.code = code;
    if (started && run->use) code = run->use->use(run->use->context, run_dir, run->id, &ended);
    if (started && !run->nested) cli_prune_after(&run->settings, run->quiet);
    release_run(run);
    return code;
}

int cli_run_command(cli_call_t *call, cli_rehearsal_t *rehearsal) {
    command_run_t run = {.rehearsal = rehearsal};
    int code;
    declare(call, &run);
    cli_text(call, "--json", "FILE",
             "afterwards, write what `keel stats --json` prints to FILE, with the exit code",
             &run.json_file);
    if (!cli_parse(call, 0, -1, &code)) return code;
    if (rehearsal && rehearsal->describe) return cli_describe_target(rehearsal->describe);
    if (!call->rest_count || !*call->rest[0]) return no_command(call, &run);
    if (rehearsal && !cli_check_rehearsal(call, rehearsal, &code)) return code;
    if (rehearsal && (!rehearsal->on || !*rehearsal->on))
        return cli_misuse(call, "no target; name one: --on h200:8");
    return go(call, call->rest, &run);
}

static int use_recorded(cli_call_t *call, const char *from, const cli_run_use_t *use) {
    keel_settings_t settings;
    char *id;
    int code;
    if (!cli_take_packs(call, &from, 1, NULL, &code)) return code;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    const char *run_dir = keel_settings_text(&settings, KEEL_SETTING_RUN_DIR);
    status = cli_check_folder(&settings, KEEL_SETTING_RUN_DIR);
    if (!status) status = keel_journal_find_run(run_dir, from, &id);
    code = status ? cli_fail(status)
                  : use->use(use->context, run_dir, id, &(cli_ended_t){CLI_OK, CLI_OK});
    if (!status) keel_free(id);
    keel_settings_deinitialize(&settings);
    return code;
}

int cli_run_or_recorded(cli_call_t *call, int most, const cli_run_use_t *use) {
    cli_rehearsal_t rehearsal = {.on = NULL};
    command_run_t run = {.use = use};
    const char *from = NULL;
    int code;
    char **words = call->arguments;
    while (*words && strcmp(*words, "--") != 0)
        ++words;
    bool has_command = *words != NULL;
    if (has_command) *words++ = NULL;
    cli_text(call, "--from", "RUN", "a recorded run, instead of a command", &from);
    cli_text(call, "--on", "TARGET", "rehearse the command on this device (`keel rehearse`)",
             &rehearsal.on);
    cli_text(call, "--compile", "all|new|none", "what a rehearsal compiles", &rehearsal.compiles);
    declare(call, &run);
    if (!cli_parse(call, most, most, &code)) return code;
    if (!use->check(use->context, call, &code)) return code;
    if (from && has_command)
        return cli_misuse(call, "--from %s and a command: use one of them", from);
    if (from) return use_recorded(call, from, use);
    if (!has_command || !*words || !**words)
        return cli_misuse(call, "no run; name one with --from, or put a command after --");
    if (rehearsal.compiles && !rehearsal.on)
        return cli_misuse(call, "--compile is for a rehearsal; add --on TARGET");
    if (rehearsal.on && !cli_check_rehearsal(call, &rehearsal, &code)) return code;
    run.rehearsal = rehearsal.on ? &rehearsal : NULL;
    // What the config file says about a contract would refuse the programs that are asked about.
    unsetenv("KEEL_CONTRACT");
    call->flags[KEEL_SETTING_ON_DRIFT] = "warn";
    call->flags[KEEL_SETTING_FREEZE_AFTER] = "0";
    code = go(call, words, &run);
    keel_target_deinitialize(&rehearsal.target);
    return code;
}

static const char details[] =
    "Output, terminal, signals and exit code are the command's own: 128 plus the number of a\n"
    "signal, 126 if it cannot be run, 127 if it is not found. Keel's own errors before it starts\n"
    "give 2 or 3. With --on-drift refuse or --freeze-after, 0 becomes 4 if the command asked for\n"
    "no program through Keel.\n\n"
    "Keel wraps the plugin that the command's Python would have used by itself: that of JAX's\n"
    "plugin packages, of JAX_PLATFORMS, PJRT_DEVICE or PJRT_LIBRARY_PATH. If that is the client's\n"
    "own CPU backend, JAX keeps its compiler, with Keel behind it (--jax-cpu), and PyTorch/XLA\n"
    "gets the embedded CPU plugin, as device LIBRARY. --plugin wraps another one.\n\n"
    "--lines sets XLA_IR_DEBUG and XLA_HLO_DEBUG, which slow tracing down; without it\n"
    "PyTorch/XLA's recompiles are explained without the lines of operations.\n\n"
    "A summary follows on stderr; `keel stats` has the rest.\n";

int cli_run(cli_call_t *call) {
    call->details = details;
    return cli_run_command(call, NULL);
}
