// keel contract record, update: a contract from a run.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/contract.h"
#include "text/write.h"

typedef struct recording_t {
    const char *path; // of the contract
    const char *only; // the entry to update; NULL: all
    bool operations, machine, json;
    int saved; // standard output, while a command has another; -1
} recording_t;

// With --json, standard output is the answer's: what the command prints there goes to stderr.
int contract_turn_output(bool json) {
    if (!json) return -1;
    fflush(stdout);
    int saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (saved >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    return saved;
}

void contract_return_output(int saved) {
    if (saved < 0) return;
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

// ---- writing -----------------------------------------------------------------------------------

static keel_status_t write_file(const char *path, const keel_contract_t *contract) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_contract_write(contract, &text);
    return cli_write_output(path, &text);
}

static int tell_recorded(const recording_t *recording, const keel_contract_t *contract,
                         const contract_run_t *run, const char *id) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    if (recording->json) {
        keel_json_t json = keel_json(&out, KEEL_JSON_SPACED);
        keel_json_object(&json, NULL);
        keel_json_string(&json, "contract", recording->path);
        keel_json_string(&json, "run", id);
        keel_json_unsigned(&json, "entries", contract->entry_count);
        keel_json_unsigned(&json, "programs", contract->pin_count);
        keel_json_unsigned(&json, "settled", contract->settled);
        keel_json_unsigned(&json, "unread", run->unread);
        keel_json_unsigned(&json, "gaps", run->gaps);
        keel_json_end_object(&json);
    } else {
        keel_write_foreign(&out, recording->path);
        keel_buffer_format(&out, ": ");
        keel_write_counted(&out, contract->pin_count, "program");
        keel_buffer_format(&out, " of %u entry point%s of run %s", contract->entry_count,
                           contract->entry_count == 1 ? "" : "s", id);
    }
    if (run->unread)
        cli_say("%llu programs could not be read and are not listed; `keel stats` names them",
                (unsigned long long)run->unread);
    if (run->gaps)
        cli_say("the record of the run has gaps, so programs may be missing: %s", run->gap);
    if (run->why.run.asides.elsewhere)
        cli_say("%llu executables were loaded from elsewhere: their optimized programs are listed, "
                "which no run that compiles them has",
                (unsigned long long)run->why.run.asides.elsewhere);
    if (keel_run_is_restless(&run->why.run))
        cli_say("the last step of the run had a new program: a longer run may need more");
    return cli_answer(&out);
}

// ---- the contract ------------------------------------------------------------------------------

static bool has_entry(const keel_contract_t *contract, keel_str_t name) {
    for (uint32_t i = 0; i < contract->entry_count; ++i)
        if (keel_contract_is_named(&contract->entries[i], name)) return true;
    return false;
}

// Of a contract that is there, scopes, bounds and comments stay.
static keel_status_t read_older(const recording_t *recording, keel_contract_t *out,
                                bool *out_found) {
    keel_status_t status = keel_contract_read(recording->path, out);
    *out_found = !status;
    bool is_needed = recording->only || keel_status_code(status) == KEEL_NO_MEMORY;
    if (!status || is_needed) return status;
    if (keel_status_code(status) != KEEL_NOT_FOUND)
        cli_say("%s; nothing of it is kept", keel_status_message(status));
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t merge(const recording_t *recording, keel_contract_t *older,
                           const keel_contract_t *fresh) {
    keel_str_t name = keel_str(recording->only);
    if (!has_entry(fresh, name))
        return keel_status_make(KEEL_NOT_FOUND,
                                "--only %s: the run asked for no program of that name; "
                                "`keel stats` lists them",
                                recording->only);
    return keel_contract_update(older, fresh, name);
}

static keel_status_t make(const recording_t *recording, const contract_run_t *run, const char *id,
                          int *out_code) {
    keel_contract_t older, fresh;
    bool found;
    KEEL_TRY(read_older(recording, &older, &found));
    const contract_lists_t lists = {
        .operations = recording->operations || (found && older.operations),
        .machine = recording->machine || (found && older.machine),
    };
    keel_status_t status = contract_of_run(run, &lists, found ? &older : NULL, &fresh);
    if (!status) {
        const keel_contract_t *made = recording->only ? &older : &fresh;
        if (recording->only) status = merge(recording, &older, &fresh);
        if (!status && !made->pin_count)
            status = keel_status_make(KEEL_NOT_FOUND,
                                      "run %s asked for no program that a contract lists", id);
        if (!status) status = write_file(recording->path, made);
        if (!status) *out_code = tell_recorded(recording, made, run, id);
        keel_contract_deinitialize(&fresh);
    }
    if (found) keel_contract_deinitialize(&older);
    return status;
}

// ---- on_drift = record -------------------------------------------------------------------------

static keel_status_t is_missing(const keel_contract_t *contract, contract_placed_t *placed,
                                const contract_program_t *program, bool *out) {
    const keel_contract_asked_t *asked = &program->asked;
    keel_contract_found_t found;
    *out = false;
    if (program->is_operation && !contract->operations) return NULL;
    const keel_fingerprint_t options =
        keel_contract_options(contract, &asked->options, &asked->machine);
    bool is_listed = keel_contract_match(contract, &asked->fingerprint, &options, &found) ==
                     KEEL_CONTRACT_LISTED,
         may_be_placed = false;
    if (is_listed)
        KEEL_TRY(contract_placed_add(placed, contract, found.pin, program, &may_be_placed));
    if (may_be_placed) return NULL;
    if (keel_contract_scope(contract, asked->name, asked->function) == KEEL_CONTRACT_ALLOW)
        return NULL;
    keel_arena_t arena;
    keel_contract_nearest_t nearest = {.fits = true};
    keel_arena_initialize(&arena, 0);
    keel_status_t status =
        keel_contract_nearest(contract, asked, is_listed ? found.pin : NULL, &arena, &nearest);
    *out = !nearest.fits;
    keel_arena_deinitialize(&arena);
    return status;
}

static keel_status_t add_missing(const contract_run_t *run, const keel_contract_t *older,
                                 contract_placed_t *placed, keel_contract_t *out,
                                 size_t *out_added) {
    *out_added = 0;
    for (size_t i = 0; i < run->count; ++i) {
        bool missing;
        KEEL_TRY(is_missing(older, placed, &run->programs[i], &missing));
        if (!missing) continue;
        KEEL_TRY(contract_add_program(out, &run->programs[i]));
        ++*out_added;
    }
    return *out_added ? keel_contract_settle(out, older) : NULL;
}

static keel_status_t extend(const char *path, const contract_run_t *run, size_t *out_added) {
    keel_contract_t older, extended;
    contract_placed_t placed = {0};
    KEEL_TRY(keel_contract_read(path, &older));
    keel_status_t status = keel_contract_read(path, &extended);
    if (!status) {
        status = contract_placed_initialize(run, &placed);
        if (!status) status = add_missing(run, &older, &placed, &extended, out_added);
        if (!status && *out_added) status = write_file(path, &extended);
        keel_contract_deinitialize(&extended);
    }
    contract_placed_deinitialize(&placed);
    keel_contract_deinitialize(&older);
    return status;
}

keel_status_t cli_contract_extend(const char *path, const char *run_dir, const char *id,
                                  bool quiet) {
    contract_run_t run;
    size_t added;
    KEEL_TRY(contract_run_read(run_dir, id, &run));
    keel_status_t status = extend(path, &run, &added);
    contract_run_deinitialize(&run);
    if (!status && added && !quiet)
        cli_say("%s: %zu program%s added; look at the change before you commit it", path, added,
                added == 1 ? "" : "s");
    return status;
}

// ---- what a run is used for --------------------------------------------------------------------

static int refuse(const recording_t *recording, const cli_ended_t *ended) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    cli_ended_tell(ended, &text);
    cli_say("%s, so %s is not written", keel_buffer_cstr(&text), recording->path);
    keel_buffer_deinitialize(&text);
    return ended->code;
}

