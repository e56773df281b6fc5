// Small programs as text, for tests of what two of them differ in:
//
//   x: f32[8] y: f32[]                             arguments; {...} behind a type: its attributes
//   half = constant f32[] 0.5
//   z = slice f32[4] x {limit_indices=[4]} @8      an operation on line 8 of the user's function
//   a b = while i32[] f32[8] n x { i: i32[] v: f32[8] ; ... } { ... }
//   return z                                       tuple in HLO
//   root z                                         HLO: that value is what is returned
//   -> f32[4] {jax.result_info='out'}              what the function's type says of its results
//   top mesh {sym_name='mesh'}                     before all else: an operation of the module
//   | def step(x):                                 a line of the user's file, which is not part of
//   it fn helper                                      the next function; the first one is the entry
//
// A text that begins with "hlo" is one of HLO: its arguments are parameters, what it returns is the
// root. `;` ends a line as a newline does. Behind @ stand the frames of a stack, innermost first,
// as "8<12": a line may follow FILE!, a column .COLUMN, a function ~NAME. One frame alone was
// called on line 99.
#ifndef KEEL_TESTS_SMALL_PROGRAM_H_
#define KEEL_TESTS_SMALL_PROGRAM_H_

#include <ctype.h>

#include "place.h"
#include "program/program.h"

enum {
    SMALL_VALUES = 2048,
    SMALL_LIST = 128,
    SMALL_TOKEN = 160,
    SMALL_TYPES = 64,
    SMALL_NAME = 24
};

typedef struct small_t {
    keel_program_t program;
    const char *at;
    char token[SMALL_TOKEN];
    char types[SMALL_TYPES][SMALL_NAME]; // each is one type of the program
    keel_type_id_t type_ids[SMALL_TYPES];
    uint32_t type_count;
    char names[SMALL_VALUES][SMALL_NAME];
    uint32_t named; // values of the function that is read
    keel_value_id_t values[SMALL_VALUES];
    uint32_t function, parameters;
    uint32_t block; // the innermost open one
} small_t;

#define SMALL_PUSH(table, item)                                                                    \
    do {                                                                                           \
        assert_ok(keel_table_reserve((table), 1));                                                 \
        (table)->data[(table)->count++] = (item);                                                  \
    } while (0)

// ---- tokens ------------------------------------------------------------------------------------

static inline bool small_ends(const small_t *s) {
    return !*s->at || *s->at == ';' || *s->at == '\n';
}

// The next token of the line: a word, a number, or one of the characters that stand alone.
static inline const char *small_peek(small_t *s) {
    while (*s->at == ' ')
        ++s->at;
    size_t size = 0;
    if (small_ends(s)) {
        s->token[0] = 0;
        return s->token;
    }
    if (*s->at == '\'') {
        size = strcspn(s->at + 1, "'") + 2;
    } else if (strchr("=:{}()[],@", *s->at)) {
        size = 1;
    } else {
        int depth = 0;
        while (s->at[size] && (depth || !strchr(" ;\n=:{}(),@]", s->at[size]))) {
            depth += s->at[size] == '[' ? 1 : s->at[size] == ']' ? -1 : 0;
            ++size;
        }
    }
    assert_true(size > 0 && size < sizeof s->token);
    memcpy(s->token, s->at, size);
    s->token[size] = 0;
    return s->token;
}

static inline const char *small_take(small_t *s) {
    small_peek(s);
    s->at += strlen(s->token);
    return s->token;
}

static inline void small_word(small_t *s, char out[SMALL_TOKEN]) {
    memcpy(out, small_take(s), SMALL_TOKEN);
}

static inline bool small_is(small_t *s, const char *token) {
    return strcmp(small_peek(s), token) == 0;
}

static inline bool small_takes(small_t *s, const char *token) {
    if (!small_is(s, token)) return false;
    small_take(s);
    return true;
}

// Up to the next line that holds something; false at the end of the text.
static inline bool small_next_line(small_t *s) {
    while (*s->at == ' ' || *s->at == ';' || *s->at == '\n' || *s->at == '|')
        s->at += *s->at == '|' ? strcspn(s->at, "\n") : 1;
    return *s->at != 0;
}

