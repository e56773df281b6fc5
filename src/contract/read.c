// The file, read line by line. docs/contract.md has its grammar.
#include "contract/internal.h"

#include <stdio.h>

typedef struct reader_t {
    const char *path;
    keel_contract_t *contract;
    keel_arena_t *arena;
    uint32_t line;
    keel_buffer_t comment; // lines that belong to what follows
    uint32_t comment_line;
    bool is_begun, has_key, has_options;
    uint64_t told;      // programs, as the header says; UINT64_MAX: it does not
    uint32_t told_line; // where
    keel_contract_entry_t *entry;
    keel_contract_program_t *program;
    bool is_like;     // the program repeats the entry's first
    unsigned seen;    // words of the header, the entry or the program that stand only once
    keel_map_t lines; // of what stands only once in the file: entries, and pins of an entry
    keel_map_t names; // the program's arguments, by name
    uint32_t entry_line, program_line;
} reader_t;

#define FAULT(...) keel_status_make(KEEL_INVALID, __VA_ARGS__)

// ---- words -------------------------------------------------------------------------------------

static keel_status_t read_fingerprint(keel_str_t text, keel_fingerprint_t *out) {
    if (keel_unhex(text, out->bytes, sizeof out->bytes)) return NULL;
    return FAULT("'%.*s' is not a fingerprint: that has %d hex digits; record the contract again",
                 KEEL_STR_ARGS(text), 2 * KEEL_FINGERPRINT_SIZE);
}

static keel_status_t read_scope(keel_str_t text, keel_contract_scope_t *out) {
    for (unsigned i = 0; i < KEEL_CONTRACT_SCOPE_COUNT; ++i)
        if (keel_str_is(text, keel_contract_scope_word((keel_contract_scope_t)i))) {
            *out = (keel_contract_scope_t)i;
            return NULL;
        }
    return FAULT("scope '%.*s': write refuse, warn, allow or default", KEEL_STR_ARGS(text));
}

static keel_status_t read_count(keel_str_t text, const char *what, uint64_t *out) {
    int64_t number;
    if (!contract_read_number(text, &number))
        return FAULT("%s '%.*s' is not a number; write %s 3", what, KEEL_STR_ARGS(text), what);
    *out = (uint64_t)number;
    return NULL;
}

static keel_status_t end_of_line(keel_str_t rest) {
    rest = contract_trim(rest);
    return rest.size ? FAULT("'%.*s' is more than belongs there; remove it", KEEL_STR_ARGS(rest))
                     : NULL;
}

static keel_status_t keep(reader_t *reader, keel_str_t text, keel_str_t *out) {
    return keel_arena_str(reader->arena, text, out);
}

static keel_status_t take_comment(reader_t *reader, keel_str_t *out) {
    keel_status_t status = keel_buffer_status(&reader->comment);
    if (!status) status = keep(reader, keel_bytes_str(keel_buffer_bytes(&reader->comment)), out);
    reader->comment.size = 0;
    return status;
}

static keel_status_t no_place_for_comment(reader_t *reader) {
    reader->line = reader->comment_line;
    return FAULT("a comment can stand at the top, or before an entry or a program; move it there");
}

// ---- programs ----------------------------------------------------------------------------------

typedef struct word_t {
    const char *name;
    keel_status_t (*read)(reader_t *reader, keel_str_t rest);
    bool is_repeated;
} word_t;

// The line of what has that name, if there is one; otherwise this line is noted.
static keel_status_t note_line(reader_t *reader, keel_buffer_t *name, uint32_t line,
                               uint32_t *out_known) {
    keel_status_t status = keel_buffer_status(name);
    const uint64_t *known = status ? NULL : keel_map_find(&reader->lines, keel_buffer_bytes(name));
    *out_known = known ? (uint32_t)*known : 0;
    if (!status && !known) status = keel_map_put(&reader->lines, keel_buffer_bytes(name), line);
    keel_buffer_deinitialize(name);
    return status;
}

