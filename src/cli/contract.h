// The parts of `keel contract`: what a run asked for, as contracts list it (contract/contract.h).
#ifndef KEEL_CLI_CONTRACT_H_
#define KEEL_CLI_CONTRACT_H_

#include "cli/cli.h"
#include "contract/contract.h"
#include "why/why.h"

// A program that a run asked for; `asked` is of the first process that did.
typedef struct contract_program_t {
    keel_contract_asked_t asked;
    const char *key, *program;         // in hex
    const keel_run_request_t *request; // the first for it; NULL: none
    const keel_why_entry_t *entry;     // why it was asked for; NULL: that is not explained
    bool is_operation;                 // it ran by itself, outside jit
    uint32_t *processes;               // that asked for it, in that order
    size_t process_count, process_capacity;
} contract_program_t;

typedef struct contract_run_t {
    keel_why_t why;
    contract_program_t *programs; // in the order in which they were asked for
    size_t count;
    uint32_t process_count; // its processes have the numbers below
    uint64_t unread;        // programs that Keel could not read, and which no contract lists
    const keel_run_request_t *first_unread;      // NULL: not known
    uint64_t gaps;                               // times that the record lacks a program, or may
    const char *gap;                             // why, the first time
    keel_str_t client, plugin, devices, profile; // as in a contract
    keel_arena_t arena;
} contract_run_t;

// contract_read.c
// A contract that is read once: the user may name a pipe too, such as that of a shell's <(...).
keel_status_t contract_read(const char *path, keel_contract_t *out) KEEL_MUST_CHECK;

// contract_run.c
keel_status_t contract_run_read(const char *run_dir, const char *id,
                                contract_run_t *out) KEEL_MUST_CHECK;
void contract_run_deinitialize(contract_run_t *run);
// Why the program is a different one than before; that it is new, or not in the cache, does not
// say. `entry` may be NULL; NULL: unknown.
const keel_run_difference_t *contract_cause(const keel_why_entry_t *entry);
// Adds a program, with its placement in each process that asked for it.
keel_status_t contract_add_program(keel_contract_t *contract,
                                   const contract_program_t *program) KEEL_MUST_CHECK;
// What a contract lists besides the programs of every machine.
typedef struct contract_lists_t {
    bool operations, machine;
} contract_lists_t;
// A contract of all the run's programs, settled with the older one, which may be NULL.
keel_status_t contract_of_run(const contract_run_t *run, const contract_lists_t *lists,
                              const keel_contract_t *older, keel_contract_t *out) KEEL_MUST_CHECK;

// contract_placed.c
// The sets of devices on which each process of a run has a contract's programs.
typedef struct contract_placed_t {
    keel_placements_t *processes;
    uint32_t count;
} contract_placed_t;
keel_status_t contract_placed_initialize(const contract_run_t *run,
                                         contract_placed_t *out) KEEL_MUST_CHECK;
void contract_placed_deinitialize(contract_placed_t *placed);
// *out: whether each process that asked for the program may have it where it has it.
keel_status_t contract_placed_add(contract_placed_t *placed, const keel_contract_t *contract,
                                  const keel_contract_pin_t *pin, const contract_program_t *program,
                                  bool *out) KEEL_MUST_CHECK;

// With --json, what a command prints on standard output goes to stderr; the answer gets it back.
// contract_record.c
int contract_turn_output(bool json);
void contract_return_output(int saved);

// ---- a check -----------------------------------------------------------------------------------

// A program of the run that the contract does not allow.
typedef struct contract_left_t {
    const contract_program_t *program;
    keel_contract_nearest_t nearest;
    keel_contract_scope_t scope;
    const char *message;               // keel_contract_tell
    const keel_run_difference_t *root; // its cause; NULL: unknown
    const keel_run_place_t *place;
    const char *advice; // "": none
    bool is_unchecked;  // it may be one that the contract lists
} contract_left_t;

typedef struct contract_check_t {
    const char *path; // of the contract, as the user named it
    const keel_contract_t *contract;
    const contract_run_t *run;
    contract_left_t *left;     // in order of time
    size_t left_count, warned; // those of scope `warn` are among them
    size_t unchecked;          // so are those
    size_t checked, within,
        allowed;          // programs; of these: within bounds, and in a scope that allows
    const bool *appeared; // of each pin
    const bool *ran;      // of each entry: a program without a pin appeared
    size_t missing;       // pins that did not appear
} contract_check_t;

// Whether nothing could be checked, or not all.
bool contract_is_unseen(const contract_check_t *check);
bool contract_is_warning(const contract_left_t *left);
// Whether a program of the entry appeared, listed or not.
bool contract_has_run(const contract_check_t *check, const keel_contract_entry_t *entry);
// The path of a place, relative to the run's folder if it is in it.
const char *contract_file(const contract_check_t *check, const keel_run_place_t *place);
// contract_ci.c: files for CI.
void contract_annotations(const contract_check_t *check, keel_buffer_t *out);
void contract_junit(const contract_check_t *check, keel_buffer_t *out);
void contract_sarif(const contract_check_t *check, keel_buffer_t *out);

// The subcommands.
int contract_show(cli_call_t *call);
int contract_diff(cli_call_t *call);
int contract_record(cli_call_t *call);
int contract_update(cli_call_t *call);
int contract_check(cli_call_t *call);

#endif // KEEL_CLI_CONTRACT_H_
