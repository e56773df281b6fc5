// What `keel smoke` answers: which programs of a run the first run did not have, and why.
#include <stdio.h>

#include "cli/smoke.h"
#include "explain/cause.h"
#include "text/write.h"

// ---- other programs ----------------------------------------------------------------------------

static bool has_key(const contract_run_t *run, const char *key) {
    for (size_t i = 0; i < run->count; ++i)
        if (strcmp(run->programs[i].key, key) == 0) return true;
    return false;
}

// Whether the program is one that the first run did not have, or that cannot be kept. A rehearsal
// compiles nothing, so only the first counts there.
static bool is_again(const smoke_t *smoke, const contract_program_t *program) {
    const keel_run_request_t *request = program->request;
    if (!has_key(&smoke->runs[0].run, program->key)) return true;
    return !smoke->on && request && !request->is_load;
}

static bool is_other(const smoke_t *smoke, const smoke_run_t *run,
                     const contract_program_t *program) {
    const contract_run_t *first = &smoke->runs[0].run;
    if (!run->variation) return is_again(smoke, program);
    if (program->is_operation) return false;
    // Another number of devices changes each key, but not each program.
    for (size_t i = 0; i < first->count; ++i)
        if (keel_fingerprint_equal(&first->programs[i].asked.fingerprint,
                                   &program->asked.fingerprint) &&
            keel_fingerprint_equal(&first->programs[i].asked.options, &program->asked.options))
            return false;
    return true;
}

size_t smoke_count_other(const smoke_t *smoke, const smoke_run_t *run) {
    size_t count = 0;
    for (size_t i = 0; i < run->run.count; ++i)
        count += is_other(smoke, run, &run->run.programs[i]);
    return count;
}

size_t smoke_count_unseen(const smoke_t *smoke) {
    size_t count = 0;
    for (int i = 0; i < 2; ++i) {
        const contract_run_t *run = &smoke->runs[i].run;
        count += run->unread + run->gaps;
        for (size_t k = 0; k < run->count; ++k)
            count += run->programs[k].asked.elsewhere != NULL;
    }
    return smoke->runs[0].run.count || count ? count : SIZE_MAX;
}

static size_t count_looked_at(const smoke_run_t *run) {
    size_t count = 0;
    for (size_t i = 0; i < run->run.count; ++i)
        count += !run->variation || !run->run.programs[i].is_operation;
    return count;
}

// ---- the answer --------------------------------------------------------------------------------

// Without a cause: what differs from the first run's nearest program.
static keel_status_t tell_nearest(const smoke_t *smoke, const contract_program_t *program,
                                  keel_buffer_t *out) {
    keel_contract_t contract;
    keel_contract_nearest_t nearest;
    keel_arena_t arena;
    KEEL_TRY(contract_of_run(&smoke->runs[0].run, &(contract_lists_t){.operations = true}, NULL,
                             &contract));
    keel_arena_initialize(&arena, 0);
    keel_status_t status =
        keel_contract_nearest(&contract, &program->asked, NULL, &arena, &nearest);
    bool is_known = has_key(&smoke->runs[0].run, program->key);
    if (is_known)
        keel_buffer_text(out, "it cannot be kept, so each run compiles it");
    else if (!status)
        keel_contract_tell(&program->asked, &nearest, "the first run", out);
    keel_arena_deinitialize(&arena);
    keel_contract_deinitialize(&contract);
    return status;
}

static keel_status_t tell_program(const smoke_t *smoke, const contract_program_t *program,
                                  keel_buffer_t *out) {
    const keel_run_difference_t *root = contract_cause(program->entry);
    const keel_run_place_t *place = root               ? keel_why_place(program->entry)
                                    : program->request ? &program->request->site
                                                       : NULL;
    keel_buffer_text(out, "  ");
    keel_write_foreign_str(out,
                           keel_contract_short_name(program->asked.name, program->asked.function));
    if (root) keel_buffer_format(out, "  %s", keel_cause_facts(root->kind)->word);
    keel_buffer_text(out, "  ");
    keel_write_foreign(out, place && *place->shown ? place->shown : "unknown line");
    keel_buffer_text(out, "  ");
    if (!root) {
        KEEL_TRY(tell_nearest(smoke, program, out));
    } else {
        keel_write_foreign(out, root->subject);
        bool has_values = *root->old_value || *root->new_value;
        keel_buffer_text(out, has_values ? "  " : "");
        keel_write_foreign(out, root->old_value);
        keel_buffer_text(out, has_values ? " -> " : "");
        keel_write_foreign(out, root->new_value);
    }
    keel_buffer_byte(out, '\n');
    return keel_buffer_status(out);
}

static void tell_unseen(size_t unseen, keel_buffer_t *out) {
    if (unseen == SIZE_MAX) {
        keel_buffer_text(out, "not checked: the command asked for no program\n");
    } else if (unseen) {
        keel_buffer_text(out, "not checked: ");
        keel_write_counted(out, unseen, "program");
        keel_buffer_format(out,
                           " of the two runs %s loaded from elsewhere or unread, so whether "
                           "another process would compile %s is not known\n",
                           unseen == 1 ? "was" : "were", unseen == 1 ? "it" : "them");
    }
}

