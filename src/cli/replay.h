// The parts of `keel replay`: the programs of a run, compiled and run again without their client.
//
//   replay.c            the command
//   replay_programs.c   the run's programs, and what its journal says about each
//   replay_keys.c       their keys now, and which parts of them differ
//   replay_obstacles.c  why a program cannot be run here
//   replay_work.c       compiling, running, comparing
//   replay_values.c     how far two sets of results differ
//   replay_judge.c      what grew
//   replay_print.c      text and JSON
//
// A program has figures of three origins: the run's own; from *before*, by the run's plugin, here
// and now; and from *after*, by the plugin that is asked about. What is compared with what is after
// is what is from before if that plugin is here, otherwise the run's own.
//
// Ownership: a replay owns all it points to. Threads: those of replay_work.c each work on one
// program at a time; everything else is done by one thread.
#ifndef KEEL_CLI_REPLAY_H_
#define KEEL_CLI_REPLAY_H_

#include <pthread.h>

#include "cli/recorded.h"
#include "compiler/compiler.h"
#include "explain/explain.h"
#include "run/run.h"

// ---- results -----------------------------------------------------------------------------------

typedef struct replay_difference_t {
    bool is_equal;     // bit for bit; values that are not numbers (NaN) count as one value
    bool is_unlike;    // the results are not arrays of the same types and sizes
    size_t result;     // where the largest relative difference is
    uint64_t elements; // of all results that were compared
    uint64_t differing;
    // |a - b| over the larger of |a| and |b|, and at least over a thousandth of the largest value
    // of that result, so that what is left of a sum near 0 does not count. Infinite if one of them
    // is infinite or no number.
    double relative;
} replay_difference_t;

// The results of two executions.
void replay_compare(const keel_result_t *a, size_t a_count, const keel_result_t *b, size_t b_count,
                    replay_difference_t *out);

// ---- what grew ---------------------------------------------------------------------------------

// measure, word, default limit in percent (negative: not judged unless it is named), the least
// growth that counts, sentence
#define REPLAY_MEASURES(X)                                                                         \
    X(TIME, "time", 50, 1.0, "seconds of the compile")                                             \
    X(CODE, "code", 20, 65536, "bytes of the executable")                                          \
    X(MEMORY, "memory", 20, 65536, "bytes that an execution takes on its device")                  \
    X(RUN, "run", -1, 0.01, "seconds of an execution")

typedef enum replay_measure {
#define REPLAY_MEASURE_ENUM(name, ...) REPLAY_##name,
    REPLAY_MEASURES(REPLAY_MEASURE_ENUM)
#undef REPLAY_MEASURE_ENUM
        REPLAY_MEASURE_COUNT,
} replay_measure_t;
extern const char *const replay_measure_words[REPLAY_MEASURE_COUNT];

typedef struct replay_limits_t {
    double percent[REPLAY_MEASURE_COUNT]; // negative: not judged
} replay_limits_t;

// "25", "time=50,code=10": percent. False if it is neither.
bool replay_limits_read(const char *text, replay_limits_t *out);

// What is known of a program from one origin.
typedef struct replay_figures_t {
    bool is_known[REPLAY_MEASURE_COUNT];
    double value[REPLAY_MEASURE_COUNT];
} replay_figures_t;

void replay_figure(replay_figures_t *figures, replay_measure_t measure, double value);
// Whether that grew beyond its limit.
bool replay_grew(const replay_limits_t *limits, const replay_figures_t *before,
                 const replay_figures_t *after, replay_measure_t measure);

// ---- programs ----------------------------------------------------------------------------------

typedef enum replay_origin {
    REPLAY_RUN_OWN,
    REPLAY_BEFORE,
    REPLAY_AFTER,
    REPLAY_ORIGINS
} replay_origin_t;

typedef enum replay_outcome {
    REPLAY_LEFT_OUT, // it cannot be compiled without its client, or is not kept; `why` says so
    REPLAY_FAILED,   // it does not compile, or crashes, and did not before; likewise
    REPLAY_COMPILED,
} replay_outcome_t;