static keel_status_t read_sizes_of_pin(reader_t *reader, keel_str_t text,
                                       keel_contract_pin_t *pin) {
    void *memory;
    uint32_t most = 1, count = 0;
    for (size_t i = 0; i < text.size; ++i)
        most += text.data[i] == ',';
    KEEL_TRY(keel_arena_array(reader->arena, (size_t)most + 1, sizeof *pin->sizes, &memory));
    int64_t *sizes = memory;
    while (text.size) {
        const char *comma = memchr(text.data, ',', text.size);
        size_t size = comma ? (size_t)(comma - text.data) : text.size;
        if (!contract_read_number((keel_str_t){text.data, size}, &sizes[1 + count++]))
            return FAULT("sizes '%.*s': write the sizes of the dimensions that vary, such as 5,8",
                         KEEL_STR_ARGS(text));
        size += comma != NULL;
        text = (keel_str_t){text.data + size, text.size - size};
    }
    sizes[0] = count; // settled once the program's dimensions are known
    pin->sizes = sizes;
    return NULL;
}

static keel_status_t take_value(reader_t *reader, keel_str_t *rest, keel_str_t name,
                                keel_str_t *out) {
    KEEL_TRY(contract_take_word(rest, reader->arena, out));
    return out->size ? NULL : FAULT("%.*s lacks a value", KEEL_STR_ARGS(name));
}

static bool is_figure(keel_str_t text) {
    return text.size && text.size < 24 && keel_is_digit(*text.data);
}

static keel_status_t read_placements(keel_str_t value, keel_contract_pin_t *pin) {
    uint64_t count = 0;
    KEEL_TRY(read_count(value, "placements", &count));
    if (!count || count > UINT32_MAX)
        return FAULT("placements %.*s: write on how many sets of devices it runs, 1 or more",
                     KEEL_STR_ARGS(value));
    pin->placements = (uint32_t)count;
    return NULL;
}

static keel_status_t read_pin_word(reader_t *reader, keel_str_t name, keel_str_t value,
                                   keel_contract_pin_t *pin) {
    if (keel_str_is(name, "sizes")) return read_sizes_of_pin(reader, value, pin);
    if (keel_str_is(name, "options")) return read_fingerprint(value, &pin->options);
    if (keel_str_is(name, "placements")) return read_placements(value, pin);
    bool is_cost = keel_str_is(name, "cost");
    if (!is_cost && !keel_str_is(name, "memory"))
        return FAULT("'%.*s' is unknown here; a pin has sizes, options, placements, cost and "
                     "memory",
                     KEEL_STR_ARGS(name));
    if (!is_figure(value))
        return FAULT("%.*s '%.*s': write a figure such as %s", KEEL_STR_ARGS(name),
                     KEEL_STR_ARGS(value), is_cost ? "3.9s" : "120MiB");
    *(is_cost ? &pin->cost : &pin->memory) = value;
    return NULL;
}

static keel_status_t check_pin(reader_t *reader, const keel_contract_pin_t *pin) {
    keel_buffer_t name;
    uint32_t known;
    keel_buffer_initialize(&name, 0);
    keel_buffer_u32(&name, reader->contract->entry_count);
    keel_buffer_append(&name, pin->fingerprint.bytes, sizeof pin->fingerprint.bytes);
    keel_buffer_append(&name, pin->options.bytes, sizeof pin->options.bytes);
    KEEL_TRY(note_line(reader, &name, reader->line, &known));
    return known ? FAULT("line %u pins the same program; remove one of them", known) : NULL;
}

static keel_status_t read_pin(reader_t *reader, keel_str_t rest) {
    keel_contract_program_t *program = reader->program;
    void *grown = program->pins;
    KEEL_TRY(contract_grow(reader->arena, program->pin_count, sizeof *program->pins, &grown));
    program->pins = grown;
    keel_contract_pin_t *pin = &program->pins[program->pin_count];
    keel_str_t word, value;
    pin->options = reader->contract->options;
    pin->placements = 1;
    pin->number = reader->line; // until the contract is indexed
    KEEL_TRY(contract_take_word(&rest, reader->arena, &word));
    KEEL_TRY(read_fingerprint(word, &pin->fingerprint));
    while ((rest = contract_trim(rest)).size) {
        KEEL_TRY(contract_take_word(&rest, reader->arena, &word));
        KEEL_TRY(take_value(reader, &rest, word, &value));
        KEEL_TRY(read_pin_word(reader, word, value, pin));
    }
    ++program->pin_count;
    return check_pin(reader, pin);
}

