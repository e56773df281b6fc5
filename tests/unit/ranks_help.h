// Processes that compare their programs, each a thread of the test.
#ifndef KEEL_TESTS_RANKS_HELP_H_
#define KEEL_TESTS_RANKS_HELP_H_

#include "meet_help.h"

#include "enforce/ranks.h"

enum { RANKS = 4, PROGRAMS_MOST = 128 };

// Where they meet.
typedef struct ranks_stage_t {
    place_t place;
    client_service_t service;
    keel_settings_t settings;
    ranks_t *ranks[RANKS];
    atomic_uint executions[RANKS]; // of each program
    atomic_bool has_parted;
} ranks_stage_t;

typedef struct rank_t {
    ranks_stage_t *stage;
    uint32_t process;
    // One a letter, in this order; a digit: other compile options. A capital executes programs
    // instead of asking for one. "~": the process is slow. "." waits for the process that has "!".
    const char *programs;
    pthread_barrier_t *between;        // passed twice after the first program; NULL: not at all
    char messages[PROGRAMS_MOST][512]; // "" for those that may be compiled
} rank_t;

static inline void stage_settings(ranks_stage_t *stage, const char *agree) {
    const char *flags[KEEL_SETTING_COUNT] = {[KEEL_SETTING_AGREE] = agree};
    setenv("KEEL_CONFIG", "/dev/null", 1);
    setenv("KEEL_QUIET", "1", 1);
    assert_ok(keel_settings_load(flags, &stage->settings));
}

UNUSED static uint64_t count_executions(void *context, const keel_digest_t *program) {
    keel_digest_t first = keel_digest(keel_bytes("a", 1));
    return keel_digest_equal(program, &first) ? atomic_load((atomic_uint *)context) : 0;
}

static inline ranks_stage_t *stage_make(const char *agree) {
    ranks_stage_t *stage = calloc(1, sizeof *stage);
    place_make(&stage->place);
    service_make(&stage->service);
    stage_settings(stage, agree);
    for (uint32_t i = 0; i < RANKS; ++i) {
        PJRT_Client_Create_Args args = service_args(&stage->service);
        const ranks_executions_t executions = {count_executions, &stage->executions[i]};
        assert_ok(ranks_create(&stage->settings, stage->place.root, &executions, &stage->ranks[i]));
        if (stage->settings.agree == KEEL_AGREE_CLIENT)
            ranks_client_created(stage->ranks[i], &args);
    }
    return stage;
}

static inline void stage_remove(ranks_stage_t *stage) {
    for (uint32_t i = 0; i < RANKS; ++i)
        ranks_destroy(stage->ranks[i]);
    keel_settings_deinitialize(&stage->settings);
    service_remove(&stage->service);
    place_remove(&stage->place);
    free(stage);
}

// What letter `program` is.
static inline ranks_ask_t ask_of(char program, uint32_t process, const uint32_t *members,
                                 size_t count) {
    static const char code[][2] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
                                   "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"};
    bool has_options = program >= '0' && program <= '9';
    ranks_ask_t ask = {.name = "jit_step",
                       .code = keel_bytes(code[has_options ? 0 : program - 'a'], 1),
                       .members = members,
                       .member_count = count,
                       .process = process};
    ask.digest = keel_digest(ask.code);
    snprintf(ask.fingerprint, sizeof ask.fingerprint, "%032x", ask.code.data[0]);
    snprintf(ask.options, sizeof ask.options, "%032x", has_options ? program : 0);
    return ask;
}

// False: it was not a program.
static inline bool rank_acts(rank_t *rank, char what) {
    ranks_stage_t *stage = rank->stage;
    bool is_execution = what >= 'A' && what <= 'Z';
    if (is_execution) atomic_fetch_add(&stage->executions[rank->process], 1);
    if (what == '~') sleep(3);
    if (what == '!') atomic_store(&stage->has_parted, true);
    while (what == '.' && !atomic_load(&stage->has_parted))
        usleep(1000);
    return !is_execution && !strchr("~!.", what);
}

UNUSED static void *rank_run(void *context) {
    static const uint32_t all[RANKS] = {0, 1, 2, 3};
    rank_t *rank = context;
    for (size_t i = 0; rank->programs[i]; ++i) {
        if (!rank_acts(rank, rank->programs[i])) continue;
        ranks_ask_t ask = ask_of(rank->programs[i], rank->process, all, RANKS);
        keel_status_t status = ranks_check(rank->stage->ranks[rank->process], &ask);
        assert_true(!status || keel_status_code(status) == KEEL_REFUSED);
        snprintf(rank->messages[i], sizeof rank->messages[i], "%s", keel_status_message(status));
        keel_status_ignore(status);
        for (int pass = 0; pass < 2 && i == 0 && rank->between; ++pass)
            pthread_barrier_wait(rank->between);
    }
    return NULL;
}

// Runs them all to their end.
static inline void stage_run(ranks_stage_t *stage, const char *const programs[RANKS], rank_t *out) {
    pthread_t threads[RANKS];
    for (uint32_t i = 0; i < RANKS; ++i) {
        out[i] = (rank_t){.stage = stage, .process = i, .programs = programs[i]};
        pthread_create(&threads[i], NULL, rank_run, &out[i]);
    }
    for (uint32_t i = 0; i < RANKS; ++i)
        pthread_join(threads[i], NULL);
}

#endif // KEEL_TESTS_RANKS_HELP_H_