static int use(void *context, const char *run_dir, const char *id, const cli_ended_t *ended) {
    recording_t *recording = context;
    contract_run_t run;
    int code = CLI_OK;
    contract_return_output(recording->saved);
    if (ended->code != CLI_OK) return refuse(recording, ended);
    keel_status_t status = contract_run_read(run_dir, id, &run);
    if (status) return cli_fail(status);
    status = make(recording, &run, id, &code);
    contract_run_deinitialize(&run);
    return status ? cli_fail(status) : code;
}

// ---- the commands ------------------------------------------------------------------------------

// Before the command runs, so that a name that cannot be written costs no time.
static bool begin(recording_t *recording, int *out_code) {
    keel_status_t status = cli_check_output(recording->path);
    if (status) {
        *out_code = cli_fail(status);
        return false;
    }
    recording->saved = contract_turn_output(recording->json);
    return true;
}

static bool check_record(void *context, const cli_call_t *call, int *out_code) {
    recording_t *recording = context;
    if (!recording->path || !*recording->path) {
        *out_code = cli_misuse(call, "no file; name it: -o keel.contract");
        return false;
    }
    return begin(recording, out_code);
}

static bool check_update(void *context, const cli_call_t *call, int *out_code) {
    recording_t *recording = context;
    recording->path = call->rest[0];
    if (!recording->only || !*recording->only) {
        *out_code = cli_misuse(call, "no entry; name it: --only jit_step");
        return false;
    }
    return begin(recording, out_code);
}

static const char record_details[] =
    "FILE lists the programs that the run asked for. If it is a contract already, its scopes, "
    "bounds,\n"
    "comments and the order of its programs stay. The command is run as `keel run` does, or\n"
    "rehearsed with --on; if it fails, nothing is written. Operations that run by themselves,\n"
    "outside jit, are not listed unless --with-operations says so. Any machine may run what is\n"
    "listed, unless --with-machine says that another plugin, number of devices or variable that\n"
    "plugins read is drift too.\n";

int contract_record(cli_call_t *call) {
    recording_t recording = {.saved = -1};
    const cli_run_use_t run_use = {check_record, use, &recording};
    call->details = record_details;
    cli_text(call, "-o", "FILE", "the contract to write", &recording.path);
    cli_switch(call, "--with-operations", "list operations that ran outside jit too",
               &recording.operations);
    cli_switch(call, "--with-machine", "list programs for this machine and plugin only",
               &recording.machine);
    cli_switch(call, "--json", "print what was written as JSON", &recording.json);
    return cli_run_or_recorded(call, 0, &run_use);
}

static const char update_details[] = "NAME is an entry's name. Its programs become those that the "
                                     "run asked for; everything else in\n"
                                     "FILE stays as it is.\n";

int contract_update(cli_call_t *call) {
    recording_t recording = {.saved = -1};
    const cli_run_use_t run_use = {check_update, use, &recording};
    call->details = update_details;
    cli_text(call, "--only", "NAME", "the entry point: its name, or its function", &recording.only);
    cli_switch(call, "--json", "print what was written as JSON", &recording.json);
    return cli_run_or_recorded(call, 1, &run_use);
}
