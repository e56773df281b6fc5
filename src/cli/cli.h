// cli: the terminal door, `keel`. main.c picks the subcommand; each has a file of its own.
//
// A subcommand declares its options, then parses: help, errors and parser come from the same
// declarations, so they cannot disagree. Answers go to stdout, everything else to stderr. Color is
// only for terminals, never the only sign of anything, and NO_COLOR turns it off.
//
// Threads: one, besides those of the progress line (progress.c) and the time limit (limit.c).
#ifndef KEEL_CLI_CLI_H_
#define KEEL_CLI_CLI_H_

#include <stdio.h>

#include "base/base.h"
#include "key/key.h"
#include "settings/settings.h"
#include "target/target.h"

struct json_t;

// name, usage after it, sentence
#define CLI_COMMANDS(X)                                                                            \
    X(run, "[OPTION]... [--] CMD [ARG]...",                                                        \
      "run a command with its XLA compiles going through Keel")                                    \
    X(rehearse, "--on TARGET [OPTION]... [--] CMD [ARG]...",                                       \
      "run a command against a device that is not there")                                          \
    X(aot, "--on TARGET [OPTION]... RUN|FILE...",                                                  \
      "compile recorded programs for a device that is not there")                                  \
    X(replay, "[OPTION]... RUN",                                                                   \
      "compile and run a run's programs again, to see what another plugin would change")           \
    X(pack, "[OPTION]... RUN -o FILE",                                                             \
      "write a run as one file, which commands take in place of a run")                            \
    X(runs, "[OPTION]... [prune]", "list recorded runs, or remove old ones")                       \
    X(stats, "[OPTION]... [RUN]", "show what a run compiled, loaded and recompiled, by line")      \
    X(why, "[OPTION]... [RUN]", "explain recompiles: what changed, where, what to do")             \
    X(explain, "[OPTION]... [CAUSE]",                                                              \
      "describe a cause: how it happens, what to do, how to check that it is gone")                \
    X(lint, "[OPTION]... FILE...",                                                                 \
      "find in model code, without running it, what will recompile or make the host wait")         \
    X(memory, "[OPTION]... [RUN|PROGRAM]",                                                         \
      "show how much device memory programs need and devices used")                                \
    X(report, "[OPTION]... [RUN]", "write a run as one page: recompiles, their causes and costs")  \
    X(show, "[OPTION]... FILE|PROGRAM", "print a program")                                         \
    X(key, "[OPTION]... FILE|PROGRAM [FILE|PROGRAM]",                                              \
      "show what a program's key is made of, or whether two programs share one")                   \
    X(diff, "[OPTION]... A B", "explain how two programs or two runs differ")                      \
    X(contract, "show|diff|record|update|check [OPTION]...",                                       \
      "pin the programs that a run may ask for, in a file for review")                             \
    X(smoke, "[OPTION]... [--] CMD [ARG]...",                                                      \
      "run a command twice: the second time must compile nothing")                                 \
    X(bundle, "[OPTION]... [diff A B]",                                                            \
      "record everything that an installation depends on, or compare two")                         \
    X(cache,                                                                                       \
      "ls|stat|verify|prune|clear|path|remotes|push|pull|sync|export|import|keygen|trust|"         \
      "untrust|keys [OPTION]...",                                                                  \
      "manage the stored programs, and share them")                                                \
    X(fixes, "[OPTION]...", "list the client bugs that `keel run --fix` works around")             \
    X(probe, "[OPTION]... [PLUGIN]",                                                               \
      "check an installation: load the plugin and use it step by step")                            \
    X(config, "[OPTION]...", "show each setting and where it comes from")                          \
    X(version, "[OPTION]...", "print Keel's version and the PJRT API it was built for")            \
    X(help, "[CMD [PART]]", "explain a command")

// Exit codes.
typedef enum cli_exit {
    CLI_OK = 0,
    CLI_NO = 1,      // the answer is no: keys differ, something is damaged
    CLI_USAGE = 2,   // usage, or input that cannot be used
    CLI_FAILURE = 3, // Keel itself failed
    CLI_UNSEEN = 4,  // no answer: not all could be checked, or there was nothing to check
    CLI_NOT_RUNNABLE = 126,
    CLI_NOT_FOUND = 127,
    CLI_SIGNAL = 128, // plus the signal's number
} cli_exit_t;