typedef enum replay_results {
    REPLAY_NOT_RUN, // `why_not_run`
    REPLAY_EQUAL,
    REPLAY_DIFFERENT,
} replay_results_t;

typedef struct replay_program_t {
    const char *name, *shown, *digest; // "jit_step", "train.py:88" or ""; in hex
    char *path, *options;              // of their bytes; NULL: the run did not keep its options
    bool is_hlo;
    uint64_t asked; // how often the run compiled or loaded it
    bool has_key, has_components;
    keel_digest_t recorded_key;
    keel_key_t recorded; // its own components, as far as the journal has them

    bool is_keyed; // `key` is known
    keel_key_t key;
    keel_explanation_t moved; // what differs in its key

    replay_outcome_t outcome;
    char *why, *why_not_run;
    replay_figures_t figures[REPLAY_ORIGINS];
    replay_results_t results;
    replay_difference_t difference;
} replay_program_t;

typedef struct replay_side_t {
    char *plugin; // path; NULL: this side is not here
    keel_digest_t build;
    keel_compiler_t *compiler;
} replay_side_t;

typedef struct replay_t {
    // As asked for.
    const char *on;
    bool json, runs;
    replay_limits_t limits;
    double tolerance;
    uint64_t seed;
    unsigned seconds, jobs; // an execution may take; programs at a time

    keel_settings_t settings;
    keel_run_t run;
    keel_map_t shown; // by digest of a program: its index in run.programs
    char *interpreter;
    keel_target_t target;
    bool has_target, is_elsewhere; // its devices are not here
    cli_recorded_t recorded;
    keel_key_t recorded_key; // the components of the run's first client
    char recorded_build[KEEL_DIGEST_HEX];
    const char *recorded_plugin; // path; ""
    replay_side_t before, after;

    replay_program_t **programs;
    size_t count, room;
    keel_map_t known; // program and options: the index of the program

    pthread_mutex_t lock; // for what follows
    size_t next, done;
} replay_t;

// replay_programs.c: all programs of the run, in the order in which it asked for them.
keel_status_t replay_programs_read(replay_t *replay) KEEL_MUST_CHECK;
void replay_programs_release(replay_t *replay);

// replay_keys.c: the keys under which a client of the target and the plugin would ask for them.
keel_status_t replay_keys_make(replay_t *replay) KEEL_MUST_CHECK;

// replay_obstacles.c: NULL in *out if the program can be run on one device; otherwise a sentence,
// which the caller frees. `out_signature` is then unset.
keel_status_t replay_obstacle(keel_bytes_t code, keel_bytes_t options,
                              keel_signature_t *out_signature, char **out) KEEL_MUST_CHECK;

// replay_work.c: compiles, runs and compares all programs; calls `tell` for each, one at a time.
void replay_work(replay_t *replay, void (*tell)(replay_t *replay, const replay_program_t *program));

// replay_judge.c
// Once the plugins are known: times that the run recorded on another machine say nothing about this
// one.
void replay_limits_settle(replay_t *replay);
// What is from after is compared with that.
const replay_figures_t *replay_base(const replay_program_t *program);
// One that is larger than its limit allows; REPLAY_MEASURE_COUNT: none.
bool replay_program_grew(const replay_t *replay, const replay_program_t *program);
bool replay_is_different(const replay_t *replay, const replay_program_t *program);
bool replay_recompiles(const replay_program_t *program);

typedef struct replay_sum_t {
    size_t left_out, failed, grew, equal, different, within, not_run, recompile, keyed, compared;
    replay_figures_t before, after; // over the programs of which both are known
    bool total_grew;
} replay_sum_t;
void replay_sum(const replay_t *replay, replay_sum_t *out);
// CLI_OK or CLI_NO.
int replay_verdict(const replay_t *replay, const replay_sum_t *sum);

// replay_print.c
void replay_print_head(const replay_t *replay);
void replay_print_program(const replay_t *replay, const replay_program_t *program);
void replay_print_end(const replay_t *replay, const replay_sum_t *sum);
int replay_print_json(const replay_t *replay, const replay_sum_t *sum);

#endif // KEEL_CLI_REPLAY_H_