static keel_status_t read_mesh(reader_t *reader, keel_str_t rest) {
    KEEL_TRY(take_value(reader, &rest, KEEL_STR("mesh"), &reader->program->mesh));
    return end_of_line(rest);
}

static keel_status_t add_argument(reader_t *reader, const keel_contract_argument_t *argument) {
    keel_contract_program_t *program = reader->program;
    void *grown = program->arguments;
    KEEL_TRY(
        contract_grow(reader->arena, program->argument_count, sizeof *program->arguments, &grown));
    program->arguments = grown;
    KEEL_TRY(keel_map_put(&reader->names, keel_str_bytes(argument->name), program->argument_count));
    program->arguments[program->argument_count++] = *argument;
    return NULL;
}

static keel_contract_argument_t *find_argument(const reader_t *reader, keel_str_t name) {
    const uint64_t *known = keel_map_find(&reader->names, keel_str_bytes(name));
    return known ? &reader->program->arguments[*known] : NULL;
}

static keel_status_t read_like(reader_t *reader, keel_str_t rest) {
    keel_contract_program_t *program = reader->program;
    rest = contract_trim(rest);
    if (!keel_str_is(rest, "first"))
        return FAULT("like '%.*s': write like first", KEEL_STR_ARGS(rest));
    if (reader->entry->program_count < 2)
        return FAULT("like first: this is the entry's first program; list all that it takes");
    if (program->argument_count)
        return FAULT("like first: it stands before what the program takes");
    reader->is_like = true;
    const keel_contract_program_t *first = &reader->entry->programs[0];
    for (uint32_t i = 0; i < first->argument_count; ++i)
        KEEL_TRY(add_argument(reader, &first->arguments[i]));
    return NULL;
}

static keel_status_t read_argument(reader_t *reader, keel_str_t rest,
                                   keel_contract_argument_t *out) {
    keel_str_t word;
    KEEL_TRY(take_value(reader, &rest, KEEL_STR("takes"), &out->name));
    keel_status_t status = contract_take_type(&rest, reader->arena, out);
    if (status) return keel_status_annotate(status, "%.*s", KEEL_STR_ARGS(out->name));
    while ((rest = contract_trim(rest)).size) {
        KEEL_TRY(contract_take_word(&rest, reader->arena, &word));
        if (keel_str_is(word, "donated"))
            out->donated = true;
        else if (keel_str_is(word, "sharding"))
            KEEL_TRY(take_value(reader, &rest, word, &out->sharding));
        else
            return FAULT("'%.*s' is unknown here; behind the type stand sharding and donated",
                         KEEL_STR_ARGS(word));
    }
    return NULL;
}

// The argument as the entry's first program has it: neither another one nor left out.
static bool is_repeated(const reader_t *reader, const keel_contract_argument_t *argument) {
    const keel_contract_program_t *first = &reader->entry->programs[0];
    size_t at = (size_t)(argument - reader->program->arguments);
    return reader->is_like && at < first->argument_count &&
           argument->name.data == first->arguments[at].name.data;
}

static keel_status_t read_takes(reader_t *reader, keel_str_t rest) {
    keel_contract_argument_t argument = {.rank = 0};
    KEEL_TRY(read_argument(reader, rest, &argument));
    keel_contract_argument_t *known = find_argument(reader, argument.name);
    if (!known) return add_argument(reader, &argument);
    if (!is_repeated(reader, known))
        return FAULT("%.*s is listed twice; remove one", KEEL_STR_ARGS(argument.name));
    *known = argument;
    return NULL;
}