static keel_status_t tell_run(const smoke_t *smoke, const smoke_run_t *run, keel_buffer_t *out) {
    size_t other = smoke_count_other(smoke, run);
    if (!run->has_run) {
        keel_buffer_text(out, "vary ");
        keel_write_foreign(out, run->variation);
        keel_buffer_text(out, ": ");
        cli_ended_tell(&run->ended, out);
        keel_buffer_byte(out, '\n');
    } else if (run->variation) {
        keel_buffer_text(out, "vary ");
        keel_write_foreign(out, run->variation);
        keel_buffer_format(out, ": %zu of ", other);
        keel_write_counted(out, count_looked_at(run), "program");
        keel_buffer_format(out, " %s\n", other == 1 ? "differs" : "differ");
    } else {
        keel_buffer_text(out, "smoke: ");
        keel_write_counted(out, smoke->runs[0].run.count, "program");
        if (other)
            keel_buffer_format(out, "; the second run %s %zu\n",
                               smoke->on ? "asked for others:" : "compiled", other);
        else
            keel_buffer_format(out, "; the second run %s\n",
                               smoke->on ? "asked for the same" : "compiled nothing");
    }
    for (size_t i = 0; i < run->run.count; ++i)
        if (is_other(smoke, run, &run->run.programs[i]))
            KEEL_TRY(tell_program(smoke, &run->run.programs[i], out));
    if (!run->variation) tell_unseen(smoke_count_unseen(smoke), out);
    return NULL;
}

static keel_status_t json_program(const smoke_t *smoke, const contract_program_t *program,
                                  keel_json_t *json) {
    const keel_run_difference_t *root = contract_cause(program->entry);
    const keel_run_place_t *place = root               ? keel_why_place(program->entry)
                                    : program->request ? &program->request->site
                                                       : NULL;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    if (!root) {
        keel_status_t status = tell_nearest(smoke, program, &text);
        if (status) {
            keel_buffer_deinitialize(&text);
            return status;
        }
    }
    keel_json_break(json, "\n  ");
    keel_json_object(json, NULL);
    keel_json_str(json, "name", program->asked.name);
    keel_json_str(json, "function", program->asked.function);
    keel_json_string(json, "program", program->program);
    keel_json_string(json, "kind", root ? keel_cause_facts(root->kind)->word : "");
    keel_json_string(json, "subject", root ? root->subject : "");
    keel_json_string(json, "old", root ? root->old_value : "");
    keel_json_string(json, "new", root ? root->new_value : "");
    keel_json_string(json, "note", keel_buffer_cstr(&text));
    keel_json_string(json, "file", place && place->file ? place->file : "");
    keel_json_unsigned(json, "line", place ? place->line : 0);
    keel_json_end_object(json);
    keel_buffer_deinitialize(&text);
    return NULL;
}

static keel_status_t write_json(const smoke_t *smoke, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    size_t unseen = smoke_count_unseen(smoke);
    keel_json_bool(&json, "holds", !unseen && smoke_count_other(smoke, &smoke->runs[1]) == 0);
    keel_json_unsigned(&json, "unchecked", unseen == SIZE_MAX ? 0 : unseen);
    keel_json_unsigned(&json, "programs", smoke->runs[0].run.count);
    keel_json_array(&json, "runs");
    for (size_t i = 0; i < smoke->count; ++i) {
        const smoke_run_t *run = &smoke->runs[i];
        keel_json_break(&json, "\n ");
        keel_json_object(&json, NULL);
        keel_json_string(&json, "run", run->has_run ? run->run.why.run.id : "");
        keel_json_int(&json, "exit_code", run->ended.code);
        keel_json_string(&json, "variation", run->variation ? run->variation : "");
        keel_json_unsigned(&json, "programs", count_looked_at(run));
        keel_json_array(&json, "others");
        for (size_t k = 0; i && k < run->run.count; ++k)
            if (is_other(smoke, run, &run->run.programs[k]))
                KEEL_TRY(json_program(smoke, &run->run.programs[k], &json));
        keel_json_end_array(&json);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
    keel_json_end_object(&json);
    return keel_buffer_status(out);
}

int smoke_answer(const smoke_t *smoke) {
    keel_buffer_t out;
    keel_status_t status = NULL;
    keel_buffer_initialize(&out, 0);
    if (smoke->json) status = write_json(smoke, &out);
    for (size_t i = 1; !smoke->json && !status && i < smoke->count; ++i)
        status = tell_run(smoke, &smoke->runs[i], &out);
    if (status) {
        keel_buffer_deinitialize(&out);
        return cli_fail(status);
    }
    int code = cli_answer(&out);
    if (code != CLI_OK) return code;
    if (smoke_count_other(smoke, &smoke->runs[1])) return CLI_NO;
    return smoke_count_unseen(smoke) ? CLI_UNSEEN : CLI_OK;
}
