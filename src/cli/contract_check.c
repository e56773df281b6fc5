// keel contract check: which programs of a run a contract does not list, and why they were asked
// for.
#include <stdio.h>

#include "cli/contract.h"
#include "explain/cause.h"
#include "text/facts.h"
#include "text/write.h"

typedef struct checking_t {
    const char *path, *junit, *sarif; // files
    bool json, annotations;
    int saved; // standard output, while a command has another; -1
    keel_contract_t contract;
    contract_check_t check;
    keel_arena_t arena;
    bool *appeared, *ran;
    contract_placed_t placed;
} checking_t;

bool contract_is_warning(const contract_left_t *left) {
    return left->scope == KEEL_CONTRACT_WARN && !left->is_unchecked;
}

const char *contract_file(const contract_check_t *check, const keel_run_place_t *place) {
    keel_str_t file = keel_str(place->file ? place->file : ""),
               cwd = keel_str(check->run->why.run.cwd);
    bool is_inside = cwd.size && keel_str_starts(file, cwd) && file.data[cwd.size] == '/';
    return is_inside ? file.data + cwd.size + 1 : file.data;
}

// ---- judging -----------------------------------------------------------------------------------

// A program that a read split off its step: the journal explains the read, not the program.
static keel_status_t find_read(checking_t *checking, contract_left_t *left) {
    const keel_reads_t *reads = &checking->check.run->why.run.reads;
    void *memory;
    for (size_t i = 0; i < reads->count && !left->root; ++i) {
        const keel_reads_line_t *line = &reads->lines[i];
        bool is_it = line->cuts && *line->shown && strcmp(line->shown, left->place->shown) == 0;
        if (!is_it) continue;
        KEEL_TRY(keel_arena_alloc(&checking->arena, sizeof *left->root, &memory));
        keel_run_difference_t *root = memory;
        *root = (keel_run_difference_t){.kind = KEEL_CAUSE_HOST_READ,
                                        .subject = "",
                                        .old_value = "",
                                        .new_value = "",
                                        .note = "",
                                        .place = *left->place};
        left->root = root;
        left->advice = keel_reads_advice(&checking->check.run->why, line);
    }
    return NULL;
}

static keel_status_t add_left(checking_t *checking, const contract_program_t *program,
                              const keel_contract_nearest_t *nearest, keel_contract_scope_t scope) {
    static const keel_run_place_t nowhere = {
        .file = "", .shown = "", .function = "", .call_file = "", .call_shown = ""};
    contract_check_t *check = &checking->check;
    const keel_why_t *why = &check->run->why;
    contract_left_t *left = &check->left[check->left_count];
    keel_buffer_t text;
    keel_str_t kept;
    *left = (contract_left_t){.program = program,
                              .nearest = *nearest,
                              .scope = scope,
                              .place = program->request ? &program->request->site : &nowhere,
                              .advice = ""};
    keel_buffer_initialize(&text, 0);
    left->is_unchecked = program->asked.elsewhere && !nearest->placements &&
                         keel_contract_may_list(check->contract, &program->asked);
    if (left->is_unchecked)
        keel_contract_tell_unchecked(&program->asked, check->path, &text);
    else
        keel_contract_tell(&program->asked, nearest, check->path, &text);
    keel_status_t status = keel_buffer_status(&text);
    if (!status)
        status = keel_arena_str(&checking->arena, keel_bytes_str(keel_buffer_bytes(&text)), &kept);
    keel_buffer_deinitialize(&text);
    KEEL_TRY(status);
    left->message = kept.data;
    if (program->entry) left->root = contract_cause(program->entry);
    if (left->root) left->place = keel_why_place(program->entry);
    keel_framework_t framework;
    keel_why_framework(why, &framework);
    if (left->root) left->advice = keel_why_advice(why, program->entry, left->root, framework);
    check->unchecked += left->is_unchecked;
    check->warned += contract_is_warning(left);
    ++check->left_count;
    return find_read(checking, left);
}

