// keel smoke: a command runs twice, and the second time must compile nothing. Variations of it show
// what changes which program.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/contract.h"
#include "explain/cause.h"
#include "journal/journal.h"
#include "text/write.h"

enum { MOST_VARIATIONS = 16, MOST_WORDS = 4096 };

// One run of the command.
typedef struct smoke_run_t {
    const char *variation; // "batch=--batch 4"; NULL: none
    char *figures;         // file that `keel run --json` writes
    pid_t pid;
    bool has_run;
    contract_run_t run;
} smoke_run_t;

typedef struct smoke_t {
    cli_call_t *call;
    const char *on, *plugin, *devices;
    bool json;
    char **command;
    // The smoke test's own, so that what earlier runs had does not count; or the one that was
    // named.
    char *run_dir;
    char *folder; // of this smoke test alone; NULL before it is made
    char *self;
    smoke_run_t runs[2 + MOST_VARIATIONS]; // first, second, variations
    size_t count;
} smoke_t;

// ---- starting ----------------------------------------------------------------------------------

typedef struct words_t {
    char *list[MOST_WORDS];
    size_t count;
} words_t;

static void add(words_t *words, const char *word) {
    if (words->count + 1 < MOST_WORDS) words->list[words->count++] = (char *)(uintptr_t)word;
}

static void add_pair(words_t *words, const char *option, const char *value) {
    if (!value) return;
    add(words, option);
    add(words, value);
}

static bool is_named(const char *variation, const char *name) {
    size_t size = strlen(name);
    return variation && strncmp(variation, name, size) == 0 && variation[size] == '=';
}

static const char *value_of(const char *variation) {
    return strchr(variation, '=') + 1;
}

// What a script may do with a random order or with a flag of the shell is the same each time.
static void set_environment(const smoke_run_t *run) {
    setenv("KEEL_SMOKE", "1", 1);
    setenv("PYTHONHASHSEED", "0", 0);
    unsetenv("XLA_FLAGS");
    unsetenv("LIBTPU_INIT_ARGS");
    unsetenv("KEEL_RUN_ID"); // each is a run of its own
    unsetenv("KEEL_CONTRACT");
    if (is_named(run->variation, "flags")) setenv("XLA_FLAGS", value_of(run->variation), 1);
}

static void make_words(const smoke_t *smoke, const smoke_run_t *run, char *cache, char *rest,
                       words_t *words) {
    const char *on = is_named(run->variation, "on") ? value_of(run->variation) : smoke->on;
    bool is_devices = is_named(run->variation, "devices");
    bool is_own = is_devices || is_named(run->variation, "on") || is_named(run->variation, "flags");
    add(words, smoke->self);
    add(words, on ? "rehearse" : "run");
    add_pair(words, "--on", on);
    add_pair(words, "--compile", on ? "none" : NULL);
    add(words, "--quiet");
    add_pair(words, "--cache-dir", cache);
    add_pair(words, "--run-dir", smoke->run_dir);
    add_pair(words, "--plugin", smoke->plugin);
    add_pair(words, "--profile", "none");
    add_pair(words, "--on-drift", "warn"); // each program may come
    add_pair(words, "--freeze-after", "0");
    add_pair(words, "--cpu-devices", is_devices ? value_of(run->variation) : smoke->devices);
    add_pair(words, "--json", run->figures);
    add(words, "--");
    for (char **word = smoke->command; *word; ++word)
        add(words, *word);
    // The command's further arguments, word by word.
    for (char *word = is_own ? NULL : rest; word && *word;) {
        size_t length = strcspn(word, " ");
        char *next = word[length] ? word + length + 1 : NULL;
        word[length] = 0;
        if (*word) add(words, word);
        word = next;
    }
}

// Only the first run's output is shown; with --json that goes to stderr.
static int route_output(const smoke_t *smoke, const smoke_run_t *run,
                        posix_spawn_file_actions_t *actions) {
    if (run != smoke->runs)
        return posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    return smoke->json ? posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO)
                       : 0;
}

