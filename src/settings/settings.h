// settings: every setting, its current value and where that came from.
//
// From weakest to strongest: default, config file, environment, flag. An empty environment variable
// counts as unset. The config file is $KEEL_CONFIG, else $XDG_CONFIG_HOME/keel/config (else
// ~/.config/keel/config); if KEEL_CONFIG names a file, it must exist. Its lines are `key = value`;
// `#` at the start of a line or after a blank begins a comment.
//
// Folders and plugin paths may begin with "~/" and are resolved against the current folder. In the
// config file they must be absolute or begin with "~/", since it applies to every folder.
//
// Ownership: a keel_settings_t owns its texts. Threads: load reads the environment, so no thread
// may change it meanwhile; afterwards any number of threads may read.
#ifndef KEEL_SETTINGS_SETTINGS_H_
#define KEEL_SETTINGS_SETTINGS_H_

#include "base/base.h"
#include "settings/remotes.h"

// enum, key in the config file, environment, flag, its argument, default as people read it,
// sentence
#define KEEL_SETTINGS(X)                                                                           \
    X(PLUGIN, "plugin", "KEEL_PLUGIN", "--plugin", "PLUGIN", "the embedded CPU plugin",            \
      "the PJRT plugin to wrap: a path, or cpu, cuda or tpu from your Python environment")         \
    X(CACHE_DIR, "cache_dir", "KEEL_CACHE_DIR", "--cache-dir", "DIR",                              \
      "$XDG_CACHE_HOME/keel, else ~/.cache/keel", "the folder for compiled programs")              \
    X(RUN_DIR, "run_dir", "KEEL_RUN_DIR", "--run-dir", "DIR",                                      \
      "$XDG_STATE_HOME/keel/runs, else ~/.local/state/keel/runs",                                  \
      "the folder for the journals and programs of runs")                                          \
    X(MODE, "mode", "KEEL_MODE", "--mode", "MODE", "on",                                           \
      "what Keel does: on, off, readonly or refresh")                                              \
    X(CACHE_LIMIT, "cache_limit", "KEEL_CACHE_LIMIT", "--cache-limit", "SIZE", "20G",              \
      "bytes kept in cache_dir, least recently used removed first; 0 for no limit")                \
    X(MEMORY_LIMIT, "memory_limit", "KEEL_MEMORY_LIMIT", "--memory-limit", "SIZE", "256M",         \
      "bytes of compiled programs kept in memory in each process; 0 keeps none")                   \
    X(CLIENT_CACHE, "client_cache", "KEEL_CLIENT_CACHE", "--client-cache", "off|keep", "off",      \
      "the client's own cache of executables: off, because Keel's does its work, or keep")         \
    X(CUSTOM_CALLS, "custom_calls", "KEEL_CUSTOM_CALLS", "--custom-calls", "NAMES", "none",        \
      "comma-separated custom-call targets that you vouch for, so they may be cached")             \
    X(APPLICATION, "application", "KEEL_APPLICATION", "--application", "PACKAGES", "none",         \
      "comma-separated installed packages whose lines count as yours, as your script's do")        \
    X(STACK, "stack", "KEEL_STACK", "--stack", "on|off", "on",                                     \
      "read the Python stack at compiles and host reads, to name lines")                           \
    X(PREFETCH, "prefetch", "KEEL_PREFETCH", "--prefetch", "on|off", "on",                         \
      "load what the script asked for last time while it still traces")                            \
    X(WARN, "warn", "KEEL_WARN", "--warn", "on|off", "on",                                         \
      "say at once on stderr when a run that was steady compiles again")                           \
    X(SHARED_CACHE, "shared_cache", "KEEL_SHARED_CACHE", "--shared-cache", "on|off", "off",        \
      "use a cache_dir or run_dir that other users own or can write; they can run code as you")    \
    X(KEEP_RUNS, "keep_runs", "KEEL_KEEP_RUNS", "--keep-runs", "AGE", "30d",                       \
      "how long runs are kept after their last event, except the newest 20; 0 keeps all")          \
    X(CPU_DEVICES, "cpu_devices", "KEEL_CPU_DEVICES", "--cpu-devices", "NUMBER", "1",              \
      "devices of XLA's CPU plugin for programs that ask for no number")                           \
    X(JAX_CPU, "jax_cpu", "KEEL_JAX_CPU", "--jax-cpu", "own|embedded", "own",                      \
      "what compiles for JAX on the processor if no plugin is named: its own client, or the "      \
      "embedded plugin in its place")                                                              \
    X(PYTHON_GC, "python_gc", "KEEL_PYTHON_GC", "--python-gc", "keep|imports|start", "imports",    \
      "how often Python collects old garbage: keep, as it is set, or a tenth as often, imports "   \
      "until JAX makes its client, start while JAX starts")                                        \
    X(CONTRACT, "contract", "KEEL_CONTRACT", "--contract", "FILE", "none",                         \
      "the contract that lists the programs that a run may ask for")                               \
    X(ON_DRIFT, "on_drift", "KEEL_ON_DRIFT", "--on-drift", "warn|refuse|record",                   \
      "warn; refuse after a freeze",                                                               \
      "what happens to a program that the contract does not list, or that is new after a freeze")  \
    X(FREEZE_AFTER, "freeze_after", "KEEL_FREEZE_AFTER", "--freeze-after", "STEPS", "0",           \
      "steps after which no program may be new; 0: never")                                         \
    X(AGREE, "agree", "KEEL_AGREE", "--agree", "on|client|folder|redis://HOST", "off",             \
      "where processes compare the programs that they run together before they compile them")      \
    X(PROFILE, "profile", "KEEL_PROFILE", "--profile", "NAME", "none",                             \
      "a set of XLA flags that the config file names; none adds no flags")                         \
    X(REMOTES, "remotes", "KEEL_REMOTES", "--remotes", "REMOTES", "none",                          \
      "where compiled programs are shared beyond this machine, separated by blanks")               \
    X(KEYS_DIR, "keys_dir", "KEEL_KEYS_DIR", "--keys-dir", "DIR",                                  \
      "$XDG_CONFIG_HOME/keel/keys, else ~/.config/keel/keys",                                      \
      "the folder of the key that signs shared programs, and of the keys that are trusted")        \
    X(WRITES, "writes", "KEEL_WRITES", "--writes", "discard|keep|refuse", "discard",               \
      "what becomes of the files that a rehearsed command writes")

