// The file, written.
#include "contract/internal.h"

static void put_fingerprint(keel_buffer_t *out, const keel_fingerprint_t *fingerprint) {
    keel_buffer_hex(out, keel_bytes(fingerprint->bytes, sizeof fingerprint->bytes));
}

static void put_line(keel_buffer_t *out, const char *word, keel_str_t text) {
    if (!text.size) return;
    keel_buffer_format(out, "%s ", word);
    keel_buffer_str(out, text);
    keel_buffer_byte(out, '\n');
}

// "# a\n# b\n", each line behind the margin.
static void put_comment(keel_buffer_t *out, const char *margin, keel_str_t comment) {
    keel_str_t line;
    while (keel_str_line(&comment, &line)) {
        keel_buffer_text(out, margin);
        keel_buffer_str(out, line);
        keel_buffer_byte(out, '\n');
    }
}

// ---- pins --------------------------------------------------------------------------------------

static void put_sizes(keel_buffer_t *out, const keel_contract_pin_t *pin, uint32_t varying) {
    uint32_t count = varying;
    while (count > 1 && pin->sizes[count - 1] == pin->sizes[0])
        --count;
    if (count > 1) count = varying; // they differ
    for (uint32_t i = 0; i < count; ++i)
        keel_buffer_format(out, "%s%lld", i ? "," : " sizes ", (long long)pin->sizes[i]);
}

static void put_pin(keel_buffer_t *out, const keel_contract_t *contract,
                    const keel_contract_program_t *program, const keel_contract_pin_t *pin) {
    keel_buffer_text(out, "    pin ");
    put_fingerprint(out, &pin->fingerprint);
    put_sizes(out, pin, program->varying);
    if (!keel_fingerprint_equal(&pin->options, &contract->options)) {
        keel_buffer_text(out, " options ");
        put_fingerprint(out, &pin->options);
    }
    if (pin->placements > 1) keel_buffer_format(out, " placements %u", pin->placements);
    const struct {
        const char *word;
        keel_str_t text;
    } figures[] = {{"cost", pin->cost}, {"memory", pin->memory}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; ++i) {
        if (!figures[i].text.size) continue;
        keel_buffer_format(out, " %s ", figures[i].word);
        contract_put_word(out, figures[i].text);
    }
    keel_buffer_byte(out, '\n');
}

// ---- arguments ---------------------------------------------------------------------------------

static void put_argument(keel_buffer_t *out, const keel_contract_argument_t *argument) {
    keel_buffer_text(out, "    takes ");
    contract_put_word(out, argument->name);
    keel_buffer_byte(out, ' ');
    keel_contract_type(argument, out);
    if (argument->sharding.size) {
        keel_buffer_text(out, " sharding ");
        contract_put_word(out, argument->sharding);
    }
    if (argument->donated) keel_buffer_text(out, " donated");
    keel_buffer_byte(out, '\n');
}

// Written as its differences from the entry's first program, if that reads back as the same: what
// both take is in the first one's order, and what is new follows.
static bool is_like(const keel_contract_program_t *first, const keel_contract_program_t *program,
                    uint32_t *out_lines) {
    uint32_t at = 0, same = 0;
    for (uint32_t i = 0; i < first->argument_count && at < program->argument_count; ++i) {
        if (!keel_str_equal(first->arguments[i].name, program->arguments[at].name)) continue;
        same += contract_argument_equal(&first->arguments[i], &program->arguments[at]);
        ++at;
    }
    for (uint32_t i = at; i < program->argument_count; ++i)
        if (contract_argument(first, program->arguments[i].name)) return false;
    *out_lines = first->argument_count - same + program->argument_count - at;
    return true;
}

static void put_differences(keel_buffer_t *out, const keel_contract_program_t *first,
                            const keel_contract_program_t *program) {
    uint32_t at = 0;
    keel_buffer_text(out, "    like first\n");
    for (uint32_t i = 0; i < first->argument_count; ++i) {
        const keel_contract_argument_t *before = &first->arguments[i],
                                       *own = at < program->argument_count ? &program->arguments[at]
                                                                           : NULL;
        if (!own || !keel_str_equal(before->name, own->name)) {
            keel_buffer_text(out, "    without ");
            contract_put_word(out, before->name);
            keel_buffer_byte(out, '\n');
            continue;
        }
        if (!contract_argument_equal(before, own)) put_argument(out, own);
        ++at;
    }
    for (; at < program->argument_count; ++at)
        put_argument(out, &program->arguments[at]);
}

static void put_program(keel_buffer_t *out, const keel_contract_t *contract,
                        const keel_contract_entry_t *entry,
                        const keel_contract_program_t *program) {
    put_comment(out, "  ", program->comment);
    keel_buffer_text(out, "  program\n");
    for (uint32_t i = 0; i < program->pin_count; ++i)
        put_pin(out, contract, program, &program->pins[i]);
    if (program->mesh.size) {
        keel_buffer_text(out, "    mesh ");
        contract_put_word(out, program->mesh);
        keel_buffer_byte(out, '\n');
    }
    uint32_t lines;
    bool is_shorter = program != entry->programs && is_like(entry->programs, program, &lines) &&
                      lines + 1 < program->argument_count;
    if (is_shorter) put_differences(out, entry->programs, program);
    for (uint32_t i = 0; !is_shorter && i < program->argument_count; ++i)
        put_argument(out, &program->arguments[i]);
}

// ---- all of it ---------------------------------------------------------------------------------

static void put_header(keel_buffer_t *out, const keel_contract_t *contract) {
    put_comment(out, "", contract->comment);
    keel_buffer_format(out, "keel.contract %d\nkey %u\n", KEEL_CONTRACT_FORMAT,
                       contract->key_version);
    put_line(out, "client", contract->client);
    put_line(out, "plugin", contract->plugin);
    put_line(out, "devices", contract->devices);
    keel_buffer_text(out, "profile ");
    contract_put_word(out, contract->profile);
    keel_buffer_text(out, "\noptions ");
    put_fingerprint(out, &contract->options);
    keel_buffer_byte(out, '\n');
    if (contract->operations) keel_buffer_text(out, "operations listed\n");
    if (contract->machine) keel_buffer_text(out, "machine listed\n");
    keel_buffer_format(out, "programs %u\n", contract->pin_count);
    if (contract->settled)
        keel_buffer_format(out, "settled step %llu\n", (unsigned long long)contract->settled);
    if (contract->others)
        keel_buffer_format(out, "others %s\n", keel_contract_scope_word(contract->others));
}

void keel_contract_write(const keel_contract_t *contract, keel_buffer_t *out) {
    put_header(out, contract);
    for (uint32_t i = 0; i < contract->entry_count; ++i) {
        const keel_contract_entry_t *entry = &contract->entries[i];
        keel_buffer_byte(out, '\n');
        put_comment(out, "", entry->comment);
        keel_buffer_text(out, "entry ");
        contract_put_word(out, entry->name);
        keel_buffer_byte(out, '\n');
        put_line(out, "  function", entry->function);
        if (entry->scope)
            keel_buffer_format(out, "  scope %s\n", keel_contract_scope_word(entry->scope));
        for (uint32_t k = 0; k < entry->program_count; ++k)
            put_program(out, contract, entry, &entry->programs[k]);
    }
}