static int spawn(const smoke_t *smoke, smoke_run_t *run, char **words) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = route_output(smoke, run, &actions);
    set_environment(run);
    if (!error) error = posix_spawn(&run->pid, smoke->self, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static keel_status_t start(smoke_t *smoke, smoke_run_t *run) {
    char *cache, *rest;
    words_t words = {.count = 0};
    KEEL_TRY(keel_path(&run->figures, "%s/figures-%zu.json", smoke->folder,
                       (size_t)(run - smoke->runs)));
    KEEL_TRY(keel_path(&cache, "%s/cache", smoke->folder));
    keel_status_t status =
        keel_strdup(keel_str(run->variation ? value_of(run->variation) : ""), &rest);
    if (!status) {
        make_words(smoke, run, cache, rest, &words);
        int error = spawn(smoke, run, words.list);
        if (error)
            status = keel_status_make(KEEL_IO, "no process could be started: %s", strerror(error));
        keel_free(rest);
    }
    keel_free(cache);
    return status;
}

// The exit code of the command.
static int await(smoke_run_t *run) {
    int ended = 0;
    while (waitpid(run->pid, &ended, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : CLI_SIGNAL + WTERMSIG(ended);
}

// ---- what they asked for -----------------------------------------------------------------------

// The first member of what `keel stats --json` prints.
static void take_id(keel_str_t figures, char out[KEEL_RUN_ID_SIZE]) {
    static const char member[] = "\"id\": \"";
    size_t skipped = sizeof member - 1;
    const char *id = memmem(figures.data, figures.size, member, skipped);
    *out = 0;
    if (!id) return;
    size_t left = figures.size - (size_t)(id - figures.data) - skipped;
    const char *end = memchr(id + skipped, '"', left);
    if (end)
        snprintf(out, KEEL_RUN_ID_SIZE, "%.*s", (int)(end - id - (ptrdiff_t)skipped), id + skipped);
}

static keel_status_t read_figures(const smoke_t *smoke, smoke_run_t *run) {
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_file_read(run->figures, 1 << 26, &data, &size);
    if (status) {
        keel_status_ignore(status);
        return keel_status_make(
            KEEL_NOT_FOUND, "nothing was recorded: the command started no XLA client that loads "
                            "Keel; see `keel run --help`");
    }
    char name[KEEL_RUN_ID_SIZE];
    take_id(keel_bytes_str(keel_bytes(data, size)), name);
    keel_free(data);
    if (!keel_journal_is_id(name))
        return keel_status_make(KEEL_INTERNAL, "%s: no run is named there", run->figures);
    KEEL_TRY(contract_run_read(smoke->run_dir, name, &run->run));
    run->has_run = true;
    return NULL;
}

static bool has_key(const contract_run_t *run, const char *key) {
    for (size_t i = 0; i < run->count; ++i)
        if (strcmp(run->programs[i].key, key) == 0) return true;
    return false;
}

// Whether the program is one that the first run did not have, or that cannot be kept. A rehearsal
// compiles nothing, so only the first counts there.
static bool is_again(const smoke_t *smoke, const contract_program_t *program) {
    const keel_run_request_t *request = program->request;
    if (!has_key(&smoke->runs[0].run, program->key)) return true;
    return !smoke->on && request && !request->is_load;
}

static bool is_other(const smoke_t *smoke, const smoke_run_t *run,
                     const contract_program_t *program) {
    const contract_run_t *first = &smoke->runs[0].run;
    if (!run->variation) return is_again(smoke, program);
    if (program->is_operation) return false;
    // Another number of devices changes each key, but not each program.
    for (size_t i = 0; i < first->count; ++i)
        if (keel_fingerprint_equal(&first->programs[i].asked.fingerprint,
                                   &program->asked.fingerprint) &&
            keel_fingerprint_equal(&first->programs[i].asked.options, &program->asked.options))
            return false;
    return true;
}

static size_t count_other(const smoke_t *smoke, const smoke_run_t *run) {
    size_t count = 0;
    for (size_t i = 0; i < run->run.count; ++i)
        count += is_other(smoke, run, &run->run.programs[i]);
    return count;
}

static size_t count_looked_at(const smoke_run_t *run) {
    size_t count = 0;
    for (size_t i = 0; i < run->run.count; ++i)
        count += !run->variation || !run->run.programs[i].is_operation;
    return count;
}

// ---- the answer --------------------------------------------------------------------------------

// Without a cause: what differs from the first run's nearest program.
static keel_status_t tell_nearest(const smoke_t *smoke, const contract_program_t *program,
                                  keel_buffer_t *out) {
    keel_contract_t contract;
    keel_contract_nearest_t nearest;
    keel_arena_t arena;
    KEEL_TRY(contract_of_run(&smoke->runs[0].run, true, NULL, &contract));
    keel_arena_initialize(&arena, 0);
    keel_status_t status =
        keel_contract_nearest(&contract, &program->asked, NULL, &arena, &nearest);
    bool is_known = has_key(&smoke->runs[0].run, program->key);
    if (is_known)
        keel_buffer_text(out, "it cannot be kept, so each run compiles it");
    else if (!status)
        keel_contract_tell(&program->asked, &nearest, "the first run", out);
    keel_arena_deinitialize(&arena);
    keel_contract_deinitialize(&contract);
    return status;
}

static keel_status_t tell_program(const smoke_t *smoke, const contract_program_t *program,
                                  keel_buffer_t *out) {
    const keel_run_difference_t *root = contract_cause(program->entry);
    const keel_run_place_t *place = root               ? keel_why_place(program->entry)
                                    : program->request ? &program->request->site
                                                       : NULL;
    keel_buffer_text(out, "  ");
    keel_write_foreign_str(out,
                           keel_contract_short_name(program->asked.name, program->asked.function));
    if (root) keel_buffer_format(out, "  %s", keel_cause_facts(root->kind)->word);
    keel_buffer_text(out, "  ");
    keel_write_foreign(out, place && *place->shown ? place->shown : "unknown line");
    keel_buffer_text(out, "  ");
    if (!root) {
        KEEL_TRY(tell_nearest(smoke, program, out));
    } else {
        keel_write_foreign(out, root->subject);
        bool has_values = *root->old_value || *root->new_value;
        keel_buffer_text(out, has_values ? "  " : "");
        keel_write_foreign(out, root->old_value);
        keel_buffer_text(out, has_values ? " -> " : "");
        keel_write_foreign(out, root->new_value);
    }
    keel_buffer_byte(out, '\n');
    return keel_buffer_status(out);
}

static keel_status_t tell_run(const smoke_t *smoke, const smoke_run_t *run, keel_buffer_t *out) {
    size_t other = count_other(smoke, run);
    if (run->variation) {
        keel_buffer_text(out, "vary ");
        keel_write_foreign(out, run->variation);
        keel_buffer_format(out, ": %zu of ", other);
        keel_write_counted(out, count_looked_at(run), "program");
        keel_buffer_format(out, " %s\n", other == 1 ? "is another one" : "are others");
    } else {
        keel_buffer_text(out, "smoke: ");
        keel_write_counted(out, smoke->runs[0].run.count, "program");
        if (other)
            keel_buffer_format(out, "; the second run %s %zu\n",
                               smoke->on ? "asked for others:" : "compiled", other);
        else
            keel_buffer_format(out, "; the second run %s\n",
                               smoke->on ? "asked for the same" : "compiled nothing");
    }
    for (size_t i = 0; i < run->run.count; ++i)
        if (is_other(smoke, run, &run->run.programs[i]))
            KEEL_TRY(tell_program(smoke, &run->run.programs[i], out));
    return NULL;
}

static keel_status_t json_program(const smoke_t *smoke, const contract_program_t *program,
                                  keel_json_t *json) {
    const keel_run_difference_t *root = contract_cause(program->entry);
    const keel_run_place_t *place = root               ? keel_why_place(program->entry)
                                    : program->request ? &program->request->site
                                                       : NULL;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    if (!root) {
        keel_status_t status = tell_nearest(smoke, program, &text);
        if (status) {
            keel_buffer_deinitialize(&text);
            return status;
        }
    }
    keel_json_break(json, "\n  ");
    keel_json_object(json, NULL);
    keel_json_str(json, "name", program->asked.name);
    keel_json_str(json, "function", program->asked.function);
    keel_json_string(json, "program", program->program);
    keel_json_string(json, "kind", root ? keel_cause_facts(root->kind)->word : "");
    keel_json_string(json, "subject", root ? root->subject : "");
    keel_json_string(json, "old", root ? root->old_value : "");
    keel_json_string(json, "new", root ? root->new_value : "");
    keel_json_string(json, "note", keel_buffer_cstr(&text));
    keel_json_string(json, "file", place && place->file ? place->file : "");
    keel_json_unsigned(json, "line", place ? place->line : 0);
    keel_json_end_object(json);
    keel_buffer_deinitialize(&text);
    return NULL;
}

static keel_status_t write_json(const smoke_t *smoke, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_bool(&json, "holds", count_other(smoke, &smoke->runs[1]) == 0);
    keel_json_unsigned(&json, "programs", smoke->runs[0].run.count);
    keel_json_array(&json, "runs");
    for (size_t i = 0; i < smoke->count; ++i) {
        const smoke_run_t *run = &smoke->runs[i];
        keel_json_break(&json, "\n ");
        keel_json_object(&json, NULL);
        keel_json_string(&json, "run", run->run.why.run.id);
        keel_json_string(&json, "variation", run->variation ? run->variation : "");
        keel_json_unsigned(&json, "programs", count_looked_at(run));
        keel_json_array(&json, "others");
        for (size_t k = 0; i && k < run->run.count; ++k)
            if (is_other(smoke, run, &run->run.programs[k]))
                KEEL_TRY(json_program(smoke, &run->run.programs[k], &json));
        keel_json_end_array(&json);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
    keel_json_end_object(&json);
    return keel_buffer_status(out);
}

static int answer(const smoke_t *smoke) {
    keel_buffer_t out;
    keel_status_t status = NULL;
    keel_buffer_initialize(&out, 0);
    if (smoke->json) status = write_json(smoke, &out);
    for (size_t i = 1; !smoke->json && !status && i < smoke->count; ++i)
        status = tell_run(smoke, &smoke->runs[i], &out);
    if (status) {
        keel_buffer_deinitialize(&out);
        return cli_fail(status);
    }
    int code = cli_answer(&out);
    return code == CLI_OK && count_other(smoke, &smoke->runs[1]) ? CLI_NO : code;
}

// ---- all of it ---------------------------------------------------------------------------------

// A plugin's digest takes a quarter of a second. It is no entry, so it is looked up in the user's
// own cache folder, unless others can write there.
static keel_status_t share_digests(const smoke_t *smoke) {
    keel_settings_t settings;
    char *digests, *link = NULL;
    KEEL_TRY(keel_settings_load(smoke->call->flags, &settings));
    keel_status_t status = cli_digests_folder(&settings, &digests);
    keel_settings_deinitialize(&settings);
    if (status || !digests) return status;
    status = keel_directory_make(digests);
    if (!status) status = keel_directory_check_owner(digests);
    if (!status) status = keel_path(&link, "%s/cache", smoke->folder);
    if (!status) status = keel_directory_make(link);
    keel_free(link);
    link = NULL;
    if (!status) status = keel_path(&link, "%s/cache/plugins", smoke->folder);
    if (!status) status = keel_link_make(digests, link);
    keel_free(link);
    keel_free(digests);
    return status;
}

static keel_status_t make_folder(smoke_t *smoke) {
    char real[4096];
    const char *named = smoke->call->flags[KEEL_SETTING_RUN_DIR];
    ssize_t length = readlink("/proc/self/exe", real, sizeof real - 1);
    if (length < 0)
        return keel_status_make(KEEL_INTERNAL, "/proc/self/exe: cannot be read; is /proc mounted?");
    KEEL_TRY(keel_strdup((keel_str_t){real, (size_t)length}, &smoke->self));
    KEEL_TRY(cli_temporary_make("smoke", &smoke->folder));
    keel_status_ignore(share_digests(smoke)); // then each run computes it
    return named ? keel_strdup(keel_str(named), &smoke->run_dir)
                 : keel_path(&smoke->run_dir, "%s/runs", smoke->folder);
}

static void release(smoke_t *smoke) {
    for (size_t i = 0; i < smoke->count; ++i) {
        if (smoke->runs[i].has_run) contract_run_deinitialize(&smoke->runs[i].run);
        keel_free(smoke->runs[i].figures);
    }
    keel_free(smoke->self);
    if (smoke->folder) keel_status_ignore(cli_temporary_remove(smoke->folder));
    keel_free(smoke->folder);
    keel_free(smoke->run_dir);
}

// Runs that go on at once are not compared with each other: one after the other they are.
static keel_status_t run_again(smoke_t *smoke, smoke_run_t *run) {
    contract_run_deinitialize(&run->run);
    run->has_run = false;
    keel_free(run->figures);
    run->figures = NULL;
    KEEL_TRY(start(smoke, run));
    await(run);
    return read_figures(smoke, run);
}

// Rehearsals compile and store nothing, so the first two go on at once.
static keel_status_t run_all(smoke_t *smoke, int *out_code) {
    for (size_t i = 0; i < smoke->count; ++i) {
        bool is_beside = smoke->on && i == 1;
        if (!is_beside) KEEL_TRY(start(smoke, &smoke->runs[i]));
        if (smoke->on && i == 0) KEEL_TRY(start(smoke, &smoke->runs[1]));
        *out_code = await(&smoke->runs[i]);
        if (*out_code != CLI_OK && smoke->on && i == 0) await(&smoke->runs[1]);
        if (*out_code != CLI_OK) {
            cli_say("the command ended with exit code %d%s%s", *out_code,
                    smoke->runs[i].variation ? " with " : "",
                    smoke->runs[i].variation ? smoke->runs[i].variation : "");
            return NULL;
        }
        KEEL_TRY(read_figures(smoke, &smoke->runs[i]));
        if (is_beside && count_other(smoke, &smoke->runs[1]))
            KEEL_TRY(run_again(smoke, &smoke->runs[1]));
    }
    return NULL;
}

// Said once, and not by each run.
static keel_status_t check_target(const char *on) {
    keel_target_t target;
    if (!on) return NULL;
    keel_status_t status = keel_target_read(on, &target);
    keel_target_deinitialize(&target);
    return status;
}

static int smoke_all(smoke_t *smoke) {
    int code = CLI_OK;
    keel_status_t status = check_target(smoke->on);
    if (!status) status = make_folder(smoke);
    if (!status) status = run_all(smoke, &code);
    if (status) return cli_fail(status);
    return code == CLI_OK ? answer(smoke) : code;
}

// Takes each --vary out of the words before the command; it may stand several times.
static bool take_variations(smoke_t *smoke, int *out_code) {
    char **kept = smoke->call->arguments, **word = kept;
    while (*word) {
        bool is_joined = strncmp(*word, "--vary=", 7) == 0;
        if (!is_joined && strcmp(*word, "--vary") != 0) {
            *kept++ = *word++;
            continue;
        }
        const char *spec = is_joined ? *word + 7 : word[1];
        const char *equals = spec ? strchr(spec, '=') : NULL;
        if (!equals || equals == spec || smoke->count == 2 + MOST_VARIATIONS) {
            *out_code = cli_misuse(smoke->call, smoke->count == 2 + MOST_VARIATIONS
                                                    ? "--vary: too many variations"
                                                    : "--vary: write NAME=ARGS, as in "
                                                      "--vary 'batch=-b 4'");
            return false;
        }
        smoke->runs[smoke->count++].variation = spec;
        word += is_joined ? 1 : 2;
    }
    *kept = NULL;
    return true;
}

static const char details[] =
    "The second run must compile nothing: then another process asks for the same programs. Both\n"
    "have an empty cache and folder of runs, no XLA_FLAGS and LIBTPU_INIT_ARGS, PYTHONHASHSEED=0, "
    "and\n"
    "KEEL_SMOKE=1, by which a script may do less. With --on both are rehearsed, at once, without "
    "a\n"
    "device; then the second must ask for the same programs.\n\n"
    "--vary runs the command once more with ARGS behind its own, and tells which programs are\n"
    "others, and why. NAME is for the answer, except: flags=FLAGS sets XLA_FLAGS, devices=N the\n"
    "number of processors, on=TARGET the target. It may be given several times.\n\n"
    "The exit code is 1 if the second run compiled something, or else that of a command that "
    "failed.\n";

int cli_smoke(cli_call_t *call) {
    smoke_t smoke = {.call = call, .count = 2};
    const char *vary = NULL;
    int code;
    char **words = call->arguments;
    while (*words && strcmp(*words, "--") != 0)
        ++words;
    if (*words) *words++ = NULL;
    call->details = details;
    if (!take_variations(&smoke, &code)) return code;
    cli_text(call, "--on", "TARGET", "rehearse on this device (`keel rehearse`)", &smoke.on);
    cli_text(call, "--vary", "NAME=ARGS", "run once more with these arguments too", &vary);
    cli_switch(call, "--json", "print JSON", &smoke.json);
    cli_setting(call, KEEL_SETTING_PLUGIN);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    cli_setting(call, KEEL_SETTING_CPU_DEVICES);
    if (!cli_parse(call, 0, 0, &code)) return code;
    if (!*words || !**words)
        return cli_misuse(call, "no command; put it after --: keel smoke -- python train.py");
    smoke.command = words;
    smoke.plugin = call->flags[KEEL_SETTING_PLUGIN];
    smoke.devices = call->flags[KEEL_SETTING_CPU_DEVICES];
    code = smoke_all(&smoke);
    release(&smoke);
    return code;
}
