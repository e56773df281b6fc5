// Every field of XLA's messages that Keel reads as an attribute: it makes another program, and
// comes back when that is written.
#define _GNU_SOURCE
#include "hlo_proto.h"
#include "read/hlo_schema.h"
#include "round_trip.h"

enum { DEPTH = 4 };

static uint32_t first[KEEL_HLO_MESSAGE_COUNT + 1];

static proto_t message_of(uint32_t message, int depth);

static void put_fixed(proto_t *p, const keel_hlo_field_t *field, unsigned size) {
    static const uint8_t one[] = {1, 0, 0, 0, 0, 0, 0, 0};
    varint(p, (uint64_t)field->number << 3 | (size == 4 ? 5 : 1));
    keel_buffer_append(p, one, size);
}

// A value that is not the default.
static void put_field(proto_t *p, const keel_hlo_field_t *field, int depth) {
    proto_t inner = proto(), type = shape(F32, NULL, 0);
    switch (field->kind) {
        case KEEL_HLO_IS_INT64:
        case KEEL_HLO_IS_INT32:
            put_int(p, field->number, field->flags & KEEL_HLO_DROP_ONE ? 2 : 1);
            break;
        case KEEL_HLO_IS_BOOL:
        case KEEL_HLO_IS_ENUM:
            put_int(p, field->number, 1);
            break;
        case KEEL_HLO_IS_FLOAT:
            put_fixed(p, field, 4);
            break;
        case KEEL_HLO_IS_DOUBLE:
            put_fixed(p, field, 8);
            break;
        case KEEL_HLO_IS_STRING:
            put_text(p, field->number, "text");
            break;
        case KEEL_HLO_IS_NESTED:
            keel_buffer_deinitialize(&inner);
            inner = message_of(field->argument, depth + 1);
            put_bytes(p, field->number, inner.data, inner.size);
            break;
        case KEEL_HLO_IS_MAP:
            put_text(&inner, 1, "\x0a\x01k\x12\x01v");
            put_bytes(p, field->number, inner.data, inner.size);
            break;
        case KEEL_HLO_IS_SHAPE:
            put_bytes(p, field->number, type.data, type.size);
            break;
        case KEEL_HLO_IS_LITERAL:
            put_bytes(&inner, 1, type.data, type.size);
            put_bytes(&inner, 8, "\x01\x02\x03\x04", 4);
            put_bytes(p, field->number, inner.data, inner.size);
            break;
        default:
            break;
    }
    keel_buffer_deinitialize(&inner);
    keel_buffer_deinitialize(&type);
}

static bool is_attribute(const keel_hlo_field_t *field) {
    return field->kind != KEEL_HLO_IS_SKIPPED && !(field->flags & KEEL_HLO_APART);
}

// With all of its fields, and the first of those that exclude each other.
static proto_t message_of(uint32_t message, int depth) {
    proto_t p = proto();
    bool has_one = false;
    for (uint32_t i = first[message] + 1; depth < DEPTH && i < first[message + 1]; ++i) {
        const keel_hlo_field_t *field = &keel_hlo_fields[i];
        if (!is_attribute(field) || (has_one && (field->flags & KEEL_HLO_ONE_OF))) continue;
        has_one = has_one || (field->flags & KEEL_HLO_ONE_OF);
        put_field(&p, field, depth);
        if (field->flags & KEEL_HLO_REPEATED) put_field(&p, field, depth);
    }
    return p;
}

// A module of one instruction; with `field`, which is one of the instruction's or of the module's.
static proto_t module_with(const keel_hlo_field_t *field, bool of_module) {
    proto_t one = instruction("custom-call", 1, NULL, 0), body = proto();
    if (field && !of_module) put_field(&one, field, 0);
    put_message(&body, 2, &one);
    proto_t module = module_of(&body, 1);
    if (field && of_module) put_field(&module, field, 0);
    return module;
}

static void check_field(const keel_hlo_field_t *field, bool of_module, const keel_digest_t *bare) {
    proto_t module = module_with(field, of_module);
    keel_program_t program;
    keel_digest_t key;
    keel_status_t status = keel_read_hlo(bytes_of(&module), &program);
    if (!status) {
        keel_attr_id_t dict =
            of_module ? program.attributes : program.operations.data[0].attributes;
        if (keel_program_dict_find(&program, dict, field->name) == KEEL_NONE)
            status = keel_status_make(KEEL_INTERNAL, "it is not an attribute");
    }
    if (!status) status = round_trip(&program);
    if (!status) status = keel_key_program(&program, &key);
    if (!status && keel_digest_equal(&key, bare))
        status = keel_status_make(KEEL_INTERNAL, "the key is the same without it");
    if (status) fail_msg("%s: %s", field->name, keel_status_message(status));
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static void every_field_is_read_written_and_keyed(void **state) {
    (void)state;
    static const uint32_t messages[] = {KEEL_HLO_INSTRUCTION, KEEL_HLO_MODULE};
    proto_t module = module_with(NULL, false);
    keel_program_t program;
    keel_digest_t bare;
    unsigned count = 0;
    assert_read(&module, &program);
    assert_null(keel_key_program(&program, &bare));
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
    for (size_t i = 0; i < 2; ++i)
        for (uint32_t at = first[messages[i]] + 1; at < first[messages[i] + 1]; ++at)
            if (is_attribute(&keel_hlo_fields[at])) {
                check_field(&keel_hlo_fields[at], messages[i] == KEEL_HLO_MODULE, &bare);
                ++count;
            }
    assert_true(count > 50);
}

// Numbers of fields are XLA's: none is 0, and they grow within a message.
static void fields_are_ordered_by_number(void **state) {
    (void)state;
    for (uint32_t message = 0; message < KEEL_HLO_MESSAGE_COUNT; ++message) {
        uint32_t last = 0;
        for (uint32_t i = first[message] + 1; i < first[message + 1]; ++i) {
            if (keel_hlo_fields[i].number <= last)
                fail_msg("%s.%s: number %d", keel_hlo_fields[first[message]].name,
                         keel_hlo_fields[i].name, keel_hlo_fields[i].number);
            last = keel_hlo_fields[i].number;
        }
    }
}

static int find_messages(void **state) {
    (void)state;
    keel_hlo_find_messages(first);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read_written_and_keyed),
        cmocka_unit_test(fields_are_ordered_by_number),
    };
    return cmocka_run_group_tests_name("hlo fields", tests, find_messages, NULL);
}