// ---- options.c ---------------------------------------------------------------------------------

typedef struct cli_option_t {
    const char *name;     // "--json"
    const char *argument; // "FILE"; NULL for a switch
    const char *sentence;
    const char **text; // takes the argument
    const char *alone; // what a bare option means; its argument then needs "="
    bool *given;       // for a switch
} cli_option_t;

enum { CLI_OPTIONS = 40 };

typedef struct cli_call_t {
    const char *name;     // "run"; "cache ls"
    const char *usage;    // "[OPTION]... -- CMD"
    const char *sentence; // what it does
    const char *details;  // further text for --help, ending in a newline; NULL: none
    char **arguments;     // the words after the subcommand; NULL-terminated
    cli_option_t options[CLI_OPTIONS];
    size_t option_count;
    const char *flags[KEEL_SETTING_COUNT]; // for keel_settings_load
    char **rest;                           // positional arguments, NULL-terminated
    int rest_count;
} cli_call_t;

// Declare options. `sentence` ends without a full stop.
void cli_switch(cli_call_t *call, const char *name, const char *sentence, bool *given);
void cli_text(cli_call_t *call, const char *name, const char *argument, const char *sentence,
              const char **text);
// `argument`, such as "[=NAME]", may be left out; then it is `alone`.
void cli_text_or(cli_call_t *call, const char *name, const char *argument, const char *alone,
                 const char *sentence, const char **text);
void cli_setting(cli_call_t *call, keel_setting_t setting);

// Parses; from `least` to `most` positional arguments are allowed (`most` -1: any number, and
// parsing ends at the first). False if there is nothing more to do: return *out_code.
bool cli_parse(cli_call_t *call, int least, int most, int *out_code);

// ---- output.c ----------------------------------------------------------------------------------

// "keel: <message>" on stderr; control bytes, which may come from a foreign file, as "\x1b".
void cli_say(const char *format, ...) KEEL_PRINTF(1, 2);
// The same for a status. Frees it and returns the exit code for it.
int cli_fail(keel_status_t status);
// The same for a usage error; the message ends with a pointer to the help.
int cli_misuse(const cli_call_t *call, const char *format, ...) KEEL_PRINTF(2, 3);
// Prints to stdout, and adds a newline if there is none. Frees the buffer. CLI_OK, or CLI_FAILURE
// after saying why.
int cli_answer(keel_buffer_t *buffer);
// Whether output there may be colored: a terminal that can show it, without NO_COLOR.
bool cli_is_colored(FILE *stream);
// Columns of the terminal; 0 if it is not one: then nothing is wrapped or cut.
unsigned cli_width(FILE *stream);

// ---- prune.c -----------------------------------------------------------------------------------

enum { CLI_KEPT_RUNS = 20 }; // the newest, whatever their age
// keel runs prune
int cli_runs_prune(cli_call_t *call);
// After a run: removes the runs that the settings do not keep; says so unless `quiet`.
void cli_prune_after(const keel_settings_t *settings, bool quiet);

// ---- input.c -----------------------------------------------------------------------------------

// The folder that remembers digests of plugins; *out is NULL if there is no cache folder.
keel_status_t cli_digests_folder(const keel_settings_t *settings, char **out) KEEL_MUST_CHECK;

// A file that the user named; as keel_file_read, with messages that say what to do.
keel_status_t cli_read_file(const char *path, uint8_t **out, size_t *out_size) KEEL_MUST_CHECK;
// Whether a file can be written there, before the work that it is for: KEEL_INVALID if something
// else is there, KEEL_NOT_FOUND without a folder for it, KEEL_IO if that cannot be written.
keel_status_t cli_check_output(const char *path) KEEL_MUST_CHECK;
// Writes the text there, completely or not at all, and deinitializes it.
keel_status_t cli_write_output(const char *path, keel_buffer_t *text) KEEL_MUST_CHECK;
// Sets the components of a key that come from compile options; `path` is for the message.
keel_status_t cli_key_options(keel_bytes_t options, unsigned backends, const char *path,
                              keel_key_t *key) KEEL_MUST_CHECK;