static keel_status_t judge(checking_t *checking, const contract_program_t *program) {
    contract_check_t *check = &checking->check;
    const keel_contract_asked_t *asked = &program->asked;
    keel_contract_found_t found;
    keel_contract_nearest_t nearest;
    const keel_fingerprint_t options =
        keel_contract_options(check->contract, &asked->options, &asked->machine);
    ++check->checked;
    bool is_listed = keel_contract_match(check->contract, &asked->fingerprint, &options, &found) ==
                     KEEL_CONTRACT_LISTED,
         may_be_placed = false;
    if (is_listed) {
        checking->appeared[found.pin->number] = true;
        KEEL_TRY(contract_placed_add(&checking->placed, check->contract, found.pin, program,
                                     &may_be_placed));
    }
    if (may_be_placed) return NULL;
    KEEL_TRY(keel_contract_nearest(check->contract, asked, is_listed ? found.pin : NULL,
                                   &checking->arena, &nearest));
    keel_contract_scope_t scope =
        nearest.entry ? nearest.entry->scope
                      : keel_contract_scope(check->contract, asked->name, asked->function);
    if (nearest.entry) checking->ran[nearest.entry - check->contract->entries] = true;
    bool fits = nearest.fits && !asked->elsewhere;
    check->within += fits;
    check->allowed += !fits && scope == KEEL_CONTRACT_ALLOW;
    if (fits || scope == KEEL_CONTRACT_ALLOW) return NULL;
    return add_left(checking, program, &nearest, scope);
}

static size_t count_missing(const contract_check_t *check, const keel_contract_entry_t *entry) {
    size_t missing = 0;
    for (uint32_t i = 0; i < entry->program_count; ++i)
        for (uint32_t k = 0; k < entry->programs[i].pin_count; ++k)
            missing += !check->appeared[entry->programs[i].pins[k].number];
    return missing;
}

// Otherwise that part of the script did not run.
bool contract_has_run(const contract_check_t *check, const keel_contract_entry_t *entry) {
    if (check->ran[entry - check->contract->entries]) return true;
    for (uint32_t i = 0; i < entry->program_count; ++i)
        for (uint32_t k = 0; k < entry->programs[i].pin_count; ++k)
            if (check->appeared[entry->programs[i].pins[k].number]) return true;
    return false;
}

static keel_status_t judge_all(checking_t *checking, const contract_run_t *run) {
    contract_check_t *check = &checking->check;
    void *memory;
    *check =
        (contract_check_t){.path = checking->path, .contract = &checking->contract, .run = run};
    KEEL_TRY(keel_arena_array(&checking->arena, run->count + 1, sizeof *check->left, &memory));
    check->left = memory;
    KEEL_TRY(keel_arena_array(&checking->arena, (size_t)checking->contract.pin_count + 1,
                              sizeof(bool), &memory));
    memset(memory, 0, ((size_t)checking->contract.pin_count + 1) * sizeof(bool));
    check->appeared = checking->appeared = memory;
    KEEL_TRY(keel_arena_array(&checking->arena, (size_t)checking->contract.entry_count + 1,
                              sizeof(bool), &memory));
    memset(memory, 0, ((size_t)checking->contract.entry_count + 1) * sizeof(bool));
    check->ran = checking->ran = memory;
    for (size_t i = 0; i < run->count; ++i)
        if (!run->programs[i].is_operation || checking->contract.operations)
            KEEL_TRY(judge(checking, &run->programs[i]));
    for (uint32_t i = 0; i < checking->contract.entry_count; ++i)
        check->missing += count_missing(check, &checking->contract.entries[i]);
    return NULL;
}

static bool has_left(const contract_check_t *check) {
    return check->left_count > check->warned + check->unchecked;
}

bool contract_is_unseen(const contract_check_t *check) {
    return !check->checked || check->unchecked || check->run->unread || check->run->gaps;
}

// ---- text --------------------------------------------------------------------------------------

static void write_cause(const contract_left_t *left, keel_buffer_t *out) {
    const keel_run_difference_t *root = left->root;
    if (!root) return;
    keel_buffer_format(out, "  %s", keel_cause_facts(root->kind)->word);
    keel_buffer_text(out, "  ");
    keel_write_foreign(out, *left->place->shown ? left->place->shown : "unknown line");
    keel_buffer_text(out, *root->subject ? "  " : "");
    keel_write_foreign(out, root->subject);
    if (!*root->old_value && !*root->new_value) return;
    keel_buffer_text(out, "  ");
    keel_write_foreign(out, root->old_value);
    keel_buffer_text(out, " -> ");
    keel_write_foreign(out, root->new_value);
}

