// Room-internal: words in place of names. A name always gets the same word, of the same length, and
// no two names get one word; a word is not a name or other text of the pack.
#ifndef KEEL_PACK_NAMES_H_
#define KEEL_PACK_NAMES_H_

#include "base/base.h"

typedef struct names_t {
    keel_map_t words; // name -> where its word is in `text`
    keel_map_t taken; // words in use, and those that stay as they are
    keel_buffer_t text;
    uint64_t next[2]; // numbers of words, short and long ones
} names_t;

void names_initialize(names_t *names);
void names_deinitialize(names_t *names);
// Text that stays: the word of an operation, "main".
keel_status_t names_keep(names_t *names, keel_str_t text) KEEL_MUST_CHECK;
bool names_keeps(const names_t *names, keel_str_t text);
// Writes the word for a name over `out`, which has its length. What says what a name is stays: a
// leading '/' or '<', ".py" at its end, or XLA's number there (".12"). KEEL_UNSUPPORTED if there
// are more short names than short words.
keel_status_t names_word(names_t *names, keel_str_t name, char *out) KEEL_MUST_CHECK;
// Appends the text with a word in place of each path in it.
keel_status_t names_put_without_paths(names_t *names, keel_str_t text,
                                      keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_PACK_NAMES_H_