static keel_status_t read_without(reader_t *reader, keel_str_t rest) {
    keel_str_t name;
    KEEL_TRY(take_value(reader, &rest, KEEL_STR("without"), &name));
    KEEL_TRY(end_of_line(rest));
    keel_contract_argument_t *known = find_argument(reader, name);
    if (!known || !is_repeated(reader, known))
        return FAULT("without %.*s: the entry's first program takes no such argument",
                     KEEL_STR_ARGS(name));
    known->name = (keel_str_t){NULL, 0}; // until the program ends
    return NULL;
}

// ---- a whole program ---------------------------------------------------------------------------

static keel_status_t settle_sizes(reader_t *reader, keel_contract_pin_t *pin) {
    const keel_contract_program_t *program = reader->program;
    uint32_t count = pin->sizes ? (uint32_t)pin->sizes[0] : 0, at = 0;
    void *memory;
    reader->line = pin->number;
    if (!program->varying && count)
        return FAULT("sizes: no dimension of this program varies; remove them");
    if (program->varying && (!count || (count != 1 && count != program->varying)))
        return FAULT("%u dimensions of this program vary; name the sizes that this pin is for",
                     program->varying);
    if (!program->varying) return NULL;
    KEEL_TRY(keel_arena_array(reader->arena, program->varying, sizeof *pin->sizes, &memory));
    int64_t *sizes = memory;
    for (uint32_t i = 0; i < program->argument_count; ++i)
        for (uint32_t k = 0; k < program->arguments[i].rank; ++k) {
            const keel_sizes_t *dim = &program->arguments[i].dims[k];
            if (!keel_sizes_vary(dim)) continue;
            sizes[at] = pin->sizes[count == 1 ? 1 : 1 + at];
            if (!keel_sizes_has(dim, sizes[at]))
                return FAULT(
                    "sizes %lld: %.*s does not allow that size; widen it or remove the pin",
                    (long long)sizes[at], KEEL_STR_ARGS(program->arguments[i].name));
            ++at;
        }
    pin->sizes = sizes;
    return NULL;
}

static keel_status_t end_program(reader_t *reader) {
    keel_contract_program_t *program = reader->program;
    if (!program) return NULL;
    if (!program->pin_count) {
        reader->line = reader->program_line;
        return FAULT("this program has no pin; remove it, or record the contract again");
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < program->argument_count; ++i)
        if (program->arguments[i].name.data) program->arguments[kept++] = program->arguments[i];
    program->argument_count = kept;
    program->varying = contract_varying(program);
    for (uint32_t i = 0; i < program->pin_count; ++i)
        KEEL_TRY(settle_sizes(reader, &program->pins[i]));
    reader->program = NULL;
    reader->is_like = false;
    return NULL;
}

static keel_status_t read_program(reader_t *reader, keel_str_t rest) {
    keel_contract_entry_t *entry = reader->entry;
    uint32_t line = reader->line;
    KEEL_TRY(end_of_line(rest));
    KEEL_TRY(end_program(reader));
    reader->line = reader->program_line = line;
    void *grown = entry->programs;
    KEEL_TRY(contract_grow(reader->arena, entry->program_count, sizeof *entry->programs, &grown));
    entry->programs = grown;
    reader->program = &entry->programs[entry->program_count++];
    reader->seen = 0;
    keel_map_deinitialize(&reader->names);
    keel_map_initialize(&reader->names);
    return take_comment(reader, &reader->program->comment);
}

// ---- entries -----------------------------------------------------------------------------------

static keel_status_t read_function(reader_t *reader, keel_str_t rest) {
    return keep(reader, contract_trim(rest), &reader->entry->function);
}

static keel_status_t read_entry_scope(reader_t *reader, keel_str_t rest) {
    return read_scope(contract_trim(rest), &reader->entry->scope);
}