static void write_left(const contract_left_t *left, size_t number, keel_buffer_t *out) {
    const keel_run_request_t *request = left->program->request;
    char took[32] = "-";
    if (request) keel_format_took(&request->took, took);
    keel_buffer_format(out, "%zu  %sstep %llu  %s", number,
                       contract_is_warning(left) ? "warning  " : "",
                       (unsigned long long)(request ? request->step : 0), took);
    if (left->root) {
        write_cause(left, out);
    } else {
        keel_buffer_text(out, "  ");
        keel_write_foreign(out, *left->place->shown ? left->place->shown : "unknown line");
    }
    keel_buffer_text(out, "\n     ");
    keel_write_foreign(out, left->message);
    keel_buffer_byte(out, '\n');
    if (*left->advice)
        keel_buffer_format(out, "     %s  keel explain %s\n", left->advice,
                           keel_cause_facts(left->root->kind)->word);
}

static void write_missing(const contract_check_t *check, keel_buffer_t *out) {
    for (uint32_t i = 0; i < check->contract->entry_count; ++i) {
        const keel_contract_entry_t *entry = &check->contract->entries[i];
        size_t missing = count_missing(check, entry);
        if (!missing) continue;
        keel_write_foreign_str(out, keel_contract_short_name(entry->name, entry->function));
        if (contract_has_run(check, entry))
            keel_buffer_format(out, ": %zu of its listed programs did not appear\n", missing);
        else
            keel_buffer_text(out, " did not run\n");
    }
}

static void write_made_with(const char *what, keel_str_t listed, keel_str_t own,
                            keel_buffer_t *out) {
    if (!listed.size || !own.size || keel_str_equal(listed, own)) return;
    keel_buffer_format(out, "%s: the contract was made with ", what);
    keel_write_foreign_str(out, listed);
    keel_buffer_text(out, ", this run had ");
    keel_write_foreign_str(out, own);
    keel_buffer_byte(out, '\n');
}

// The first of them, and what to do.
static void write_unread(const contract_run_t *run, keel_buffer_t *out) {
    if (!run->first_unread) return;
    keel_buffer_text(out, run->unread == 1 ? ": " : "; the first is ");
    keel_write_foreign(out, run->first_unread->name);
    keel_buffer_text(out, ". `keel show ");
    keel_str_t digest = keel_str(run->first_unread->program);
    if (digest.size > 12) digest.size = 12; // as in reports
    keel_write_foreign_str(out, digest);
    keel_buffer_text(out, "` says why");
}

// Why there is no answer.
static void write_unseen(const contract_check_t *check, keel_buffer_t *out) {
    if (!check->checked && !check->run->unread && !check->run->gaps)
        keel_buffer_text(out, "The run asked for no program that a contract lists, so nothing was "
                              "checked.\n");
    if (check->unchecked) {
        keel_write_counted(out, check->unchecked, "program");
        keel_buffer_format(out,
                           " %s loaded from elsewhere and could not be checked: what the contract "
                           "lists was traced, and of %s only the optimized form is known.\n",
                           check->unchecked == 1 ? "was" : "were",
                           check->unchecked == 1 ? "this one" : "these");
    }
    if (check->run->unread) {
        keel_write_counted(out, check->run->unread, "program");
        keel_buffer_text(out, " could not be read, and so not checked");
        write_unread(check->run, out);
        keel_buffer_text(out, ".\n");
    }
    if (check->run->gaps) {
        keel_buffer_text(out, "The record of the run has gaps, so not all was checked: ");
        keel_write_foreign(out, check->run->gap);
        keel_buffer_byte(out, '\n');
    }
}

static void write_text(const contract_check_t *check, keel_buffer_t *out) {
    keel_write_foreign(out, check->path);
    if (has_left(check))
        keel_buffer_format(out, ": left by %zu of ",
                           check->left_count - check->warned - check->unchecked);
    else
        keel_buffer_text(out, contract_is_unseen(check) ? ": not checked: " : " holds: ");
    keel_write_counted(out, check->checked, "program");
    if (check->unchecked) keel_buffer_format(out, ", %zu loaded from elsewhere", check->unchecked);
    if (check->run->unread)
        keel_buffer_format(out, ", %llu unread", (unsigned long long)check->run->unread);
    if (check->within) keel_buffer_format(out, ", %zu new within bounds", check->within);
    if (check->allowed) keel_buffer_format(out, ", %zu not listed and allowed", check->allowed);
    if (check->warned) keel_buffer_format(out, ", %zu not listed and reported", check->warned);
    keel_buffer_byte(out, '\n');
    for (size_t i = 0; i < check->left_count; ++i) {
        keel_buffer_byte(out, '\n');
        write_left(&check->left[i], i + 1, out);
    }
    if (check->left_count || check->missing) keel_buffer_byte(out, '\n');
    if (!check->unchecked) write_missing(check, out); // one of those may be it
    write_unseen(check, out);
    if (!has_left(check)) return;
    write_made_with("client", check->contract->client, check->run->client, out);
    write_made_with("plugin", check->contract->plugin, check->run->plugin, out);
    write_made_with("devices", check->contract->devices, check->run->devices, out);
    write_made_with("flag profile", check->contract->profile, check->run->profile, out);
    keel_buffer_text(out, "If it belongs there: keel contract update --only ");
    const keel_contract_asked_t *asked = &check->left[0].program->asked;
    keel_write_foreign_str(out, keel_contract_short_name(asked->name, asked->function));
    keel_buffer_byte(out, ' ');
    keel_write_foreign(out, check->path);
    keel_buffer_format(out, " --from %s\n", check->run->why.run.id);
}