typedef enum keel_setting {
#define KEEL_SETTING_ENUM(name, ...) KEEL_SETTING_##name,
    KEEL_SETTINGS(KEEL_SETTING_ENUM)
#undef KEEL_SETTING_ENUM
        KEEL_SETTING_COUNT,
} keel_setting_t;

// enum, word, sentence
#define KEEL_MODES(X)                                                                              \
    X(ON, "on", "look programs up and store what was compiled")                                    \
    X(OFF, "off", "pass everything on to the plugin; store and record nothing")                    \
    X(READONLY, "readonly", "look programs up, store nothing")                                     \
    X(REFRESH, "refresh", "look nothing up; compile and store everything again")

typedef enum keel_mode {
#define KEEL_MODE_ENUM(name, word, sentence) KEEL_MODE_##name,
    KEEL_MODES(KEEL_MODE_ENUM)
#undef KEEL_MODE_ENUM
} keel_mode_t;
const char *keel_mode_name(keel_mode_t mode);

// What happens to a program that may not appear. enum, word
#define KEEL_ON_DRIFTS(X)                                                                          \
    X(DEFAULT, "")      /* warn; refuse after a freeze */                                          \
    X(WARN, "warn")     /* a line on stderr */                                                     \
    X(REFUSE, "refuse") /* the client gets an error */                                             \
    X(RECORD, "record") /* only the journal has it; `keel run` then adds it to the contract */

typedef enum keel_on_drift {
#define KEEL_ON_DRIFT_ENUM(name, word) KEEL_ON_DRIFT_##name,
    KEEL_ON_DRIFTS(KEEL_ON_DRIFT_ENUM)
#undef KEEL_ON_DRIFT_ENUM
} keel_on_drift_t;

// Where processes compare their programs. enum, word
#define KEEL_AGREES(X)                                                                             \
    X(OFF, "off")                                                                                  \
    X(ON, "on")         /* in the client's service if it has one, otherwise in the run's folder */ \
    X(CLIENT, "client") /* in the client's key-value service */                                    \
    X(FOLDER, "folder") /* in the run's folder */                                                  \
    X(REDIS, NULL)      /* in Redis; the value is its address (address.h) */

typedef enum keel_agree {
#define KEEL_AGREE_ENUM(name, word) KEEL_AGREE_##name,
    KEEL_AGREES(KEEL_AGREE_ENUM)
#undef KEEL_AGREE_ENUM
} keel_agree_t;

// What becomes of the files that a rehearsed command writes. enum, word
#define KEEL_WRITES(X)                                                                             \
    X(DISCARD, "discard") /* only the command sees them */                                         \
    X(KEEP, "keep")       /* they are written */                                                   \
    X(REFUSE, "refuse")   /* they are, but arrays that no device computed cannot be read */

typedef enum keel_writes {
#define KEEL_WRITES_ENUM(name, word) KEEL_WRITES_##name,
    KEEL_WRITES(KEEL_WRITES_ENUM)
#undef KEEL_WRITES_ENUM
} keel_writes_t;

