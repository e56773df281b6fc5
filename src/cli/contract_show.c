// keel contract show: what a contract lists.
#include <stdio.h>

#include "cli/contract.h"
#include "text/write.h"

// ---- JSON --------------------------------------------------------------------------------------

static void json_fingerprint(keel_json_t *json, const char *name,
                             const keel_fingerprint_t *fingerprint) {
    keel_json_hex(json, name, keel_bytes(fingerprint->bytes, sizeof fingerprint->bytes));
}

static void json_pin(keel_json_t *json, const keel_contract_program_t *program,
                     const keel_contract_pin_t *pin) {
    keel_json_object(json, NULL);
    json_fingerprint(json, "fingerprint", &pin->fingerprint);
    json_fingerprint(json, "options", &pin->options);
    keel_json_array(json, "sizes");
    for (uint32_t i = 0; i < program->varying; ++i)
        keel_json_int(json, NULL, pin->sizes[i]);
    keel_json_end_array(json);
    keel_json_unsigned(json, "placements", pin->placements);
    keel_json_str(json, "cost", pin->cost);
    keel_json_str(json, "memory", pin->memory);
    keel_json_end_object(json);
}

static void json_argument(keel_json_t *json, const keel_contract_argument_t *argument) {
    keel_buffer_t type;
    keel_buffer_initialize(&type, 0);
    keel_contract_type(argument, &type);
    keel_json_break(json, "\n    ");
    keel_json_object(json, NULL);
    keel_json_str(json, "name", argument->name);
    keel_json_str(json, "type", keel_bytes_str(keel_buffer_bytes(&type)));
    if (argument->sharding.size) keel_json_str(json, "sharding", argument->sharding);
    keel_json_bool(json, "donated", argument->donated);
    keel_json_end_object(json);
    keel_buffer_deinitialize(&type);
}

static void json_program(keel_json_t *json, const keel_contract_program_t *program) {
    keel_json_break(json, "\n   ");
    keel_json_object(json, NULL);
    keel_json_array(json, "pins");
    for (uint32_t i = 0; i < program->pin_count; ++i)
        json_pin(json, program, &program->pins[i]);
    keel_json_end_array(json);
    if (program->mesh.size) keel_json_str(json, "mesh", program->mesh);
    keel_json_array(json, "arguments");
    for (uint32_t i = 0; i < program->argument_count; ++i)
        json_argument(json, &program->arguments[i]);
    keel_json_end_array(json);
    keel_json_end_object(json);
}

static void write_json(const keel_contract_t *contract, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_unsigned(&json, "format", KEEL_CONTRACT_FORMAT);
    keel_json_unsigned(&json, "key", contract->key_version);
    keel_json_str(&json, "client", contract->client);
    keel_json_str(&json, "plugin", contract->plugin);
    keel_json_str(&json, "devices", contract->devices);
    keel_json_str(&json, "profile", contract->profile);
    json_fingerprint(&json, "options", &contract->options);
    keel_json_bool(&json, "operations", contract->operations);
    keel_json_bool(&json, "machine", contract->machine);
    keel_json_unsigned(&json, "programs", contract->pin_count);
    keel_json_unsigned(&json, "settled", contract->settled);
    keel_json_string(&json, "others", keel_contract_scope_word(contract->others));
    keel_json_array(&json, "entries");
    for (uint32_t i = 0; i < contract->entry_count; ++i) {
        const keel_contract_entry_t *entry = &contract->entries[i];
        keel_json_break(&json, "\n ");
        keel_json_object(&json, NULL);
        keel_json_str(&json, "name", entry->name);
        keel_json_str(&json, "function", entry->function);
        keel_json_string(&json, "scope", keel_contract_scope_word(entry->scope));
        keel_json_array(&json, "programs");
        for (uint32_t k = 0; k < entry->program_count; ++k)
            json_program(&json, &entry->programs[k]);
        keel_json_end_array(&json);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
    keel_json_end_object(&json);
}

// ---- text --------------------------------------------------------------------------------------

static void write_foreign_str(keel_buffer_t *out, const char *before, keel_str_t text) {
    if (!text.size) return;
    keel_buffer_text(out, before);
    keel_write_foreign_str(out, text);
}

// The arguments whose sizes may vary.
static void write_varying(const keel_contract_program_t *program, keel_buffer_t *out) {
    for (uint32_t i = 0; program->varying && i < program->argument_count; ++i) {
        const keel_contract_argument_t *argument = &program->arguments[i];
        bool varies = false;
        for (uint32_t k = 0; k < argument->rank; ++k)
            varies = varies || keel_sizes_vary(&argument->dims[k]);
        if (!varies) continue;
        write_foreign_str(out, ", ", argument->name);
        keel_buffer_byte(out, ' ');
        keel_contract_type(argument, out);
    }
}

static void write_entry(const keel_contract_entry_t *entry, keel_buffer_t *out) {
    keel_buffer_byte(out, '\n');
    keel_write_foreign_str(out, entry->name);
    write_foreign_str(out, "  ", entry->function);
    if (entry->scope) keel_buffer_format(out, "  %s", keel_contract_scope_word(entry->scope));
    keel_buffer_byte(out, '\n');
    for (uint32_t i = 0; i < entry->program_count; ++i) {
        const keel_contract_program_t *program = &entry->programs[i];
        keel_buffer_text(out, "  ");
        keel_write_counted(out, program->pin_count, "program");
        keel_buffer_text(out, " of ");
        keel_write_counted(out, program->argument_count, "argument");
        write_foreign_str(out, ", cost ", program->pins[0].cost);
        write_foreign_str(out, ", memory ", program->pins[0].memory);
        write_foreign_str(out, ", mesh ", program->mesh);
        write_varying(program, out);
        keel_buffer_byte(out, '\n');
    }
}

static void write_text(const keel_contract_t *contract, const char *path, keel_buffer_t *out) {
    keel_write_foreign(out, path);
    keel_buffer_text(out, ": ");
    keel_write_counted(out, contract->pin_count, "program");
    keel_buffer_format(out, " of %u entry point%s", contract->entry_count,
                       contract->entry_count == 1 ? "" : "s");
    if (contract->settled)
        keel_buffer_format(out, ", all by step %llu", (unsigned long long)contract->settled);
    keel_buffer_byte(out, '\n');
    write_foreign_str(out, "made with ", contract->client);
    write_foreign_str(out, contract->client.size ? "; " : "made with ", contract->plugin);
    write_foreign_str(out, ", ", contract->devices);
    write_foreign_str(out, "; flag profile ", contract->profile);
    keel_buffer_byte(out, '\n');
    if (contract->others)
        keel_buffer_format(out, "other entry points: %s\n",
                           keel_contract_scope_word(contract->others));
    for (uint32_t i = 0; i < contract->entry_count; ++i)
        write_entry(&contract->entries[i], out);
}

int contract_show(cli_call_t *call) {
    bool json = false;
    int code;
    keel_contract_t contract;
    cli_switch(call, "--json", "print JSON", &json);
    if (!cli_parse(call, 1, 1, &code)) return code;
    keel_status_t status = contract_read(call->rest[0], &contract);
    if (status) return cli_fail(status);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    if (json)
        write_json(&contract, &out);
    else
        write_text(&contract, call->rest[0], &out);
    keel_contract_deinitialize(&contract);
    return cli_answer(&out);
}
