// cli: the terminal door, `keel`. main.c picks the subcommand; each has a file of its own.
//
// A subcommand declares its options, then parses: help, errors and parser come from the same
// declarations, so they cannot disagree. Answers go to stdout, everything else to stderr. Colour
// is for terminals alone, never the only sign of anything, and NO_COLOR turns it off.
//
// Threads: one, but for the progress line's own (progress.c) and what watches the time (limit.c).
#ifndef KEEL_CLI_CLI_H_
#define KEEL_CLI_CLI_H_

#include <stdio.h>

#include "base/base.h"
#include "settings/settings.h"

// name, usage behind it, sentence
#define CLI_COMMANDS(X)                                                                            \
    X(run, "[OPTION]... [--] CMD [ARG]...",                                                        \
      "run a command with its XLA compiles going through Keel")                                    \
    X(runs, "[OPTION]... [prune]", "list recorded runs, or remove old ones")                       \
    X(stats, "[OPTION]... [RUN]", "show what a run compiled, loaded and recompiled, by line")      \
    X(why, "[OPTION]... [RUN]", "explain recompiles: what changed, where, what to do")             \
    X(explain, "[OPTION]... [CAUSE]",                                                              \
      "describe a cause: how it happens, what to do, how to check that it is gone")                \
    X(memory, "[OPTION]... [RUN|PROGRAM]",                                                         \
      "show how much device memory programs need and devices used")                                \
    X(report, "[OPTION]... [RUN]", "write a run as one page: recompiles, their causes and costs")  \
    X(show, "[OPTION]... FILE|PROGRAM", "print a program")                                         \
    X(key, "[OPTION]... FILE|PROGRAM [FILE|PROGRAM]",                                              \
      "show what a program's key is made of, or whether two programs share one")                   \
    X(diff, "[OPTION]... A B", "explain how two programs or two runs differ")                      \
    X(bundle, "[OPTION]... [diff A B]",                                                            \
      "record everything that an installation depends on, or compare two")                         \
    X(cache, "ls|stat|verify|prune|clear|path [OPTION]...", "manage the stored programs")          \
    X(fixes, "[OPTION]...", "list the client bugs that `keel run --fix` works around")             \
    X(probe, "[OPTION]... [PLUGIN]",                                                               \
      "check an installation: load the plugin and use it step by step")                            \
    X(config, "[OPTION]...", "show each setting and where it comes from")                          \
    X(version, "[OPTION]...", "print Keel's version and the PJRT API it was built for")            \
    X(help, "[CMD [PART]]", "explain a command")

// What the shell gets.
typedef enum cli_exit {
    CLI_OK = 0,
    CLI_NO = 1,      // the answer is no: keys differ, something is damaged
    CLI_USAGE = 2,   // usage, or input that cannot be used
    CLI_FAILURE = 3, // Keel itself failed
    CLI_NOT_RUNNABLE = 126,
    CLI_NOT_FOUND = 127,
    CLI_SIGNAL = 128, // and the signal's number
} cli_exit_t;

// ---- options.c ---------------------------------------------------------------------------------

typedef struct cli_option_t {
    const char *name;     // "--json"
    const char *argument; // "FILE"; NULL for a switch
    const char *sentence;
    const char **text; // takes the argument
    const char *alone; // what a bare option means; its argument can only stand behind "=" then
    bool *given;       // for a switch
} cli_option_t;

enum { CLI_OPTIONS = 16 };