typedef enum keel_origin {
    KEEL_ORIGIN_DEFAULT,
    KEEL_ORIGIN_FILE,
    KEEL_ORIGIN_ENVIRONMENT,
    KEEL_ORIGIN_FLAG,
} keel_origin_t;
const char *keel_origin_name(keel_origin_t origin); // "default", "file", "environment", "flag"

// What the tables above say of one setting.
typedef struct keel_setting_facts_t {
    const char *key, *environment, *flag, *argument, *fallback, *sentence;
} keel_setting_facts_t;
const keel_setting_facts_t *keel_setting_facts(keel_setting_t setting);
// KEEL_SETTING_COUNT if no setting has that key.
keel_setting_t keel_setting_by_key(keel_str_t key);

typedef struct keel_setting_value_t {
    // Never NULL after a load. "" for no custom calls, no plugin, no contract, and for a folder
    // that is not set when there is no home folder.
    char *text;
    keel_origin_t origin;
    char *where; // "/home/u/.config/keel/config:3", "KEEL_MODE", "--mode"; "" for a default
} keel_setting_value_t;

// `profile.fast = --xla_a=1 --xla_b=2` in the config file. Owned.
typedef struct keel_flag_profile_t {
    char *name, *flags;
} keel_flag_profile_t;

typedef struct keel_settings_t {
    keel_setting_value_t values[KEEL_SETTING_COUNT];
    char *config_file; // NULL if no file was read
    keel_mode_t mode;
    uint64_t cache_limit;  // bytes; 0: no limit
    uint64_t memory_limit; // bytes; 0: keep nothing in memory
    bool stack;
    bool prefetch;
    bool warn;
    bool shared_cache;
    bool keeps_client_cache;
    uint64_t keep_runs; // seconds; 0: all are kept
    uint32_t cpu_devices;
    keel_on_drift_t on_drift;
    uint64_t freeze_after; // steps; 0: never
    keel_agree_t agree;
    keel_writes_t writes;
    keel_remotes_t remotes;
    struct keel_flag_profile_t *profiles; // in the order of the file
    size_t profile_count, profile_capacity;
} keel_settings_t;

// `flags` has one text for each setting, NULL if the flag was not given; `flags` itself may be
// NULL. On failure *out is empty and may be deinitialized. A KEEL_INVALID message names the
// setting, where its value came from, the value and the next step.
keel_status_t keel_settings_load(const char *const flags[KEEL_SETTING_COUNT],
                                 keel_settings_t *out) KEEL_MUST_CHECK;
void keel_settings_deinitialize(keel_settings_t *settings);

static inline const char *keel_settings_text(const keel_settings_t *settings,
                                             keel_setting_t which) {
    return settings->values[which].text;
}

// What the setting `profile` adds to XLA_FLAGS: "" for none.
const char *keel_settings_profile_flags(const keel_settings_t *settings);

// KEEL_INVALID, with a message that says what to set, if the folder (cache_dir, run_dir) is
// unknown.
keel_status_t keel_settings_need_folder(const keel_settings_t *settings,
                                        keel_setting_t which) KEEL_MUST_CHECK;

// KEEL_REFUSED, with a message that says what to do, if others own the folder (cache_dir, run_dir)
// or can write to it, unless shared_cache allows that; another code if that is unknown. `loss` is
// what happens without it: "nothing is cached".
keel_status_t keel_settings_trust_folder(const keel_settings_t *settings, keel_setting_t which,
                                         const char *loss) KEEL_MUST_CHECK;

// Reads a config file's bytes into `settings`, replacing weaker values; `path` is for messages.
// Validates only the keys.
keel_status_t keel_settings_parse(keel_bytes_t bytes, const char *path,
                                  keel_settings_t *settings) KEEL_MUST_CHECK;

// KEEL_INVALID if `folder` has a URI scheme ("gs://bucket/x"); the message names the setting to
// use. `setting` is what the user wrote it in: "KEEL_CACHE_DIR".
keel_status_t keel_settings_check_folder(const char *folder, const char *setting) KEEL_MUST_CHECK;

// The plugin to wrap when the user names none: lib/keel/<name> beside an installed Keel (in a build
// tree, a link to the plugin that the build found), the package xla-cpu-pjrt beside a wheel of
// Keel, or "" if none of them exists. The caller frees it.
keel_status_t keel_settings_embedded_plugin(char **out) KEEL_MUST_CHECK;

// The program that reaches the remotes, beside Keel's other files; "" if it is not there. The
// caller frees it.
keel_status_t keel_settings_helper(char **out) KEEL_MUST_CHECK;

#endif // KEEL_SETTINGS_SETTINGS_H_