// ---- types -------------------------------------------------------------------------------------

static inline keel_string_id_t small_text(small_t *s, const char *text) {
    keel_string_id_t id;
    assert_ok(keel_program_add_text(&s->program, keel_str(text), &id));
    return id;
}

static inline keel_type_id_t small_push_type(small_t *s, keel_type_t type) {
    SMALL_PUSH(&s->program.types, type);
    return s->program.types.count - 1;
}

static inline bool small_element(const char *word, size_t size, keel_type_t *out) {
    static const char *const floats[] = {
#define SMALL_FLOAT(name, text, bits) text,
        KEEL_FLOATS(SMALL_FLOAT)
#undef SMALL_FLOAT
    };
    *out = (keel_type_t){.kind = KEEL_TYPE_INTEGER, .b = KEEL_NONE, .c = KEEL_NONE};
    for (uint32_t i = 0; i < KEEL_FLOAT_COUNT; ++i)
        if (strlen(floats[i]) == size && !memcmp(floats[i], word, size)) {
            out->kind = KEEL_TYPE_FLOAT;
            out->a = i;
            return true;
        }
    if (size == 5 && !memcmp(word, "token", 5)) {
        *out = (keel_type_t){KEEL_TYPE_TOKEN, 0, KEEL_NONE, KEEL_NONE, KEEL_NONE};
        return true;
    }
    const char *digits = word;
    out->aux = *digits == 'u' ? KEEL_UNSIGNED : KEEL_SIGNLESS;
    if ((*digits != 'i' && *digits != 'u') || !isdigit((unsigned char)*++digits)) return false;
    out->a = (uint32_t)strtoul(digits, NULL, 10);
    return true;
}

static inline keel_type_id_t small_new_type(small_t *s, const char *word) {
    size_t size = strcspn(word, "[");
    keel_type_t type;
    bool is_single = size == 3 && !memcmp(word, "c64", size);
    bool is_complex = is_single || (size == 4 && !memcmp(word, "c128", size));
    const char *element_name = is_single ? "f32" : is_complex ? "f64" : word;
    if (!small_element(element_name, is_complex ? 3 : size, &type)) return KEEL_NONE;
    keel_type_id_t element = small_push_type(s, type);
    if (is_complex)
        element =
            small_push_type(s, (keel_type_t){KEEL_TYPE_COMPLEX, 0, element, KEEL_NONE, KEEL_NONE});
    if (!word[size]) return element;
    int64_t dims[16];
    uint32_t count = 0, list;
    for (const char *at = word + size; *++at && *at != ']';) {
        char *end;
        dims[count++] = *at == '?' ? KEEL_DYNAMIC : strtoll(at, &end, 10);
        at = *at == '?' ? at + 1 : end;
        if (*at == ']') break;
    }
    assert_ok(keel_program_add_ints(&s->program, dims, count, &list));
    return small_push_type(s, (keel_type_t){KEEL_TYPE_TENSOR, 0, element, list, KEEL_NONE});
}

// "f32[8,4]", "c64[2]", "token"; NONE if the word is not a type.
static inline keel_type_id_t small_type_of(small_t *s, const char *word) {
    for (uint32_t i = 0; i < s->type_count; ++i)
        if (strcmp(s->types[i], word) == 0) return s->type_ids[i];
    keel_type_id_t type = small_new_type(s, word);
    if (type == KEEL_NONE || s->type_count == SMALL_TYPES || strlen(word) >= SMALL_NAME)
        return type;
    memcpy(s->types[s->type_count], word, strlen(word) + 1);
    s->type_ids[s->type_count++] = type;
    return type;
}

// Also a tuple, "(f32[8], f32[])". NONE, and nothing taken, if no type stands here.
static inline keel_type_id_t small_type(small_t *s) {
    if (small_is(s, "(")) {
        uint32_t items[SMALL_LIST], count = 0, list;
        small_take(s);
        while (!small_takes(s, ")")) {
            items[count++] = small_type(s);
            small_takes(s, ",");
        }
        assert_ok(keel_program_add_list(&s->program, items, count, &list));
        return small_push_type(s, (keel_type_t){KEEL_TYPE_TUPLE, 0, KEEL_NONE, list, KEEL_NONE});
    }
    keel_type_id_t type = small_type_of(s, small_peek(s));
    if (type != KEEL_NONE) small_take(s);
    return type;
}

