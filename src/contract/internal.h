// What the files of this room share.
#ifndef KEEL_CONTRACT_INTERNAL_H_
#define KEEL_CONTRACT_INTERNAL_H_

#include "contract/contract.h"

// ---- contract.c --------------------------------------------------------------------------------

// Makes room for one more item behind `count` others; it is cleared.
keel_status_t contract_grow(keel_arena_t *arena, uint32_t count, size_t size,
                            void **inout) KEEL_MUST_CHECK;
// Sorts the entries, numbers the pins and makes the index.
keel_status_t contract_index(keel_contract_t *contract) KEEL_MUST_CHECK;
// Whether two programs take the same arguments, but for the sizes of their dimensions.
bool contract_is_alike(const keel_contract_program_t *a, const keel_contract_program_t *b);
// Copies of texts and of an argument's dimensions into the arena.
keel_status_t contract_copy_argument(keel_arena_t *arena, const keel_contract_argument_t *from,
                                     keel_contract_argument_t *out) KEEL_MUST_CHECK;
keel_status_t contract_copy_program(keel_arena_t *arena, const keel_contract_program_t *from,
                                    keel_contract_program_t *out) KEEL_MUST_CHECK;
keel_status_t contract_copy_entry(keel_arena_t *arena, const keel_contract_entry_t *from,
                                  keel_contract_entry_t *out) KEEL_MUST_CHECK;
// The number of dimensions that vary.
uint32_t contract_varying(const keel_contract_program_t *program);
const keel_contract_argument_t *contract_argument(const keel_contract_program_t *program,
                                                  keel_str_t name);
// Whether they are the same: type, sizes, sharding, donation.
bool contract_argument_equal(const keel_contract_argument_t *a, const keel_contract_argument_t *b);

// ---- words.c -----------------------------------------------------------------------------------

// A word as the file has it: in quotes if it is empty, has blanks or could not be shown.
void contract_put_word(keel_buffer_t *out, keel_str_t text);
// Takes the next word off `rest`. KEEL_INVALID without the line: the caller adds it.
keel_status_t contract_take_word(keel_str_t *rest, keel_arena_t *arena,
                                 keel_str_t *out) KEEL_MUST_CHECK;
keel_str_t contract_trim(keel_str_t text);
bool contract_read_number(keel_str_t text, int64_t *out);

// ---- sizes.c -----------------------------------------------------------------------------------

// Takes a type off `rest`: "i32[8,128..2048 step 128]".
keel_status_t contract_take_type(keel_str_t *rest, keel_arena_t *arena,
                                 keel_contract_argument_t *out) KEEL_MUST_CHECK;
// How many sizes it allows.
uint64_t contract_size_count(const keel_sizes_t *sizes);
// The sizes that these are, rising and without doubles, as a range if they are one.
keel_status_t contract_sizes_of(const int64_t *values, uint32_t count, keel_arena_t *arena,
                                keel_sizes_t *out) KEEL_MUST_CHECK;

// ---- nearest.c ---------------------------------------------------------------------------------

// Whether a dimension allows sizes that no pin has. `at`: which of the dimensions that vary.
bool contract_is_open(const keel_contract_program_t *program, const keel_sizes_t *sizes,
                      uint32_t at);

#endif // KEEL_CONTRACT_INTERNAL_H_