// Sets a component as a journal's event has it, its digest and its text; without one it stays.
keel_status_t cli_key_component(const struct json_t *event, keel_component_t component,
                                keel_key_t *key) KEEL_MUST_CHECK;
// KEEL_INVALID if the setting's folder exists but is not a folder.
keel_status_t cli_check_folder(const keel_settings_t *settings,
                               keel_setting_t which) KEEL_MUST_CHECK;

// ---- temporary.c -------------------------------------------------------------------------------

// A new folder of this command's, below TMPDIR: "keel-<what>-<id>". The caller frees its path.
keel_status_t cli_temporary_make(const char *what, char **out) KEEL_MUST_CHECK;
// With all that is in it; does not follow links.
keel_status_t cli_temporary_remove(const char *folder) KEEL_MUST_CHECK;

// ---- packs.c -----------------------------------------------------------------------------------

// If one of `texts` is a file of `keel pack`, it is unpacked into a folder of this process's, which
// becomes the call's run_dir, and its run's id takes its place; runs beside it are brought there
// too. The folder is removed when the process exits. Call it before the settings are loaded. False
// after saying why: return *out_code. *out_unpacked may be NULL.
bool cli_take_packs(cli_call_t *call, const char **texts, int count, bool *out_unpacked,
                    int *out_code);
// The same for the positional arguments.
bool cli_take_packed_runs(cli_call_t *call, bool *out_unpacked, int *out_code);

// ---- progress.c --------------------------------------------------------------------------------

// Makes sure that each program of the run is explained. Reports a failure; the command goes on
// without explanations.
void cli_analyze(const char *run_dir, const char *id);

// Says on a terminal, after 2 s and then every second, that `what` is still running.
void cli_progress_begin(const char *what);
void cli_progress_end(void);

// ---- limit.c -----------------------------------------------------------------------------------

// Until cli_limit_end, this thread may take so many seconds for each thing it looks at. After that
// the process names what it waited for, as `command`, and exits with CLI_FAILURE.
void cli_limit_begin(const char *command, unsigned seconds);
// What the thread looks at from now on; NULL: what follows has a limit of its own.
void cli_limit_at(const char *path);
void cli_limit_end(void);
// The value of --timeout. False if it is invalid: return *out_code.
bool cli_read_seconds(const cli_call_t *call, const char *text, unsigned *out_seconds,
                      int *out_code);

// ---- programs.c --------------------------------------------------------------------------------

// A program's bytes, from a file (also a compressed one of run_dir), from standard input ("-"), or
// from run_dir by digest, its beginning, or the module name in the newest run.
typedef struct cli_program_t {
    char *label; // the path it came from
    uint8_t *data;
    size_t size;
} cli_program_t;
keel_status_t cli_program_open(const char *text, const char *run_dir,
                               cli_program_t *out) KEEL_MUST_CHECK;
void cli_program_close(cli_program_t *program);
// What keel_read said about it, as a line for the user.
keel_status_t cli_program_explain(const cli_program_t *program,
                                  keel_status_t status) KEEL_MUST_CHECK;

// ---- why_first.c --------------------------------------------------------------------------------

// `keel why --first`: the exit code.
int cli_why_first(const char *run_dir, const char *run, bool json, bool all);

// ---- elf.c, environment.c, interpreter.c: the parts of `keel run` ------------------------------

// KEEL_INVALID, with one line, if the file cannot be a PJRT plugin for this machine.
keel_status_t cli_check_plugin(const char *path) KEEL_MUST_CHECK;

// If `plugin` is Keel's own library: the plugin that it wraps when a client loads it here; the
// caller frees it. Otherwise NULL.
keel_status_t cli_find_wrapped(const char *plugin, const char *interpreter,
                               char **out) KEEL_MUST_CHECK;
// A plugin that is to compile must be a different one than Keel's own library.
keel_status_t cli_refuse_own(const char *plugin) KEEL_MUST_CHECK;