// ---- attributes --------------------------------------------------------------------------------

static inline keel_attr_id_t small_push_attr(small_t *s, keel_attr_t attr) {
    keel_attr_id_t id;
    assert_ok(keel_program_add_attr(&s->program, attr, &id));
    return id;
}

// A digit behind nan: another one.
static inline float small_single(const char *word) {
    float value = strtof(word, NULL);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (strncmp(word, "nan", 3) == 0) bits |= (uint32_t)strtoul(word + 3, NULL, 10);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static inline void small_put_number(keel_buffer_t *out, const keel_program_t *p,
                                    keel_type_id_t element, const char *word) {
    const keel_type_t *type = keel_program_type(p, element);
    double value = strtod(word, NULL);
    float single = small_single(word);
    int64_t whole = strtoll(word, NULL, 0);
    if (type->kind == KEEL_TYPE_COMPLEX) {
        const char *imaginary = strchr(word, 'i');
        float parts[2] = {single, imaginary ? strtof(imaginary + 1, NULL) : 0};
        keel_buffer_append(out, parts, sizeof parts);
    } else if (type->kind == KEEL_TYPE_INTEGER) {
        keel_buffer_append(out, &whole, type->a < 8 ? 1 : type->a / 8);
    } else if (type->a == KEEL_FLOAT_F32) {
        keel_buffer_append(out, &single, sizeof single);
    } else if (type->a == KEEL_FLOAT_F64) {
        keel_buffer_append(out, &value, sizeof value);
    } else { // the bits
        keel_buffer_append(out, &whole, type->a <= KEEL_FLOAT_F16 ? 2 : 1);
    }
}

// "0.5", or "1,2,3"
static inline keel_attr_id_t small_tensor(small_t *s, keel_type_id_t type) {
    keel_buffer_t bytes;
    uint32_t blob;
    void *memory;
    keel_buffer_initialize(&bytes, 0);
    const keel_type_t *t = keel_program_type(&s->program, type);
    do
        small_put_number(&bytes, &s->program, t->kind == KEEL_TYPE_TENSOR ? t->a : type,
                         small_take(s));
    while (small_takes(s, ","));
    assert_ok(keel_arena_array(&s->program.owned, bytes.size, 1, &memory));
    memcpy(memory, bytes.data, bytes.size);
    assert_ok(keel_program_add_blob(&s->program, keel_bytes(memory, bytes.size), &blob));
    keel_buffer_deinitialize(&bytes);
    return small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_TENSOR, .a = type, .b = blob});
}

static inline keel_attr_id_t small_int(small_t *s, int64_t value) {
    uint32_t at;
    assert_ok(keel_program_add_int(&s->program, value, &at));
    return small_push_attr(
        s, (keel_attr_t){.kind = KEEL_ATTR_INT, .a = small_type_of(s, "i64"), .b = at});
}

static inline keel_attr_id_t small_float(small_t *s, double value) {
    uint32_t at;
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    assert_ok(keel_program_add_int(&s->program, bits, &at));
    return small_push_attr(
        s, (keel_attr_t){.kind = KEEL_ATTR_FLOAT, .a = small_type_of(s, "f64"), .b = at});
}

// A list of whole numbers: a tensor in MLIR.
static inline keel_attr_id_t small_ints(small_t *s, const int64_t *items, uint32_t count) {
    uint32_t list;
    if (s->program.format == KEEL_FORMAT_HLO) {
        assert_ok(keel_program_add_ints(&s->program, items, count, &list));
        return small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_INTS, .b = list});
    }
    char text[32];
    void *memory;
    snprintf(text, sizeof text, "i64[%u]", count);
    keel_type_id_t type = small_type_of(s, text);
    assert_ok(keel_arena_array(&s->program.owned, count ? count : 1, sizeof *items, &memory));
    memcpy(memory, items, count * sizeof *items);
    assert_ok(keel_program_add_blob(&s->program, keel_bytes(memory, count * sizeof *items), &list));
    return small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_TENSOR, .a = type, .b = list});
}

