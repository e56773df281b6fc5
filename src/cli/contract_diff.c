// keel contract diff: what changed between two contracts.
#include "cli/contract.h"
#include "text/write.h"

static void write_json(const keel_contract_changes_t *changes, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_bool(&json, "programs", changes->programs);
    keel_json_array(&json, "changes");
    for (size_t i = 0; i < changes->count; ++i) {
        const keel_contract_change_t *change = &changes->list[i];
        keel_json_break(&json, "\n ");
        keel_json_object(&json, NULL);
        keel_json_string(&json, "kind", change->kind);
        keel_json_str(&json, "entry", change->entry);
        keel_json_string(&json, "what", change->what);
        keel_json_str(&json, "name", change->name);
        keel_json_string(&json, "old", change->old_value);
        keel_json_string(&json, "new", change->new_value);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
    keel_json_end_object(&json);
}

static void write_value(keel_buffer_t *out, const char *before, const char *value) {
    if (!*value) return;
    keel_buffer_text(out, before);
    keel_write_foreign(out, value);
}

static void write_change(const keel_contract_change_t *change, keel_buffer_t *out) {
    bool is_entry = strcmp(change->what, "entry") == 0;
    if (change->entry.size) keel_write_foreign_str(out, change->entry);
    if (change->entry.size) keel_buffer_text(out, ": ");
    if (is_entry) {
        keel_buffer_text(out, change->kind);
    } else if (change->name.size) {
        keel_write_foreign_str(out, change->name);
        keel_buffer_format(out, " %s", change->kind);
    } else {
        keel_buffer_format(out, "%s %s", change->what, change->kind);
    }
    bool is_changed = strcmp(change->kind, "changed") == 0;
    write_value(out, ": ", change->old_value);
    if (is_changed && !*change->old_value) keel_buffer_text(out, ": none");
    write_value(out, is_changed ? " -> " : ": ", change->new_value);
    if (is_changed && !*change->new_value) keel_buffer_text(out, " -> none");
    keel_buffer_byte(out, '\n');
}

static const char details[] =
    "The exit code is 1 if different programs are allowed than before, and 0 if the contracts are\n"
    "equal or differ in figures and in what they were made with only.\n";

int contract_diff(cli_call_t *call) {
    bool json = false;
    int code;
    keel_contract_t before, after;
    keel_contract_changes_t changes;
    call->details = details;
    cli_switch(call, "--json", "print JSON", &json);
    if (!cli_parse(call, 2, 2, &code)) return code;
    keel_status_t status = contract_read(call->rest[0], &before);
    if (status) return cli_fail(status);
    status = contract_read(call->rest[1], &after);
    if (!status) {
        status = keel_contract_compare(&before, &after, &changes);
        if (status) keel_contract_deinitialize(&after);
    }
    if (status) {
        keel_contract_deinitialize(&before);
        return cli_fail(status);
    }
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    if (json)
        write_json(&changes, &out);
    else if (!changes.count)
        keel_buffer_text(&out, "the contracts list the same\n");
    for (size_t i = 0; !json && i < changes.count; ++i)
        write_change(&changes.list[i], &out);
    bool differ = changes.programs;
    keel_contract_changes_deinitialize(&changes);
    keel_contract_deinitialize(&before);
    keel_contract_deinitialize(&after);
    code = cli_answer(&out);
    return code == CLI_OK && differ ? CLI_NO : code;
}