// ---- JSON --------------------------------------------------------------------------------------

static void json_cause(keel_json_t *json, const contract_check_t *check,
                       const contract_left_t *left) {
    const keel_run_difference_t *root = left->root;
    keel_json_string(json, "kind", root ? keel_cause_facts(root->kind)->word : "");
    keel_json_string(json, "subject", root ? root->subject : "");
    keel_json_string(json, "old", root ? root->old_value : "");
    keel_json_string(json, "new", root ? root->new_value : "");
    keel_json_string(json, "file", contract_file(check, left->place));
    keel_json_unsigned(json, "line", left->place->line);
    keel_json_string(json, "advice", left->advice);
}

static void json_left(keel_json_t *json, const contract_check_t *check,
                      const contract_left_t *left) {
    const keel_run_request_t *request = left->program->request;
    keel_json_break(json, "\n ");
    keel_json_object(json, NULL);
    keel_json_str(json, "entry", left->program->asked.name);
    keel_json_str(json, "function", left->program->asked.function);
    keel_json_string(json, "scope", keel_contract_scope_word(left->scope));
    keel_json_bool(json, "unchecked", left->is_unchecked);
    keel_json_string(json, "message", left->message);
    keel_json_string(json, "program", left->program->program);
    keel_json_hex(json, "fingerprint",
                  keel_bytes(left->program->asked.fingerprint.bytes, KEEL_FINGERPRINT_SIZE));
    keel_json_unsigned(json, "step", request ? request->step : 0);
    if (request && !request->took.unknown)
        keel_json_double(json, "seconds", request->took.seconds, 6);
    else
        keel_json_null(json, "seconds");
    json_cause(json, check, left);
    keel_json_array(json, "differences");
    for (uint32_t i = 0; i < left->nearest.count; ++i) {
        const keel_contract_difference_t *difference = &left->nearest.differences[i];
        keel_json_object(json, NULL);
        keel_json_str(json, "name", difference->name);
        keel_json_string(json, "asked", difference->asked);
        keel_json_string(json, "listed", difference->listed);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
    keel_json_unsigned(json, "difference_total", left->nearest.total);
    keel_json_end_object(json);
}

static void json_missing(keel_json_t *json, const contract_check_t *check) {
    keel_json_array(json, "missing");
    for (uint32_t i = 0; i < check->contract->entry_count; ++i) {
        const keel_contract_entry_t *entry = &check->contract->entries[i];
        size_t missing = count_missing(check, entry);
        if (!missing) continue;
        keel_json_object(json, NULL);
        keel_json_str(json, "entry", entry->name);
        keel_json_unsigned(json, "programs", missing);
        keel_json_bool(json, "ran", contract_has_run(check, entry));
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void write_json(const contract_check_t *check, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "contract", check->path);
    keel_json_string(&json, "run", check->run->why.run.id);
    keel_json_bool(&json, "holds", !has_left(check) && !contract_is_unseen(check));
    keel_json_unsigned(&json, "programs", check->checked);
    keel_json_unsigned(&json, "within_bounds", check->within);
    keel_json_unsigned(&json, "allowed", check->allowed);
    keel_json_unsigned(&json, "warned", check->warned);
    keel_json_unsigned(&json, "unchecked", check->unchecked);
    keel_json_unsigned(&json, "unread", check->run->unread);
    keel_json_unsigned(&json, "gaps", check->run->gaps);
    keel_json_array(&json, "left");
    for (size_t i = 0; i < check->left_count; ++i)
        json_left(&json, check, &check->left[i]);
    keel_json_end_array(&json);
    json_missing(&json, check);
    keel_json_end_object(&json);
}

// ---- the command -------------------------------------------------------------------------------

static keel_status_t write_file(const char *path,
                                void (*write)(const contract_check_t *check, keel_buffer_t *out),
                                const contract_check_t *check) {
    keel_buffer_t text;
    if (!path) return NULL;
    keel_buffer_initialize(&text, 0);
    write(check, &text);
    return cli_write_output(path, &text);
}

static int answer(const checking_t *checking) {
    const contract_check_t *check = &checking->check;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    if (checking->json)
        write_json(check, &out);
    else
        write_text(check, &out);
    if (checking->annotations && !checking->json) contract_annotations(check, &out);
    int code = cli_answer(&out);
    if (code != CLI_OK) return code;
    return has_left(check) ? CLI_NO : contract_is_unseen(check) ? CLI_UNSEEN : CLI_OK;
}

// A rehearsal that failed has asked for all the same.
static void say_unasked(const cli_ended_t *ended) {
    if (ended->command == CLI_OK && ended->code != CLI_UNSEEN) return;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    cli_ended_tell(ended, &text);
    cli_say("%s; what it would have asked for later is not checked", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
}

static int use(void *context, const char *run_dir, const char *id, const cli_ended_t *ended) {
    checking_t *checking = context;
    contract_run_t run;
    int code = ended->code;
    contract_return_output(checking->saved);
    keel_status_t status = contract_run_read(run_dir, id, &run);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        cli_say("the command asked for no program through Keel, so nothing was checked");
        say_unasked(ended);
        return code != CLI_OK ? code : CLI_UNSEEN;
    }
    if (status) return cli_fail(status);
    keel_arena_initialize(&checking->arena, 0);
    status = contract_placed_initialize(&run, &checking->placed);
    if (!status) status = judge_all(checking, &run);
    if (!status) status = write_file(checking->junit, contract_junit, &checking->check);
    if (!status) status = write_file(checking->sarif, contract_sarif, &checking->check);
    int held = status ? cli_fail(status) : answer(checking);
    say_unasked(ended);
    contract_placed_deinitialize(&checking->placed);
    keel_arena_deinitialize(&checking->arena);
    contract_run_deinitialize(&run);
    bool is_own = held == CLI_OK || (held == CLI_UNSEEN && code != CLI_OK);
    return is_own ? code : held;
}

// Before the command runs, so that a bad contract costs no time.
static bool check_options(void *context, const cli_call_t *call, int *out_code) {
    checking_t *checking = context;
    if (!checking->path || !*checking->path) {
        *out_code = cli_misuse(call, "no contract; name it: --contract keel.contract");
        return false;
    }
    if (checking->json && checking->annotations) {
        *out_code = cli_misuse(call, "--annotations and --json both go to stdout; use one of them");
        return false;
    }
    keel_status_t status = checking->junit ? cli_check_output(checking->junit) : NULL;
    if (!status && checking->sarif) status = cli_check_output(checking->sarif);
    if (!status) status = contract_read(checking->path, &checking->contract);
    if (status) {
        *out_code = cli_fail(status);
        return false;
    }
    checking->saved = contract_turn_output(checking->json);
    return true;
}

static const char details[] =
    "Each program of the run that the contract does not list is named with its cause, the line\n"
    "and what to do, as `keel why` has them. A program that is listed and did not appear is no\n"
    "drift: that part of the script did not run. The exit code is 0 if the contract holds and 1 "
    "if\n"
    "the run left it, or else the command's own; 4 if programs could not be checked, because they\n"
    "were loaded from elsewhere or could not be read, or if there were none.\n";

int contract_check(cli_call_t *call) {
    checking_t checking = {.saved = -1};
    const cli_run_use_t run_use = {check_options, use, &checking};
    call->details = details;
    cli_text(call, "--contract", "FILE", "the contract", &checking.path);
    cli_text(call, "--junit", "FILE", "write JUnit XML, a test for each entry point",
             &checking.junit);
    cli_text(call, "--sarif", "FILE", "write SARIF, a result for each program", &checking.sarif);
    cli_switch(call, "--annotations", "print lines that GitHub shows at the source lines",
               &checking.annotations);
    cli_switch(call, "--json", "print JSON", &checking.json);
    int code = cli_run_or_recorded(call, 0, &run_use);
    keel_contract_deinitialize(&checking.contract);
    return code;
}