static inline keel_attr_id_t small_enum(small_t *s, const char *word) {
    for (uint16_t klass = 0; klass < KEEL_ENUM_CLASS_COUNT; ++klass)
        for (uint32_t value = 0; keel_enum_name(klass, value); ++value)
            if (strcmp(keel_enum_name(klass, value), word) == 0)
                return small_push_attr(
                    s, (keel_attr_t){.kind = KEEL_ATTR_ENUM, .klass = klass, .a = value});
    fail_msg("%s: no such value", word);
    return KEEL_NONE;
}

static inline keel_attr_id_t small_dict(small_t *s);

static inline bool small_is_whole(const char *word) {
    return *word && !word[strspn(word, "-0123456789")];
}

// 3, 0.5, 'text', HIGH, f32[8], true, {...}, [...], dense f32[2] 1,2
static inline keel_attr_id_t small_value(small_t *s);

static inline keel_attr_id_t small_array(small_t *s) {
    uint32_t items[SMALL_LIST], count = 0, list;
    int64_t numbers[SMALL_LIST];
    bool are_whole = true;
    while (!small_takes(s, "]")) {
        are_whole = are_whole && small_is_whole(small_peek(s));
        if (are_whole) numbers[count] = strtoll(s->token, NULL, 10);
        items[count++] = small_value(s);
        small_takes(s, ",");
    }
    if (are_whole) return small_ints(s, numbers, count);
    assert_ok(keel_program_add_list(&s->program, items, count, &list));
    return small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_ARRAY, .b = list});
}

static inline keel_attr_id_t small_value(small_t *s) {
    if (small_is(s, "{")) return small_dict(s);
    // A list is read piece by piece, though peek takes a word with what stands in its brackets.
    while (*s->at == ' ')
        ++s->at;
    if (*s->at == '[') {
        ++s->at;
        return small_array(s);
    }
    keel_type_id_t type = small_type(s);
    if (type != KEEL_NONE)
        return small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_TYPE, .a = type, .b = KEEL_NONE});
    const char *word = small_take(s);
    if (*s->at == '{') { // a record
        uint16_t klass = 0;
        while (++klass < KEEL_RECORD_COUNT && strcmp(keel_record_name(klass), word) != 0) {
        }
        assert_int_not_equal(klass, KEEL_RECORD_COUNT);
        keel_attr_id_t record = small_dict(s);
        s->program.attrs.data[record].klass = klass;
        return record;
    }
    if (strcmp(word, "dense") == 0) {
        type = small_type(s);
        return small_tensor(s, type);
    }
    if (*word == '\'') {
        char text[SMALL_TOKEN];
        snprintf(text, sizeof text, "%.*s", (int)strlen(word) - 2, word + 1);
        return small_push_attr(
            s, (keel_attr_t){.kind = KEEL_ATTR_STRING, .a = small_text(s, text), .b = KEEL_NONE});
    }
    if (*word == '&')
        return small_push_attr(
            s,
            (keel_attr_t){.kind = KEEL_ATTR_SYMBOL, .a = small_text(s, word + 1), .b = KEEL_NONE});
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
        return small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_BOOL, .a = *word == 't'});
    if (strcmp(word, "unit") == 0) return small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_UNIT});
    if (small_is_whole(word)) return small_int(s, strtoll(word, NULL, 10));
    if (isdigit((unsigned char)*word) || *word == '-') return small_float(s, strtod(word, NULL));
    return small_enum(s, word);
}

// Behind the names and values in it: {a=1 b=[2,3]}
static inline keel_attr_id_t small_dict_with(small_t *s, const char *name, keel_attr_id_t value) {
    uint32_t pairs[SMALL_LIST], count = 0, list;
    if (value != KEEL_NONE) {
        pairs[count++] = small_text(s, name);
        pairs[count++] = value;
    }
    if (small_takes(s, "{"))
        while (!small_takes(s, "}")) {
            pairs[count++] = small_text(s, small_take(s));
            assert_true(small_takes(s, "="));
            pairs[count++] = small_value(s);
            small_takes(s, ",");
        }
    if (!count) return KEEL_NONE;
    assert_ok(keel_program_add_list(&s->program, pairs, count, &list));
    return small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_DICT, .b = list});
}

