// What the tests of contracts share: programs that are asked for, contracts as text.
#ifndef KEEL_TESTS_CONTRACT_HELP_H_
#define KEEL_TESTS_CONTRACT_HELP_H_

#include "place.h"

#include "contract/contract.h"

enum { HELP_ARGUMENTS = 16 };

// A program that a test asks for: "batch f32[8,129]; step i32[]".
typedef struct asked_t {
    keel_contract_asked_t asked;
    keel_contract_argument_t arguments[HELP_ARGUMENTS];
    keel_sizes_t sizes[HELP_ARGUMENTS][4];
    char text[512];
} asked_t;

static inline keel_fingerprint_t fingerprint_of(unsigned number) {
    keel_fingerprint_t out = {{0}};
    for (size_t i = 0; i < sizeof out.bytes; ++i)
        out.bytes[i] = (uint8_t)(number * 37 + i);
    out.bytes[0] = (uint8_t)number;
    return out;
}

static inline void ask(asked_t *out, const char *name, const char *function, unsigned number,
                       const char *arguments) {
    char *rest = NULL;
    uint32_t count = 0;
    *out = (asked_t){.asked = {.name = keel_str(name),
                               .function = keel_str(function),
                               .fingerprint = fingerprint_of(number),
                               .options = fingerprint_of(200),
                               .seconds = 3.94,
                               .memory = 120u << 20}};
    snprintf(out->text, sizeof out->text, "%s", arguments);
    for (char *word = strtok_r(out->text, ";", &rest); word; word = strtok_r(NULL, ";", &rest)) {
        while (*word == ' ')
            ++word;
        char *type = strchr(word, ' ');
        assert_non_null(type);
        *type++ = 0;
        char *dims = strchr(type, '[');
        assert_non_null(dims);
        keel_contract_argument_t *argument = &out->arguments[count];
        *argument = (keel_contract_argument_t){.name = keel_str(word),
                                               .element = {type, (size_t)(dims - type)},
                                               .is_array = true,
                                               .dims = out->sizes[count]};
        for (char *at = dims + 1; *at && *at != ']'; at += *at == ',') {
            int64_t size = strtoll(at, &at, 10);
            out->sizes[count][argument->rank++] =
                (keel_sizes_t){.low = size, .high = size, .step = 1};
        }
        ++count;
    }
    out->asked.arguments = out->arguments;
    out->asked.argument_count = count;
}

static inline void add_asked(keel_contract_t *contract, const char *name, unsigned number,
                             const char *arguments) {
    asked_t asked;
    ask(&asked, name, "step in train.py", number, arguments);
    assert_ok(keel_contract_add(contract, &asked.asked));
}

static inline void assert_text(const keel_contract_t *contract, const char *expected) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_contract_write(contract, &text);
    assert_ok(keel_buffer_status(&text));
    assert_string_equal(keel_buffer_cstr(&text), expected);
    keel_buffer_deinitialize(&text);
}

#define F1 "01262728292a2b2c2d2e2f3031323334"
#define F2 "024b4c4d4e4f50515253545556575859"
#define F3                                                                                         \
    "037071727374757677"                                                                           \
    "78797a7b7c7d7e"
#define OPTIONS "c8e9eaebecedeeeff0f1f2f3f4f5f6f7"
#define HEADER "keel.contract 1\nkey 2\nprofile none\noptions " OPTIONS "\n"

#endif // KEEL_TESTS_CONTRACT_HELP_H_