// libkeel_pjrt.so beside this program, in the build and installed; the caller frees it.
keel_status_t cli_find_library(char **out) KEEL_MUST_CHECK;
// Sets this process's environment so that XLA clients in children load `library`, which wraps
// `plugin`; in a Python that would use another plugin by itself, that one (python/keel/doors.py).
// `lines`: operations of PyTorch/XLA carry their source lines. Without the package, JAX is always
// put on `plugin`.
keel_status_t cli_set_environment(const keel_settings_t *settings, const char *plugin,
                                  const char *library, const char *run_id,
                                  bool lines) KEEL_MUST_CHECK;
// target.c: KEEL_INVALID, in one line, if the target's compiler refuses it.
keel_status_t cli_check_target(const keel_target_t *target, const char *plugin) KEEL_MUST_CHECK;
// Afterwards: makes those clients rehearse on the target, whose plugin that is.
typedef struct cli_rehearsal_t {
    const char *on;        // as the user named the target
    const char *compiles;  // "new"; NULL: the default
    const char *fill;      // "zeros"; likewise
    const char *processes; // how many to start; NULL: all of the target
    const char *describe;  // a target to print; NULL: none
    keel_target_t target;
} cli_rehearsal_t;
keel_status_t cli_set_rehearsal(const cli_rehearsal_t *rehearsal, const char *plugin,
                                const char *library) KEEL_MUST_CHECK;
// hosts.c: how many processes to start. KEEL_INVALID if there are too many.
keel_status_t cli_count_processes(const cli_rehearsal_t *rehearsal, uint32_t *out) KEEL_MUST_CHECK;
// Says so if there are many more of them than processors.
void cli_say_crowd(const cli_rehearsal_t *rehearsal, uint32_t processes, bool quiet);
// Where processes of a rehearsal meet.
typedef struct cli_hosts_t {
    const keel_target_t *target;
    unsigned ports[2]; // free ones of this machine
    char *folder;      // where they exchange values; NULL: nowhere
} cli_hosts_t;
// The caller releases them, also after a failure.
keel_status_t cli_hosts_begin(const keel_target_t *target, const char *run_id,
                              cli_hosts_t *out) KEEL_MUST_CHECK;
void cli_hosts_end(cli_hosts_t *hosts);
// Sets this process's environment to that of one of the target's processes; for cli_processes_t.
keel_status_t cli_set_process(void *hosts, uint32_t number) KEEL_MUST_CHECK;
// The same where the command may start the processes by itself: only where they meet.
keel_status_t cli_set_ranks(void *hosts, uint32_t number) KEEL_MUST_CHECK;
// The Python that will run `command`, judging by its first word; NULL if that does not show it. The
// caller frees it.
keel_status_t cli_interpreter_of(const char *command, char **out) KEEL_MUST_CHECK;
// The Python that --python names: the file itself if its name or an environment around it shows
// that, otherwise the one that it reports when asked. KEEL_INVALID if it reports none. The caller
// frees it.
keel_status_t cli_interpreter_named(const char *path, char **out) KEEL_MUST_CHECK;
// The current Python; NULL if there is none. The caller frees it.
keel_status_t cli_interpreter(char **out) KEEL_MUST_CHECK;

// ---- python.c: the Python package beside this program ------------------------------------------

// The folder of the package `keel`, in the build, installed and in a wheel; the caller frees it.
keel_status_t cli_find_package(char **out) KEEL_MUST_CHECK;
// Makes each Python below this process set up PyTorch/XLA for torch_xla.launch and apply these
// fixes ("all", "a,b"; NULL: none).
keel_status_t cli_set_python(const char *package, const char *library,
                             const char *fixes) KEEL_MUST_CHECK;

// One row of python/keel/fixes/fixes.json.
typedef struct cli_fix_t {
    const char *name, *label, *reference, *url;
    const char *client, *first, *last; // versions that have the fault
    const char *sentence;
} cli_fix_t;

typedef struct cli_fixes_t {
    cli_fix_t *list;
    size_t count;
    keel_arena_t texts;
} cli_fixes_t;
keel_status_t cli_fixes_read(const char *package, cli_fixes_t *out) KEEL_MUST_CHECK;
void cli_fixes_release(cli_fixes_t *fixes);
// KEEL_INVALID if one of `names` ("all", "a,b") is not a fix.
keel_status_t cli_fixes_check(const char *package, const char *names) KEEL_MUST_CHECK;

// ---- child.c -----------------------------------------------------------------------------------