static inline keel_attr_id_t small_dict(small_t *s) {
    return small_dict_with(s, NULL, KEEL_NONE);
}

// ---- locations ---------------------------------------------------------------------------------

static inline keel_attr_id_t small_named(small_t *s, const char *name, keel_attr_id_t child) {
    if (child == KEEL_NONE)
        child = small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_LOC_UNKNOWN});
    return small_push_attr(
        s, (keel_attr_t){.kind = KEEL_ATTR_LOC_NAME, .a = small_text(s, name), .b = child});
}

static inline keel_attr_id_t small_frame(small_t *s, const char *word, bool is_outermost) {
    char file[80] = "/home/ada/train.py", function[40];
    const char *bang = memchr(word, '!', strcspn(word, "<"));
    if (bang) snprintf(file, sizeof file, "%.*s", (int)(bang - word), word);
    char *end;
    uint32_t place[2] = {(uint32_t)strtoul(bang ? bang + 1 : word, &end, 10), 4}, list;
    if (*end == '.') place[1] = (uint32_t)strtoul(end + 1, &end, 10);
    snprintf(function, sizeof function, "%s", is_outermost ? "<module>" : "step");
    if (*end == '~')
        snprintf(function, sizeof function, "%.*s", (int)strcspn(end + 1, "<"), end + 1);
    assert_ok(keel_program_add_list(&s->program, place, 2, &list));
    keel_attr_id_t child = small_push_attr(
        s, (keel_attr_t){.kind = KEEL_ATTR_LOC_FILE, .a = small_text(s, file), .b = list});
    return small_named(s, function, child);
}

static inline keel_attr_id_t small_stack(small_t *s, const char *word, bool is_first) {
    const char *caller = strchr(word, '<');
    keel_attr_id_t own = small_frame(s, word, !caller && !is_first), rest;
    if (caller)
        rest = small_stack(s, caller + 1, false);
    else if (is_first)
        rest = small_frame(s, "99", true);
    else
        return own;
    return small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_LOC_CALLSITE, .a = own, .b = rest});
}

// "@8<12"; NONE if none stands here. A name of the client's may stand before, as "@aten__add|8".
static inline keel_attr_id_t small_location(small_t *s, const char *op) {
    if (!small_takes(s, "@")) return KEEL_NONE;
    char word[SMALL_TOKEN], name[SMALL_TOKEN];
    size_t size = strcspn(s->at, " ;\n");
    assert_true(size < sizeof word);
    snprintf(word, sizeof word, "%.*s", (int)size, s->at);
    s->at += size;
    const char *bar = strchr(word, '|');
    if (bar)
        snprintf(name, sizeof name, "%.*s", (int)(bar - word), word);
    else
        snprintf(name, sizeof name, "jit(step)/%.60s", op);
    return small_named(s, name, small_stack(s, bar ? bar + 1 : word, true));
}

// ---- operations --------------------------------------------------------------------------------

static inline keel_value_id_t small_new_value(small_t *s, keel_type_id_t type) {
    SMALL_PUSH(&s->program.value_types, (uint16_t)type);
    return s->program.value_types.count - 1;
}

static inline void small_name(small_t *s, const char *name, keel_value_id_t value) {
    assert_true(s->named < SMALL_VALUES);
    snprintf(s->names[s->named], sizeof *s->names, "%.23s", name);
    s->values[s->named++] = value;
}

static inline keel_value_id_t small_find(const small_t *s, const char *name) {
    for (uint32_t i = s->named; i-- > 0;)
        if (strcmp(s->names[i], name) == 0) return s->values[i];
    fail_msg("%s: no such value", name);
    return KEEL_NONE;
}

