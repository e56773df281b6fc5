// Journals that are made line by line, and what Keel says about them.
#ifndef KEEL_TESTS_WHY_HELP_H_
#define KEEL_TESTS_WHY_HELP_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>

#include "text/text.h"

static keel_buffer_t journal;

static inline int begin(void **state) {
    (void)state;
    keel_buffer_initialize(&journal, 0);
    keel_buffer_text(&journal, "{\"event\":\"start\",\"t\":1000,\"pid\":1,\"cwd\":\"/w\","
                               "\"argv\":[\"python\",\"train.py\"]}\n");
    return 0;
}

static inline int end(void **state) {
    (void)state;
    keel_buffer_deinitialize(&journal);
    return 0;
}

// A compile, and `executes` executions of it in the event after.
static inline void compile(const char *program, const char *name, double seconds, int executes) {
    keel_buffer_format(&journal,
                       "{\"event\":\"compile\",\"pid\":1,\"program\":\"%s\",\"name\":\"%s\","
                       "\"key\":\"k%s\",\"seconds\":%g,\"format\":\"mlir\",\"recompile\":true}\n",
                       program, name, program, seconds);
    if (executes)
        keel_buffer_format(&journal,
                           "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"%s\":%d}}\n", program,
                           executes);
}

// `rest` are further fields, each with a comma before it.
static inline void explain(const char *what, const char *program, const char *name, double seconds,
                           const char *rest) {
    keel_buffer_format(&journal,
                       "{\"event\":\"explain\",\"pid\":1,\"what\":\"%s\",\"program\":\"%s\","
                       "\"name\":\"%s\",\"key\":\"k%s\",\"seconds\":%g%s}\n",
                       what, program, name, program, seconds, rest);
}

#define AGAIN ",\"recompile\":true,\"against\":{\"program\":\"o\",\"name\":\"f\",\"is_ours\":true}"

static inline void append(char *text, size_t size, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

static inline void parse(keel_why_t *out) {
    assert_null(keel_why_parse(keel_buffer_bytes(&journal), "r1", "", KEEL_RUN_DETAILS, out));
}

static inline void assert_text(const keel_why_t *why, const keel_text_style_t *style,
                               const char *expected) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_text_why(why, style, &out);
    assert_null(keel_buffer_status(&out));
    if (!strstr(keel_buffer_cstr(&out), expected))
        fail_msg("%s\nis not in\n%s", expected, keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
}

static inline void constant(int number, const char *name, const char *subject, int line,
                            const char *from, const char *to) {
    char program[16], rest[512];
    snprintf(program, sizeof program, "p%d", number);
    snprintf(rest, sizeof rest,
             AGAIN ",\"roots\":[{\"kind\":\"constant\",\"subject\":\"%s\",\"old\":\"%s\","
                   "\"new\":\"%s\",\"file\":\"/w/m.py\",\"line\":%d}]",
             subject, from, to, line);
    explain("compile", program, name, 1, rest);
}

static inline void shape(const char *program, const char *subject, const char *to, int line) {
    char rest[512];
    snprintf(rest, sizeof rest,
             AGAIN ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"%s\",\"old\":\"f32[8]\","
                   "\"new\":\"%s\",\"file\":\"/w/t.py\",\"line\":%d}]",
             subject, to, line);
    explain("compile", program, "f", 1, rest);
}

static inline void argument(const char *program, const char *first, const char *second) {
    char rest[512];
    snprintf(rest, sizeof rest,
             AGAIN
             ",\"roots\":[{\"kind\":\"arguments\",\"subject\":\"%s\",\"old\":\"absent\"}%s%s%s]",
             first, second ? ",{\"kind\":\"arguments\",\"subject\":\"" : "", second ? second : "",
             second ? "\",\"old\":\"absent\"}" : "");
    explain("compile", program, "f", 1, rest);
}

#endif // KEEL_TESTS_WHY_HELP_H_