typedef struct cli_call_t {
    const char *name;     // "run"; "cache ls"
    const char *usage;    // "[OPTION]... -- CMD"
    const char *sentence; // what it does
    const char *details;  // further text for --help, ending in a newline; NULL: none
    char **arguments;     // what stands behind the subcommand; NULL-terminated
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
// `argument`, such as "[=NAME]", may be left out: `alone` is taken then.
void cli_text_or(cli_call_t *call, const char *name, const char *argument, const char *alone,
                 const char *sentence, const char **text);
void cli_setting(cli_call_t *call, keel_setting_t setting);

// Parses; from `least` to `most` positional arguments are allowed (`most` -1: any number, and
// parsing ends at the first). False where there is nothing more to do: *out_code is to be returned.
bool cli_parse(cli_call_t *call, int least, int most, int *out_code);

// ---- output.c ----------------------------------------------------------------------------------

// "keel: <message>" on stderr; control bytes, which may come from a foreign file, as "\x1b".
void cli_say(const char *format, ...) KEEL_PRINTF(1, 2);
// The same for a status. Frees it and gives the exit code that fits.
int cli_fail(keel_status_t status);
// The same for a usage error; the message ends with where to read on.
int cli_misuse(const cli_call_t *call, const char *format, ...) KEEL_PRINTF(2, 3);
// Prints to stdout, a newline behind it where it lacks one. Frees the buffer. CLI_OK, or
// CLI_FAILURE after saying why.
int cli_answer(keel_buffer_t *buffer);
// Whether what goes there may be coloured: a terminal that can show it, and no NO_COLOR.
bool cli_is_colored(FILE *stream);
// Columns of the terminal; 0 for what is none, where nothing is wrapped or cut.
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
// KEEL_INVALID where the setting's folder is there and is no folder.
keel_status_t cli_check_folder(const keel_settings_t *settings,
                               keel_setting_t which) KEEL_MUST_CHECK;

// ---- progress.c --------------------------------------------------------------------------------

// Sees to it that it is known why each program of the run was asked for. What fails is said; the
// command goes on without.
void cli_analyse(const char *run_dir, const char *id);

// Says on a terminal, after 2 s and then every second, that `what` is still going on.
void cli_progress_begin(const char *what);
void cli_progress_end(void);

// ---- limit.c -----------------------------------------------------------------------------------

// Until cli_limit_end, what is looked at by this thread has so many seconds each: then this process
// says what it waited for, by `command`, and ends with CLI_FAILURE.
void cli_limit_begin(const char *command, unsigned seconds);
// What is looked at from now on; NULL: what follows has a limit of its own.
void cli_limit_at(const char *path);
void cli_limit_end(void);
// The value of --timeout. False where it is none: *out_code is to be returned.
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
// What keel_read said of it, as a line for the user.
keel_status_t cli_program_explain(const cli_program_t *program,
                                  keel_status_t status) KEEL_MUST_CHECK;

// ---- elf.c, environment.c, interpreter.c: the parts of `keel run` -------------------------------

// KEEL_INVALID, in one line, where the file cannot be a PJRT plugin for this machine.
keel_status_t cli_check_plugin(const char *path) KEEL_MUST_CHECK;

// Where `plugin` is Keel's own library: the plugin that it wraps when it is loaded here, by the
// settings that a client has; the caller frees it. NULL elsewhere.
keel_status_t cli_find_wrapped(const char *plugin, const char *interpreter,
                               char **out) KEEL_MUST_CHECK;

// libkeel_pjrt.so beside this program, in the build and installed; the caller frees it.
keel_status_t cli_find_library(char **out) KEEL_MUST_CHECK;
// Sets this process's environment so that XLA clients in children load `library`, which wraps
// `plugin`. Says, unless `quiet`, where that puts a platform that the user asked for out of force.
// `lines`: operations of PyTorch/XLA carry their source lines.
keel_status_t cli_set_environment(const keel_settings_t *settings, const char *plugin,
                                  const char *library, const char *run_id, bool quiet,
                                  bool lines) KEEL_MUST_CHECK;
// The Python that will run `command`, as far as its first word tells; NULL where it does not. The
// caller frees it.
keel_status_t cli_interpreter_of(const char *command, char **out) KEEL_MUST_CHECK;
// The Python that --python names, a file: itself where its name or an environment around it tells
// so, else the one that it answers to be. KEEL_INVALID where it answers none. The caller frees it.
keel_status_t cli_interpreter_named(const char *path, char **out) KEEL_MUST_CHECK;
// The Python in force; NULL where there is none. The caller frees it.
keel_status_t cli_interpreter(char **out) KEEL_MUST_CHECK;

// ---- python.c: the Python package that stands beside this program -------------------------------

// The folder of the package `keel`, in the build, installed and in a wheel; the caller frees it.
keel_status_t cli_find_package(char **out) KEEL_MUST_CHECK;
// Has each Python below this process set up PyTorch/XLA for torch_xla.launch, and apply these fixes
// ("all", "a,b"; NULL: none).
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
// KEEL_INVALID where one of `names` ("all", "a,b") is no fix.
keel_status_t cli_fixes_check(const char *package, const char *names) KEEL_MUST_CHECK;

// ---- child.c -----------------------------------------------------------------------------------

// Runs the command in this process's terminal and group until it ends; passes on signals that were
// sent to this process alone. The exit code as a shell gives it; what could not be started is said.
int cli_run_child(char **command, bool *out_started);

// ---- subcommands -------------------------------------------------------------------------------

#define CLI_DECLARE(name, usage, sentence) int cli_##name(cli_call_t *call);
CLI_COMMANDS(CLI_DECLARE)
#undef CLI_DECLARE

// Fills a call for the subcommand, NULL where there is none of that name.
int (*cli_command(const char *name, cli_call_t *out))(cli_call_t *call);
void cli_list_commands(keel_buffer_t *out);
// Whether `keel cache NAME` is something to do.
bool cli_cache_has(const char *name);

#endif // KEEL_CLI_CLI_H_