static inline uint16_t small_op_name(small_t *s, const char *name) {
    keel_program_t *p = &s->program;
    for (uint32_t i = 0; i < p->op_names.count; ++i)
        if (keel_str_is(keel_program_str(p, p->op_names.data[i].name), name)) return (uint16_t)i;
    bool is_hlo = p->format == KEEL_FORMAT_HLO;
    keel_op_name_t entry = {small_text(s, is_hlo ? "hlo" : "vhlo"), small_text(s, name), !is_hlo};
    SMALL_PUSH(&p->op_names, entry);
    return (uint16_t)(p->op_names.count - 1);
}

static inline keel_op_id_t small_begin_op(small_t *s, const char *name) {
    keel_operation_t op = {.first_operand = s->program.operands.count,
                           .first_result = s->program.value_types.count,
                           .location = KEEL_NONE,
                           .attributes = KEEL_NONE,
                           .name = small_op_name(s, name)};
    SMALL_PUSH(&s->program.operations, op);
    return s->program.operations.count - 1;
}

// "x: f32[8] {...} @3 y: f32[]": the arguments of an open block, or the parameters of HLO.
static inline bool small_arguments(small_t *s, keel_attr_id_t *attributes, uint32_t *locations,
                                   uint32_t *inout_count) {
    const char *line = s->at;
    char name[SMALL_TOKEN];
    small_word(s, name);
    if (!small_takes(s, ":")) {
        s->at = line;
        return false;
    }
    for (;;) {
        bool is_quoted = *name == '\'';
        if (is_quoted) {
            memmove(name, name + 1, strlen(name));
            name[strlen(name) - 1] = 0;
        }
        keel_type_id_t type = small_type(s);
        assert_int_not_equal(type, KEEL_NONE);
        bool is_parameter = s->program.format == KEEL_FORMAT_HLO;
        keel_op_id_t op = is_parameter ? small_begin_op(s, "parameter") : KEEL_NONE;
        keel_value_id_t value = small_new_value(s, type);
        small_name(s, name, value);
        keel_attr_id_t number = is_parameter ? small_int(s, s->parameters++) : KEEL_NONE;
        keel_attr_id_t dict = small_dict_with(s, "parameter_number", number);
        keel_attr_id_t location = small_location(s, "parameter");
        if (is_parameter) {
            keel_operation_t *operation = &s->program.operations.data[op];
            operation->result_count = 1;
            operation->attributes = dict;
            operation->location = location;
        } else {
            uint32_t at = (*inout_count)++;
            attributes[at] = dict;
            // One that begins with _ has no name.
            locations[at] = *name == '_' ? location : small_named(s, name, location);
        }
        if (small_ends(s) || !*small_peek(s)) return true;
        small_word(s, name);
        assert_true(small_takes(s, ":"));
    }
}

// "-> f32[8] {...} f32[]"
static inline void small_results(small_t *s) {
    uint32_t types[SMALL_LIST], count = 0, list;
    keel_attr_id_t dicts[SMALL_LIST];
    bool has_dicts = false;
    for (keel_type_id_t type; (type = small_type(s)) != KEEL_NONE;) {
        types[count] = type;
        dicts[count] = small_dict(s);
        has_dicts = has_dicts || dicts[count] != KEEL_NONE;
        ++count;
    }
    keel_function_t *function = &s->program.functions.data[s->function];
    assert_ok(keel_program_add_list(&s->program, types, count, &list));
    function->type = small_push_type(
        s, (keel_type_t){KEEL_TYPE_FUNCTION, 0, KEEL_NONE, list, list}); // its inputs do not count
    if (!has_dicts) return;
    assert_ok(keel_program_add_list(&s->program, dicts, count, &list));
    function->result_attributes =
        small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_ARRAY, .b = list});
}

static inline void small_block(small_t *s, uint32_t block, bool is_nested);

