// How `keel smoke` runs the command: each run is a process of `keel run` or `keel rehearse`.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/smoke.h"
#include "history/history.h"
#include "journal/journal.h"

enum {
    MOST_WORDS = 4096,
    MOST_RUNS = 2 + SMOKE_MOST_VARIATIONS,
    FIGURES_LIMIT = 1 << 26, // bytes
};

// ---- signals -----------------------------------------------------------------------------------

// The runs end first, and then the folder is removed.
static volatile sig_atomic_t stopped;     // by this signal; 0: not
static volatile pid_t running[MOST_RUNS]; // 0: not started, or ended

static void stop(int number, siginfo_t *info, void *context) {
    (void)context;
    int error = errno;
    stopped = number;
    // si_code is positive if the kernel sent it: from the terminal, to the whole group.
    for (int i = 0; info->si_code <= 0 && i < MOST_RUNS; ++i)
        if (running[i] > 0) kill(running[i], number);
    errno = error;
}

static void take_signals(void) {
    static const int stops[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    struct sigaction action = {.sa_sigaction = stop, .sa_flags = SA_SIGINFO | SA_RESTART}, before;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; ++i)
        if (!sigaction(stops[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(stops[i], &action, NULL);
}

// ---- starting ----------------------------------------------------------------------------------

typedef struct words_t {
    char *list[MOST_WORDS];
    size_t count;
} words_t;

static void add_word(words_t *words, const char *word) {
    if (words->count + 1 < MOST_WORDS) words->list[words->count++] = (char *)(uintptr_t)word;
}

static void add_pair(words_t *words, const char *option, const char *value) {
    if (!value) return;
    add_word(words, option);
    add_word(words, value);
}

// What a script may do with a random order or with a flag of the shell is the same each time.
static void set_environment(const smoke_run_t *run) {
    setenv("KEEL_SMOKE", "1", 1);
    setenv("PYTHONHASHSEED", "0", 0);
    unsetenv("XLA_FLAGS");
    unsetenv("LIBTPU_INIT_ARGS");
    unsetenv("KEEL_RUN_ID"); // each is a run of its own
    unsetenv("KEEL_CONTRACT");
    if (smoke_is_named(run->variation, "flags"))
        setenv("XLA_FLAGS", smoke_value_of(run->variation), 1);
}

static void make_words(const smoke_t *smoke, const smoke_run_t *run, char *cache, char *rest,
                       words_t *words) {
    const char *on =
        smoke_is_named(run->variation, "on") ? smoke_value_of(run->variation) : smoke->on;
    bool is_devices = smoke_is_named(run->variation, "devices");
    bool is_own = is_devices || smoke_is_named(run->variation, "on") ||
                  smoke_is_named(run->variation, "flags");
    add_word(words, smoke->self);
    add_word(words, on ? "rehearse" : "run");
    add_pair(words, "--on", on);
    add_pair(words, "--compile", on ? "none" : NULL);
    add_word(words, "--quiet");
    add_pair(words, "--cache-dir", cache);
    add_pair(words, "--run-dir", smoke->run_dir);
    add_pair(words, "--plugin", smoke->plugin);
    add_pair(words, "--profile", "none");
    add_pair(words, "--mode", "on");
    add_pair(words, "--client-cache", "off");
    add_pair(words, "--cache-limit", "0");
    add_pair(words, "--on-drift", "warn"); // each program may come
    add_pair(words, "--freeze-after", "0");
    add_pair(words, "--cpu-devices", is_devices ? smoke_value_of(run->variation) : smoke->devices);
    add_pair(words, "--json", run->figures);
    add_word(words, "--");
    for (char **word = smoke->command; *word; ++word)
        add_word(words, *word);
    // The command's further arguments, word by word.
    for (char *word = is_own ? NULL : rest; word && *word;) {
        size_t length = strcspn(word, " ");
        char *next = word[length] ? word + length + 1 : NULL;
        word[length] = 0;
        if (*word) add_word(words, word);
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
        keel_strdup(keel_str(run->variation ? smoke_value_of(run->variation) : ""), &rest);
    if (!status) {
        make_words(smoke, run, cache, rest, &words);
        int error = spawn(smoke, run, words.list);
        if (!error) {
            running[run - smoke->runs] = run->pid;
            if (stopped) kill(run->pid, SIGTERM); // before its number was known
        } else {
            status = keel_status_make(KEEL_IO, "no process could be started: %s", strerror(error));
        }
        keel_free(rest);
    }
    keel_free(cache);
    return status;
}

// For `keel run`, which ends with the command's exit code, or with what it says of the run.
static int await(const smoke_t *smoke, const smoke_run_t *run) {
    int ended = 0;
    siginfo_t info;
    while (waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    running[run - smoke->runs] = 0; // while the number is still its own
    while (waitpid(run->pid, &ended, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : CLI_SIGNAL + WTERMSIG(ended);
}

// ---- what it asked for -----------------------------------------------------------------------

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
    keel_status_t status = keel_file_read(run->figures, FIGURES_LIMIT, &data, &size);
    if (status) {
        keel_status_ignore(status);
        return keel_status_make(
            KEEL_NOT_FOUND,
            "the command asked for no program through Keel, so nothing was checked");
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

// ---- the history -------------------------------------------------------------------------------

typedef struct copying_t {
    const char *from, *to;
} copying_t;

static keel_status_t copy_file(void *context, const char *name) {
    const copying_t *copying = context;
    char *from, *to = NULL;
    uint8_t *data;
    size_t size;
    KEEL_TRY(keel_path(&from, "%s/%s", copying->from, name));
    keel_status_t status = keel_path(&to, "%s/%s", copying->to, name);
    if (!status) status = keel_file_read(from, 2 * KEEL_HISTORY_FILE_LIMIT, &data, &size);
    if (!status) {
        status = keel_file_replace(to, keel_bytes(data, size));
        keel_free(data);
    }
    keel_free(to);
    keel_free(from);
    return status;
}

static keel_status_t copy_files(const char *from, const char *to) {
    KEEL_TRY(keel_directory_make(to));
    return keel_directory_walk(from, copy_file, &(copying_t){from, to});
}

// A variation is explained by the command as it is, and not by the variation before: the second run
// leaves the history that each of them finds.
static keel_status_t set_history(const smoke_t *smoke, size_t index) {
    char *history, *kept = NULL;
    if (index < 2) return NULL;
    KEEL_TRY(keel_path(&history, "%s/history", smoke->run_dir));
    keel_status_t status = keel_path(&kept, "%s/history", smoke->folder);
    if (!status) status = index == 2 ? copy_files(history, kept) : copy_files(kept, history);
    keel_free(kept);
    keel_free(history);
    return status;
}

// ---- all of them -------------------------------------------------------------------------------

// A plugin's digest takes a quarter of a second. It is not an entry, so it is looked up in the
// user's own cache folder, unless others can write there.
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

// Runs that go on at once are not compared with each other: one after the other they are.
static keel_status_t run_again(smoke_t *smoke, smoke_run_t *run) {
    contract_run_deinitialize(&run->run);
    run->has_run = false;
    keel_free(run->figures);
    run->figures = NULL;
    KEEL_TRY(start(smoke, run));
    await(smoke, run);
    return read_figures(smoke, run);
}

// The last member of the figures. Keel changes no code but 0; without figures it is the command's.
static cli_ended_t ended_of(const smoke_run_t *run, int code) {
    static const keel_str_t succeeded = KEEL_STR("\"exit_code\": 0}\n");
    uint8_t *data;
    size_t size;
    cli_ended_t out = {code, code};
    keel_status_t status = keel_file_read(run->figures, FIGURES_LIMIT, &data, &size);
    if (!status) {
        if (keel_str_ends(keel_bytes_str(keel_bytes(data, size)), succeeded)) out.command = CLI_OK;
        keel_free(data);
    }
    keel_status_ignore(status);
    return out;
}

// A rehearsal that may have ended early has asked for its programs all the same.
static bool has_failed(const smoke_t *smoke, const smoke_run_t *run) {
    bool is_early = smoke->on && run->ended.command == CLI_OK && run->ended.code == CLI_UNSEEN;
    return run->ended.code != CLI_OK && !is_early;
}

static void say_failed(const smoke_run_t *run) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    cli_ended_tell(&run->ended, &text);
    cli_say("%s", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
}

// Rehearsals compile and store nothing, so the first two go on at once.
static keel_status_t run_each(smoke_t *smoke, int *out_code) {
    for (size_t i = 0; i < smoke->count; ++i) {
        bool is_beside = smoke->on && i == 1;
        KEEL_TRY(set_history(smoke, i));
        if (!is_beside) KEEL_TRY(start(smoke, &smoke->runs[i]));
        if (smoke->on && i == 0) KEEL_TRY(start(smoke, &smoke->runs[1]));
        smoke->runs[i].ended = ended_of(&smoke->runs[i], await(smoke, &smoke->runs[i]));
        if (stopped) return NULL;
        bool failed = has_failed(smoke, &smoke->runs[i]);
        if (failed && smoke->runs[i].variation) continue; // the answer says so
        if (failed) {
            *out_code = smoke->runs[i].ended.code;
            say_failed(&smoke->runs[i]);
            return NULL;
        }
        KEEL_TRY(read_figures(smoke, &smoke->runs[i]));
        if (is_beside && smoke_count_other(smoke, &smoke->runs[1]))
            KEEL_TRY(run_again(smoke, &smoke->runs[1]));
    }
    return NULL;
}

keel_status_t smoke_run_all(smoke_t *smoke, int *out_code) {
    take_signals();
    KEEL_TRY(make_folder(smoke));
    keel_status_t status = run_each(smoke, out_code);
    for (size_t i = 0; i < smoke->count; ++i)
        if (running[i]) await(smoke, &smoke->runs[i]); // beside one that failed
    if (!status && stopped) *out_code = CLI_SIGNAL + stopped;
    return status;
}

void smoke_release(smoke_t *smoke) {
    for (size_t i = 0; i < smoke->count; ++i) {
        if (smoke->runs[i].has_run) contract_run_deinitialize(&smoke->runs[i].run);
        keel_free(smoke->runs[i].figures);
    }
    keel_free(smoke->self);
    if (smoke->folder) keel_status_ignore(cli_temporary_remove(smoke->folder));
    keel_free(smoke->folder);
    keel_free(smoke->run_dir);
}