static keel_status_t end_entry(reader_t *reader) {
    keel_buffer_t name;
    uint32_t known;
    KEEL_TRY(end_program(reader));
    if (!reader->entry) return NULL;
    keel_buffer_initialize(&name, 0);
    keel_buffer_str(&name, reader->entry->name);
    keel_buffer_byte(&name, '\n');
    keel_buffer_str(&name, reader->entry->function);
    KEEL_TRY(note_line(reader, &name, reader->entry_line, &known));
    if (known) {
        reader->line = reader->entry_line;
        return FAULT("entry %.*s is in line %u already; put their programs into one",
                     KEEL_STR_ARGS(reader->entry->name), known);
    }
    reader->entry = NULL;
    return NULL;
}

static keel_status_t read_entry(reader_t *reader, keel_str_t rest) {
    keel_contract_t *contract = reader->contract;
    uint32_t line = reader->line;
    KEEL_TRY(end_entry(reader));
    reader->line = reader->entry_line = line;
    void *grown = contract->entries;
    KEEL_TRY(
        contract_grow(reader->arena, contract->entry_count, sizeof *contract->entries, &grown));
    contract->entries = grown;
    reader->entry = &contract->entries[contract->entry_count++];
    reader->seen = 0;
    KEEL_TRY(take_value(reader, &rest, KEEL_STR("entry"), &reader->entry->name));
    KEEL_TRY(end_of_line(rest));
    return take_comment(reader, &reader->entry->comment);
}

// ---- the header --------------------------------------------------------------------------------

static keel_status_t read_key(reader_t *reader, keel_str_t rest) {
    int64_t version = 0;
    rest = contract_trim(rest);
    reader->has_key = true;
    if (contract_read_number(rest, &version) && version == KEEL_KEY_VERSION) return NULL;
    return FAULT("key %.*s: its fingerprints are of another version of Keel's keys, this Keel has "
                 "%d; record the contract again: keel contract record -o %s",
                 KEEL_STR_ARGS(rest), KEEL_KEY_VERSION, reader->path);
}

static keel_status_t read_client(reader_t *reader, keel_str_t rest) {
    return keep(reader, contract_trim(rest), &reader->contract->client);
}

static keel_status_t read_plugin(reader_t *reader, keel_str_t rest) {
    return keep(reader, contract_trim(rest), &reader->contract->plugin);
}

static keel_status_t read_devices(reader_t *reader, keel_str_t rest) {
    return keep(reader, contract_trim(rest), &reader->contract->devices);
}

static keel_status_t read_profile(reader_t *reader, keel_str_t rest) {
    KEEL_TRY(take_value(reader, &rest, KEEL_STR("profile"), &reader->contract->profile));
    return end_of_line(rest);
}

static keel_status_t read_options(reader_t *reader, keel_str_t rest) {
    reader->has_options = true;
    return read_fingerprint(contract_trim(rest), &reader->contract->options);
}

static keel_status_t read_operations(reader_t *reader, keel_str_t rest) {
    rest = contract_trim(rest);
    reader->contract->operations = keel_str_is(rest, "listed");
    if (reader->contract->operations || keel_str_is(rest, "free")) return NULL;
    return FAULT("operations '%.*s': write free or listed", KEEL_STR_ARGS(rest));
}

static keel_status_t read_machine(reader_t *reader, keel_str_t rest) {
    rest = contract_trim(rest);
    reader->contract->machine = keel_str_is(rest, "listed");
    if (reader->contract->machine || keel_str_is(rest, "free")) return NULL;
    return FAULT("machine '%.*s': write free or listed", KEEL_STR_ARGS(rest));
}

static keel_status_t read_programs(reader_t *reader, keel_str_t rest) {
    reader->told_line = reader->line;
    return read_count(contract_trim(rest), "programs", &reader->told);
}

static keel_status_t read_settled(reader_t *reader, keel_str_t rest) {
    rest = contract_trim(rest);
    if (!keel_str_starts(rest, KEEL_STR("step ")))
        return FAULT("settled '%.*s': write settled step 3", KEEL_STR_ARGS(rest));
    rest = (keel_str_t){rest.data + 5, rest.size - 5};
    return read_count(contract_trim(rest), "settled step", &reader->contract->settled);
}

static keel_status_t read_others(reader_t *reader, keel_str_t rest) {
    return read_scope(contract_trim(rest), &reader->contract->others);
}

