// The parts of `keel smoke`.
#ifndef KEEL_CLI_SMOKE_H_
#define KEEL_CLI_SMOKE_H_

#include "cli/contract.h"

enum { SMOKE_MOST_VARIATIONS = 16 };

// One run of the command.
typedef struct smoke_run_t {
    const char *variation; // "batch=--batch 4"; NULL: none
    char *figures;         // file that `keel run --json` writes
    pid_t pid;
    cli_ended_t ended;
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
    smoke_run_t runs[2 + SMOKE_MOST_VARIATIONS]; // first, second, variations
    size_t count;
} smoke_t;

bool smoke_is_named(const char *variation, const char *name);
const char *smoke_value_of(const char *variation);

// smoke_run.c
// Runs the command as often as it takes and reads what each run asked for. *out_code: of the first
// command that failed, else CLI_OK. The caller releases `smoke` in either case.
keel_status_t smoke_run_all(smoke_t *smoke, int *out_code) KEEL_MUST_CHECK;
void smoke_release(smoke_t *smoke);

// smoke_answer.c
// How many programs of the run are others than the first run's.
size_t smoke_count_other(const smoke_t *smoke, const smoke_run_t *run);
// Programs that the two runs loaded from elsewhere, or that could not be read: what made them is
// not known. SIZE_MAX: the first run asked for no program.
size_t smoke_count_unseen(const smoke_t *smoke);
// Prints the answer and returns the exit code.
int smoke_answer(const smoke_t *smoke);

#endif // KEEL_CLI_SMOKE_H_
