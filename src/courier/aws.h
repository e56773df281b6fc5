// aws: who asks a store with Amazon's signatures: keys from the environment, from a file, or from
// what a container or a machine is given, which end and are then asked for again.
//
// Threads: any. Reads the environment.
#ifndef KEEL_COURIER_AWS_H_
#define KEEL_COURIER_AWS_H_

#include "base/base.h"

typedef struct aws_keys_t {
    char id[256], secret[512], token[8192];
    uint64_t ends;    // nanoseconds since 1970; 0: they do not
    const char *from; // where they are from, for people
} aws_keys_t;

// AWS_ACCESS_KEY_ID, ~/.aws/credentials, a container's address, the machine's metadata, in that
// order. KEEL_NOT_FOUND: there are none.
keel_status_t aws_find_keys(aws_keys_t *out) KEEL_MUST_CHECK;

// For tests: a section of a credentials file, and the answer of a container or of the metadata.
bool aws_read_profile(keel_str_t text, const char *profile, aws_keys_t *out);
bool aws_read_answer(keel_str_t text, aws_keys_t *out);
// "2026-11-30T17:00:00Z", with or without fractions, as nanoseconds since 1970; 0 if it is none.
uint64_t aws_read_time(keel_str_t text);

#endif // KEEL_COURIER_AWS_H_