static const word_t header_words[] = {
    {"key", read_key, false},
    {"client", read_client, false},
    {"plugin", read_plugin, false},
    {"devices", read_devices, false},
    {"profile", read_profile, false},
    {"options", read_options, false},
    {"operations", read_operations, false},
    {"machine", read_machine, false},
    {"programs", read_programs, false},
    {"settled", read_settled, false},
    {"others", read_others, false},
    {"entry", read_entry, true},
};
static const word_t entry_words[] = {
    {"function", read_function, false},
    {"scope", read_entry_scope, false},
    {"program", read_program, true},
    {"entry", read_entry, true},
};
static const word_t program_words[] = {
    {"pin", read_pin, true},     {"mesh", read_mesh, false},      {"like", read_like, false},
    {"takes", read_takes, true}, {"without", read_without, true}, {"program", read_program, true},
    {"entry", read_entry, true},
};

// ---- lines -------------------------------------------------------------------------------------

static bool is_conflict(keel_str_t line) {
    static const char *const marks[] = {"<<<<<<<", "=======", ">>>>>>>", "|||||||"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; ++i)
        if (keel_str_starts(line, keel_str(marks[i]))) return true;
    return false;
}

static keel_status_t no_contract(void) {
    return FAULT("this is not a contract: it does not begin with 'keel.contract %d'; make one with "
                 "keel contract record",
                 KEEL_CONTRACT_FORMAT);
}

static keel_status_t begin_file(reader_t *reader, keel_str_t line) {
    static const char first[] = "keel.contract ";
    int64_t version = 0;
    keel_str_t rest = {line.data + sizeof first - 1, line.size - (sizeof first - 1)};
    if (!keel_str_starts(line, keel_str(first)) ||
        !contract_read_number(contract_trim(rest), &version))
        return no_contract();
    if (version != KEEL_CONTRACT_FORMAT)
        return FAULT(
            "format %lld: this Keel reads format %d; use the Keel that wrote it, or record "
            "the contract again",
            (long long)version, KEEL_CONTRACT_FORMAT);
    reader->is_begun = true;
    return take_comment(reader, &reader->contract->comment);
}

static keel_status_t unknown_word(keel_str_t word, const word_t *words, size_t count) {
    char known[160] = "";
    size_t size = 0;
    for (size_t i = 0; i < count; ++i)
        size += (size_t)snprintf(known + size, sizeof known - size, "%s%s", i ? ", " : "",
                                 words[i].name);
    return FAULT("'%.*s' is unknown here; known are: %s", KEEL_STR_ARGS(word), known);
}

static keel_status_t dispatch(reader_t *reader, keel_str_t line) {
    const word_t *words = reader->program ? program_words
                          : reader->entry ? entry_words
                                          : header_words;
    size_t count = reader->program ? sizeof program_words / sizeof *words
                   : reader->entry ? sizeof entry_words / sizeof *words
                                   : sizeof header_words / sizeof *words;
    size_t size = 0;
    while (size < line.size && line.data[size] != ' ')
        ++size;
    keel_str_t word = {line.data, size}, rest = {line.data + size, line.size - size};
    for (size_t i = 0; i < count; ++i) {
        if (!keel_str_is(word, words[i].name)) continue;
        bool takes_comment = words[i].read == read_entry || words[i].read == read_program;
        if (reader->comment.size && !takes_comment) return no_place_for_comment(reader);
        if (!words[i].is_repeated && reader->seen & 1u << i)
            return FAULT("%s stands here twice; remove one", words[i].name);
        reader->seen |= 1u << i;
        return words[i].read(reader, rest);
    }
    return unknown_word(word, words, count);
}

static keel_status_t no_text(const reader_t *reader, keel_str_t line, size_t at) {
    if (!reader->is_begun) return no_contract();
    if (line.data[at] == '\t') return FAULT("byte %zu of the line is a tab; write a blank", at + 1);
    return FAULT("byte %zu of the line is not text; remove it", at + 1);
}