enum { CLI_PROCESSES = 256 }; // of one command, at most
// How often a command is started.
typedef struct cli_processes_t {
    uint32_t count;
    // Sets this process's environment to that of process `number`. NULL is allowed.
    keel_status_t (*prepare)(void *context, uint32_t number);
    void *context;
    const struct keel_view_t *view; // that they run in; NULL: as this process sees its files
} cli_processes_t;

// Runs the command in this process's terminal and group until it ends; passes on signals that were
// sent to this process alone. Of several processes, the output of all but the first is marked, and
// once one has failed the others are ended. Returns the exit code as a shell does, that of the
// first that failed; reports a command that could not be started.
int cli_run_children(char **command, const cli_processes_t *processes, bool *out_started);

// ---- writes.c ----------------------------------------------------------------------------------

// What becomes of what a rehearsed command writes.
typedef struct cli_writes_t {
    struct keel_view_t *view; // that it runs in; NULL: none
    char *folder;             // of the run, made for the view; NULL: none
} cli_writes_t;

// Makes the view that the settings ask for; if the system does not allow one, says so, and the
// command will stop where it reads arrays that no device computed. Sets the environment by which
// the clients below know. `id`: of the run; `real`: a folder where its processes meet, or NULL;
// `plugin`: a file that need not be read again.
void cli_writes_begin(const keel_settings_t *settings, const char *id, const char *real,
                      const char *plugin, cli_writes_t *out);
// The command ended: takes the runs that it recorded itself out of what is discarded.
void cli_writes_keep_runs(const cli_writes_t *writes, const char *run_dir);
// The command ended with `code`: writes to the run's journal, and on stderr unless `quiet`, what it
// would have written.
void cli_writes_tell(const cli_writes_t *writes, const char *run_dir, const char *id, int code,
                     bool quiet);
// Discards it.
void cli_writes_end(cli_writes_t *writes);

// ---- run.c -------------------------------------------------------------------------------------

// Runs the command of a call whose options are not declared yet: with `rehearsal`, on its target.
// Returns the exit code.
int cli_run_command(cli_call_t *call, cli_rehearsal_t *rehearsal);
// How a run ended.
typedef struct cli_ended_t {
    int command; // exit code of the command, as a shell has it
    int code;    // that; or, if it is 0, what Keel says of the run
} cli_ended_t;
// Whose code it is, as a sentence without a full stop. One of them is not 0.
void cli_ended_tell(const cli_ended_t *ended, keel_buffer_t *out);
// What another command does with a run.
typedef struct cli_run_use_t {
    // After parsing. False if the options are wrong: return *out_code.
    bool (*check)(void *context, const cli_call_t *call, int *out_code);
    // `ended`: zeros if no command ran. Returns the exit code.
    int (*use)(void *context, const char *run_dir, const char *id, const cli_ended_t *ended);
    void *context;
} cli_run_use_t;
// Takes `most` words, and then a run: the one that --from names, or that of the command after --,
// which --on rehearses. Declares these options and those of a run.
int cli_run_or_recorded(cli_call_t *call, int most, const cli_run_use_t *use);
// rehearse.c: false if an option has an unknown value: return *out_code.
bool cli_check_rehearsal(const cli_call_t *call, const cli_rehearsal_t *rehearsal, int *out_code);
// rehearse.c: prints a target as JSON. Returns the exit code.
int cli_describe_target(const char *text);

// ---- subcommands -------------------------------------------------------------------------------

#define CLI_DECLARE(name, usage, sentence) int cli_##name(cli_call_t *call);
CLI_COMMANDS(CLI_DECLARE)
#undef CLI_DECLARE

// The subcommand of that name, with its call in *out; NULL if there is none.
int (*cli_command(const char *name, cli_call_t *out))(cli_call_t *call);
void cli_list_commands(keel_buffer_t *out);
// Whether `keel cache NAME`, `keel contract NAME` exists.
bool cli_cache_has(const char *name);
bool cli_contract_has(const char *name);
// contract_record.c: adds the run's programs that the contract does not allow. Says so.
keel_status_t cli_contract_extend(const char *path, const char *run_dir, const char *id,
                                  bool quiet) KEEL_MUST_CHECK;

#endif // KEEL_CLI_CLI_H_