// Opens the regions of an operation: as many as stand behind it.
static inline void small_regions(small_t *s, keel_op_id_t op) {
    uint32_t count = 0;
    int depth = 0;
    const char *at = s->at;
    for (; *at && (depth || *at == ' ' || *at == '{'); ++at) {
        if (*at == '{' && !depth++) ++count;
        if (*at == '}') --depth;
    }
    if (!count) return;
    keel_program_t *p = &s->program;
    uint32_t first = p->regions.count, first_block = p->blocks.count;
    p->operations.data[op].name |= KEEL_OP_HAS_REGIONS;
    for (uint32_t i = 0; i < count; ++i) {
        keel_region_t region = {.parent = op, .first_block = first_block + i, .block_count = 1};
        SMALL_PUSH(&p->regions, region);
        SMALL_PUSH(&p->blocks, (keel_block_t){.argument_locations = KEEL_NONE});
    }
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(small_takes(s, "{"));
        small_block(s, first_block + i, true);
        p->regions.data[first + i].end = p->operations.count;
    }
}

// "y z = name TYPE... operands {attributes} @8"
static inline void small_operation(small_t *s) {
    char results[8][SMALL_NAME], name[SMALL_TOKEN];
    uint32_t result_count = 0;
    const char *line = s->at;
    while (*small_peek(s) && !strchr("={}@", *s->token) && result_count < 8)
        snprintf(results[result_count++], sizeof *results, "%.23s", small_take(s));
    if (!small_takes(s, "=")) {
        s->at = line;
        result_count = 0;
    }
    small_word(s, name);
    bool is_return = strcmp(name, "return") == 0;
    if (is_return && s->program.format == KEEL_FORMAT_HLO) snprintf(name, sizeof name, "tuple");
    keel_op_id_t op = small_begin_op(s, name);
    keel_type_id_t types[SMALL_LIST], type;
    uint32_t type_count = 0;
    while ((type = small_type(s)) != KEEL_NONE) {
        assert_true(type_count < sizeof types / sizeof *types);
        types[type_count++] = type;
    }
    keel_attr_id_t value = KEEL_NONE;
    bool is_hlo = s->program.format == KEEL_FORMAT_HLO;
    if (strcmp(name, "constant") == 0)
        value = small_tensor(s, types[0]);
    else
        while (!small_ends(s) && *small_peek(s) && !strchr("{}@", *s->token))
            SMALL_PUSH(&s->program.operands, small_find(s, small_take(s)));
    if (is_hlo && is_return) { // a tuple of them
        uint32_t items[SMALL_LIST], count = 0, list;
        for (uint32_t i = s->program.operations.data[op].first_operand;
             i < s->program.operands.count; ++i)
            items[count++] = s->program.value_types.data[s->program.operands.data[i]];
        assert_ok(keel_program_add_list(&s->program, items, count, &list));
        types[type_count++] =
            small_push_type(s, (keel_type_t){KEEL_TYPE_TUPLE, 0, KEEL_NONE, list, KEEL_NONE});
        s->program.functions.data[s->function].root = op;
    }
    assert_true(type_count >= result_count);
    for (uint32_t i = 0; i < type_count; ++i) {
        keel_value_id_t result = small_new_value(s, types[i]);
        if (i < result_count) small_name(s, results[i], result);
    }
    // A dictionary's first word is followed by =.
    const char *open = s->at;
    while (*open == ' ')
        ++open;
    size_t word = *open == '{' ? strspn(open + 1, " ") + 1 : 0;
    word += word ? strcspn(open + word, " =:;\n{}") : 0;
    bool has_dict = word && open[word] == '=';
    keel_attr_id_t dict = KEEL_NONE;
    if (has_dict || value != KEEL_NONE)
        dict = small_dict_with(s, is_hlo ? "literal" : "value", value);
    keel_attr_id_t location = small_location(s, name);
    keel_operation_t *operation = &s->program.operations.data[op];
    operation->attributes = dict;
    operation->location = location;
    operation->result_count = (uint16_t)type_count;
    small_regions(s, op);
}