static keel_status_t read_line(reader_t *reader, keel_str_t line) {
    size_t length;
    line = contract_trim(line);
    if (is_conflict(line))
        return FAULT("%.*s: marks of a merge conflict; resolve it, or record the contract again",
                     (int)(line.size < 40 ? line.size : 40), line.data);
    if (!line.size) return NULL;
    for (size_t i = 0; i < line.size; i += length)
        if (!keel_utf8_shows(line, i, &length)) return no_text(reader, line, i);
    if (*line.data == '#') {
        if (!reader->comment.size) reader->comment_line = reader->line;
        keel_buffer_str(&reader->comment, line);
        keel_buffer_byte(&reader->comment, '\n');
        return NULL;
    }
    return reader->is_begun ? dispatch(reader, line) : begin_file(reader, line);
}

static keel_status_t end_file(reader_t *reader) {
    if (!reader->is_begun) return begin_file(reader, KEEL_STR(""));
    if (reader->comment.size) return no_place_for_comment(reader);
    KEEL_TRY(end_entry(reader));
    reader->line = 1;
    if (!reader->has_key || !reader->has_options)
        return FAULT("the line '%s' is missing; record the contract again",
                     reader->has_key ? "options" : "key");
    KEEL_TRY(contract_index(reader->contract));
    reader->line = reader->told_line;
    if (reader->told != UINT64_MAX && reader->told != reader->contract->pin_count)
        return FAULT("programs %llu: the contract pins %u; write programs %u if that is right",
                     (unsigned long long)reader->told, reader->contract->pin_count,
                     reader->contract->pin_count);
    return NULL;
}

static keel_status_t too_large(void) {
    return FAULT("it is larger than %d MiB, so it is not a contract; make one with keel contract "
                 "record",
                 KEEL_CONTRACT_LIMIT >> 20);
}

static keel_status_t read_lines(reader_t *reader, keel_bytes_t text) {
    static const char mark[] = "\xef\xbb\xbf"; // of byte order, which some editors write
    keel_str_t rest = keel_bytes_str(text), line;
    if (keel_str_starts(rest, KEEL_STR(mark)))
        rest = (keel_str_t){rest.data + sizeof mark - 1, rest.size - (sizeof mark - 1)};
    if (text.size > KEEL_CONTRACT_LIMIT) return too_large();
    while (keel_str_line(&rest, &line)) {
        ++reader->line;
        KEEL_TRY(read_line(reader, line));
    }
    return end_file(reader);
}

keel_status_t keel_contract_parse(const char *path, keel_bytes_t text, keel_contract_t *out) {
    keel_contract_initialize(out);
    reader_t reader = {.path = path, .contract = out, .arena = &out->arena, .told = UINT64_MAX};
    keel_buffer_initialize(&reader.comment, 0);
    keel_map_initialize(&reader.lines);
    keel_map_initialize(&reader.names);
    keel_status_t status = read_lines(&reader, text);
    keel_buffer_deinitialize(&reader.comment);
    keel_map_deinitialize(&reader.lines);
    keel_map_deinitialize(&reader.names);
    if (!status) return NULL;
    keel_contract_deinitialize(out);
    if (keel_status_code(status) != KEEL_INVALID) return keel_status_annotate(status, "%s", path);
    return keel_status_annotate(status, "%s:%u", path, reader.line ? reader.line : 1);
}

keel_status_t keel_contract_read(const char *path, keel_contract_t *out) {
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts = {0};
    keel_status_t status =
        keel_file_read_with_facts(path, KEEL_CONTRACT_LIMIT, &data, &size, &facts);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        return keel_status_make(
            KEEL_NOT_FOUND, "%s: no such file; make it: keel contract record -o %s", path, path);
    }
    if (status && facts.size > KEEL_CONTRACT_LIMIT) {
        keel_status_ignore(status);
        return keel_status_annotate(too_large(), "%s", path);
    }
    KEEL_TRY(status);
    status = keel_contract_parse(path, keel_bytes(data, size), out);
    keel_free(data);
    return status;
}