static inline void small_begin_function(small_t *s, const char *name) {
    keel_program_t *p = &s->program;
    bool is_hlo = p->format == KEEL_FORMAT_HLO;
    keel_function_t function = {.name = small_text(s, name),
                                .operation = KEEL_NONE,
                                .region = p->regions.count,
                                .type = KEEL_NONE,
                                .argument_attributes = KEEL_NONE,
                                .result_attributes = KEEL_NONE,
                                .first_value = p->value_types.count,
                                .attributes = KEEL_NONE,
                                .root = KEEL_NONE,
                                .is_public = !p->functions.count};
    if (!is_hlo) {
        function.operation = small_begin_op(s, "func");
        p->operations.data[function.operation].name |= KEEL_OP_HAS_REGIONS;
    }
    keel_region_t region = {
        .parent = function.operation, .first_block = p->blocks.count, .block_count = 1};
    SMALL_PUSH(&p->regions, region);
    SMALL_PUSH(&p->blocks, (keel_block_t){.argument_locations = KEEL_NONE});
    SMALL_PUSH(&p->functions, function);
    s->function = p->functions.count - 1;
    s->named = s->parameters = 0;
}

// Its lines, up to "}" if it is nested, otherwise to the next function.
static inline void small_block(small_t *s, uint32_t block, bool is_nested) {
    keel_program_t *p = &s->program;
    keel_attr_id_t attributes[SMALL_LIST];
    uint32_t locations[SMALL_LIST], count = 0, named = s->named;
    p->blocks.data[block].first_op = p->operations.count;
    p->blocks.data[block].first_argument = p->value_types.count;
    bool is_open = true;
    while (is_open && small_next_line(s)) {
        if (is_nested && small_takes(s, "}")) break;
        const char *line = s->at;
        if (!is_nested && small_takes(s, "fn")) {
            s->at = line;
            break;
        }
        if (!is_nested && small_takes(s, "->"))
            small_results(s);
        else if (small_takes(s, "root"))
            p->functions.data[s->function].root = small_find(s, small_take(s));
        else if (!small_arguments(s, attributes, locations, &count))
            small_operation(s);
    }
    keel_block_t *own = &p->blocks.data[block];
    own->end_op = p->operations.count;
    own->argument_count = count;
    if (count) {
        uint32_t list;
        assert_ok(keel_program_add_list(p, locations, count, &list));
        p->blocks.data[block].argument_locations = list + 1;
    }
    bool has_attributes = false;
    for (uint32_t i = 0; i < count; ++i)
        has_attributes = has_attributes || attributes[i] != KEEL_NONE;
    if (!is_nested && has_attributes) {
        uint32_t list;
        assert_ok(keel_program_add_list(p, attributes, count, &list));
        p->functions.data[s->function].argument_attributes =
            small_push_attr(s, (keel_attr_t){.kind = KEEL_ATTR_ARRAY, .b = list});
    }
    if (is_nested) s->named = named;
}

// Deinitialize `out` with keel_program_deinitialize.
static inline void small_program(const char *text, keel_program_t *out) {
    static small_t s;
    memset(&s, 0, sizeof s);
    keel_program_initialize(&s.program);
    s.at = text;
    small_next_line(&s);
    if (small_takes(&s, "hlo")) s.program.format = KEEL_FORMAT_HLO;
    small_next_line(&s);
    s.program.name =
        small_text(&s, s.program.format == KEEL_FORMAT_HLO ? "SyncTensorsGraph" : "jit_step");
    if (small_takes(&s, "module")) {
        char name[SMALL_TOKEN];
        small_word(&s, name);
        s.program.name = small_text(&s, name);
        s.program.attributes = small_dict(&s);
    }
    while (small_next_line(&s) && small_takes(&s, "top"))
        small_operation(&s);
    do {
        char name[SMALL_TOKEN] = "main";
        if (small_next_line(&s) && small_takes(&s, "fn")) small_word(&s, name);
        small_begin_function(&s, name);
        keel_function_t *function = &s.program.functions.data[s.function];
        uint32_t region = function->region;
        small_block(&s, s.program.regions.data[region].first_block, false);
        s.program.regions.data[region].end = s.program.operations.count;
        s.program.functions.data[s.function].end_value = s.program.value_types.count;
    } while (small_next_line(&s));
    keel_operation_t end = {.first_operand = s.program.operands.count,
                            .first_result = s.program.value_types.count,
                            .location = KEEL_NONE,
                            .attributes = KEEL_NONE};
    SMALL_PUSH(&s.program.operations, end);
    s.program.entry = 0;
    *out = s.program;
}

#endif // KEEL_TESTS_SMALL_PROGRAM_H_
