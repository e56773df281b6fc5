// contract: the programs that a run may ask for, as a file that a team reviews: keel.contract.
//
//   contract.c   a contract in memory; whether a program is listed
//   read.c       the file, read: line by line, with errors that name the line
//   words.c      the words of one line
//   sizes.c      the sizes of a dimension: 8, 128..2048 step 128, 64|96
//   write.c      the file, written
//   asked.c      a program as a contract lists it: its arguments, its mesh, its fingerprint
//   record.c     a contract made of programs that were asked for; merging them into an older one
//   nearest.c    the listed program that is nearest to one that is not listed, and what differs
//   elsewhere.c  programs whose traced form is not known
//   placements.c the sets of devices on which a process has the listed programs
//   compare.c    what changed between two contracts
//
// A *contract* has entries. An *entry* is one entry point, by the name that `keel why` shows, such
// as jit_train_step, and the function of the user's that has it. Its *programs* differ in their
// arguments. Each program has *pins*: a pin is one executable, identified by the fingerprint of the
// program (the canonical form that keys have, without device and plugin) and by that of its compile
// options. A program whose dimensions may vary has a pin for each of the sizes that were seen;
// sizes that its dimensions allow and that have no pin yet are allowed too. A *placement* of a
// program is the set of devices that it is compiled for, in order: an executable for each.
//
// docs/contract.md describes the file. What `keel_contract_write` wrote is read and written again
// byte by byte.
//
// Ownership: a contract owns all it points to; texts live in its arena. Threads: one thread reads
// or changes a contract; once that is done, any number may look at it.
#ifndef KEEL_CONTRACT_CONTRACT_H_
#define KEEL_CONTRACT_CONTRACT_H_

#include "base/base.h"
#include "key/key.h"

enum {
    KEEL_CONTRACT_FORMAT = 1,
    KEEL_CONTRACT_LIMIT = 64 << 20, // bytes of a file
    KEEL_CONTRACT_RANK = 64,        // dimensions of an argument
};

// ---- identity ----------------------------------------------------------------------------------

// The first half of a digest.
enum { KEEL_FINGERPRINT_SIZE = 16, KEEL_FINGERPRINT_HEX = 2 * KEEL_FINGERPRINT_SIZE + 1 };
typedef struct keel_fingerprint_t {
    uint8_t bytes[KEEL_FINGERPRINT_SIZE];
} keel_fingerprint_t;

static inline bool keel_fingerprint_equal(const keel_fingerprint_t *a,
                                          const keel_fingerprint_t *b) {
    return memcmp(a->bytes, b->bytes, KEEL_FINGERPRINT_SIZE) == 0;
}

// Of a key's components: the program; the compile options, XLA_FLAGS and LIBTPU_INIT_ARGS. Neither
// depends on the device or the plugin, so a rehearsal or a processor matches where programs are
// equal. The options need the key's readable text of them, without which those of two programs
// differ. The key need not be finished.
keel_fingerprint_t keel_fingerprint_of_program(const keel_key_t *key);
keel_fingerprint_t keel_fingerprint_of_options(const keel_key_t *key);
// Of the rest but the device assignment: plugin, topology, devices, variables, the client's
// options.
keel_fingerprint_t keel_fingerprint_of_machine(const keel_key_t *key);
// Of the device assignment.
keel_fingerprint_t keel_fingerprint_of_placement(const keel_key_t *key);

// ---- model -------------------------------------------------------------------------------------

// The sizes that a dimension may have.
typedef struct keel_sizes_t {
    int64_t low, high, step; // equal: one size (KEEL_DYNAMIC: unknown when compiled)
    const int64_t *list;     // several that are not a range, rising; NULL: a range or one size
    uint32_t count;          // of the list
} keel_sizes_t;

typedef struct keel_contract_argument_t {
    keel_str_t name;    // the user's: batch['tokens']; "#2" if it has none
    keel_str_t element; // "i32"; of anything but an array, its type
    bool is_array;
    bool donated;
    uint32_t rank;
    const keel_sizes_t *dims;
    keel_str_t sharding; // "P('data', None)"; empty: unknown
} keel_contract_argument_t;

typedef struct keel_contract_pin_t {
    keel_fingerprint_t fingerprint, options; // options: keel_contract_options
    const int64_t *sizes; // of the dimensions that vary, in order; `varying` of them
    keel_str_t cost;      // "3.9s"; empty: unknown
    keel_str_t memory;    // "120MiB" on each device; likewise
    uint32_t placements;  // that it may have, at least 1
    uint32_t number;      // from 0, below the contract's pin_count, in the file's order;
                          // pins of several entries that are equal have one
    const struct keel_contract_seen_t *seen_; // placements, while it is recorded
    uint32_t seen_count_, seen_most_;         // all; of the process that has most
} keel_contract_pin_t;

typedef struct keel_contract_program_t {
    keel_str_t comment; // lines before it, with their "#" and newlines; empty: none
    keel_str_t mesh;    // "data=2,model=4"; empty: none
    keel_contract_argument_t *arguments;
    keel_contract_pin_t *pins;
    uint32_t argument_count, pin_count;
    uint32_t varying; // dimensions with more than one size
} keel_contract_program_t;

// What happens to a program of the entry that is not listed. word, sentence
#define KEEL_CONTRACT_SCOPES(X)                                                                    \
    X(DEFAULT, "default", "what the run was asked for")                                            \
    X(REFUSE, "refuse", "it is refused")                                                           \
    X(WARN, "warn", "it is reported")                                                              \
    X(ALLOW, "allow", "it is allowed")

typedef enum keel_contract_scope {
#define KEEL_CONTRACT_SCOPE_ENUM(name, word, sentence) KEEL_CONTRACT_##name,
    KEEL_CONTRACT_SCOPES(KEEL_CONTRACT_SCOPE_ENUM)
#undef KEEL_CONTRACT_SCOPE_ENUM
        KEEL_CONTRACT_SCOPE_COUNT,
} keel_contract_scope_t;
const char *keel_contract_scope_word(keel_contract_scope_t scope);

typedef struct keel_contract_entry_t {
    keel_str_t comment;  // as for a program
    keel_str_t name;     // of the module: "jit_train_step"
    keel_str_t function; // "train_step in train.py"; empty: unknown
    keel_contract_scope_t scope;
    keel_contract_program_t *programs;
    uint32_t program_count;
} keel_contract_entry_t;

typedef struct keel_contract_t {
    keel_str_t comment; // the lines at the top
    uint32_t key_version;
    keel_str_t client, plugin, devices; // "jax 0.6.2, jaxlib 0.6.2"; empty: unknown
    keel_str_t profile;                 // of flags; "none"
    keel_fingerprint_t options;         // of the pins that name no other
    bool operations;              // operations that ran by themselves, outside jit, are listed too
    bool machine;                 // programs are listed for the machine they were recorded on
    uint64_t settled;             // the step by which all programs had appeared, from 1; 0: unknown
    keel_contract_scope_t others; // for entries that are not listed
    keel_contract_entry_t *entries; // by name, then by function
    uint32_t entry_count;
    uint32_t pin_count; // of all programs
    struct keel_contract_slot_t *slots_;
    uint32_t *placements_; // by a pin's number, of all pins that have it
    uint32_t slot_count_;
    keel_arena_t arena;
} keel_contract_t;

// An empty contract.
void keel_contract_initialize(keel_contract_t *contract);
void keel_contract_deinitialize(keel_contract_t *contract);

// ---- the file ----------------------------------------------------------------------------------

// Reads a contract. KEEL_INVALID, in one line that names the file, the line, the value and the next
// step: another format, another key version, marks of a merge conflict, an unknown word, something
// twice. On failure *out needs no deinitializing. keel_contract_read takes regular files only, so
// it never waits for the other end of a pipe.
keel_status_t keel_contract_parse(const char *path, keel_bytes_t text,
                                  keel_contract_t *out) KEEL_MUST_CHECK;
keel_status_t keel_contract_read(const char *path, keel_contract_t *out) KEEL_MUST_CHECK;
void keel_contract_write(const keel_contract_t *contract, keel_buffer_t *out);

// ---- lookup ------------------------------------------------------------------------------------

typedef struct keel_contract_found_t {
    const keel_contract_entry_t *entry;
    const keel_contract_program_t *program;
    const keel_contract_pin_t *pin;
} keel_contract_found_t;

typedef enum keel_contract_match_t {
    KEEL_CONTRACT_UNLISTED,
    KEEL_CONTRACT_LISTED,
    KEEL_CONTRACT_OTHER_OPTIONS, // the program is listed, but with other options or another machine
} keel_contract_match_t;

// What a pin of the contract has as its options: the program's, and its machine if that is listed.
keel_fingerprint_t keel_contract_options(const keel_contract_t *contract,
                                         const keel_fingerprint_t *options,
                                         const keel_fingerprint_t *machine);
// Whether a program is listed. `options`: keel_contract_options. Constant time, no allocation, any
// thread. *out is set unless it is unlisted; `out` may be NULL.
keel_contract_match_t keel_contract_match(const keel_contract_t *contract,
                                          const keel_fingerprint_t *program,
                                          const keel_fingerprint_t *options,
                                          keel_contract_found_t *out);
// How many placements the program of a pin may have: its own, and those of the pins that are equal,
// because functions may share a program.
uint32_t keel_contract_placements(const keel_contract_t *contract, const keel_contract_pin_t *pin);
// The entry of that name and function; if none has that function and only one that name, that one.
// NULL: none.
const keel_contract_entry_t *keel_contract_entry(const keel_contract_t *contract, keel_str_t name,
                                                 keel_str_t function);
// What happens to a program of that entry that is not listed.
keel_contract_scope_t keel_contract_scope(const keel_contract_t *contract, keel_str_t name,
                                          keel_str_t function);

// ---- placements --------------------------------------------------------------------------------

// Those that the pins of one contract have in a process. Threads: one at a time.
typedef struct keel_placements_t {
    keel_map_t known;
    uint32_t *counts; // of each pin
} keel_placements_t;

// Zeros are an empty one.
void keel_placements_deinitialize(keel_placements_t *placements);
// *out: whether the pin may have this placement, besides those before. One that it may not have
// does not count.
keel_status_t keel_placements_add(keel_placements_t *placements, const keel_contract_t *contract,
                                  const keel_contract_pin_t *pin,
                                  const keel_fingerprint_t *placement, bool *out) KEEL_MUST_CHECK;

// ---- a program that was asked for --------------------------------------------------------------

typedef struct keel_contract_asked_t {
    keel_str_t name, function; // as in an entry
    keel_fingerprint_t fingerprint, options, machine, placement;
    uint32_t process; // that asked, by any number
    keel_str_t mesh;
    const keel_contract_argument_t *arguments; // each dimension has one size
    uint32_t argument_count;
    double seconds;        // of its compile; 0: unknown
    uint64_t memory;       // bytes on each device; 0: unknown
    const char *elsewhere; // who loaded it: it is an optimized program; NULL: it was traced
} keel_contract_asked_t;

// Fills in arguments and mesh. `names`: keel_names_read, or NULL. Texts live in `arena`.
keel_status_t keel_contract_ask(const keel_program_t *program, const char *names,
                                keel_arena_t *arena, keel_contract_asked_t *out) KEEL_MUST_CHECK;
// "train_step in train.py": of an origin (keel_site_t), or, without a function in it, of the
// function and the file of the line that asked. Lines and folders are left out.
keel_status_t keel_contract_function(keel_str_t origin, keel_str_t function, keel_str_t file,
                                     keel_arena_t *arena, keel_str_t *out) KEEL_MUST_CHECK;

// ---- recording ---------------------------------------------------------------------------------

// Adds a program (set `machine` of the contract before), or, if that pin is there, its placement in
// that process: a pin has as many as the
// process with most. Texts are copied.
keel_status_t keel_contract_add(keel_contract_t *contract,
                                const keel_contract_asked_t *asked) KEEL_MUST_CHECK;
// Takes what a person decided from an older contract (scopes, bounds, comments, the order of its
// programs), and its figures where those of `contract` are about the same. Merges programs that
// differ only in sizes, and sorts. `older` may be NULL. Call it once, after the last
// keel_contract_add; keel_contract_match works from then on.
keel_status_t keel_contract_settle(keel_contract_t *contract,
                                   const keel_contract_t *older) KEEL_MUST_CHECK;
// Whether an entry is called that: by its name, or by its function with or without the file.
bool keel_contract_is_named(const keel_contract_entry_t *entry, keel_str_t name);
// What people call an entry point: its name, or its function if the client gives one name to all.
keel_str_t keel_contract_short_name(keel_str_t name, keel_str_t function);
// Replaces the entries that are called that in `contract` by those of `fresh`.
keel_status_t keel_contract_update(keel_contract_t *contract, const keel_contract_t *fresh,
                                   keel_str_t name) KEEL_MUST_CHECK;

// ---- drift -------------------------------------------------------------------------------------

enum { KEEL_CONTRACT_SHOWN = 8 };

typedef struct keel_contract_difference_t {
    keel_str_t name;            // of the argument; "mesh"
    const char *asked, *listed; // "i32[8,512]", "i32[8,128..256]"; "absent"
} keel_contract_difference_t;

typedef struct keel_contract_nearest_t {
    const keel_contract_entry_t *entry;     // NULL: no entry of that name
    const keel_contract_program_t *program; // the nearest one in it; NULL: it has none
    bool fits;           // the program's bounds allow it: it is not drift, although it has no pin
    bool options;        // it is listed, with other compile options
    bool machine;        // or, as the contract lists it, for another machine
    uint32_t placements; // it is listed, but with only so many; 0: it is not
    keel_contract_difference_t differences[KEEL_CONTRACT_SHOWN];
    uint32_t count, total; // 0: the arguments agree, and the difference is inside the program
} keel_contract_nearest_t;

// For a program that is not listed, or (`placed`: its pin, otherwise NULL) not with this placement.
// Texts live in `arena`. It takes time proportional to the entry's arguments; any thread.
keel_status_t keel_contract_nearest(const keel_contract_t *contract,
                                    const keel_contract_asked_t *asked,
                                    const keel_contract_pin_t *placed, keel_arena_t *arena,
                                    keel_contract_nearest_t *out) KEEL_MUST_CHECK;
// One sentence without a full stop: "jit_step: batch['tokens'] i32[8,512] is not in keel.contract
// (listed: i32[8,128..256])". `path` is how the user named the contract.
void keel_contract_tell(const keel_contract_asked_t *asked, const keel_contract_nearest_t *nearest,
                        const char *path, keel_buffer_t *out);

// ---- programs from elsewhere -------------------------------------------------------------------

// Of a program that is not listed and that the client loaded from elsewhere, only the name and what
// it takes can be compared with programs that were traced. False: no program of that name takes the
// same, so it is not listed. True: it may be one that is.
bool keel_contract_may_list(const keel_contract_t *contract, const keel_contract_asked_t *asked);
// One sentence without a full stop, for one that may be listed.
void keel_contract_tell_unchecked(const keel_contract_asked_t *asked, const char *path,
                                  keel_buffer_t *out);

// ---- comparison --------------------------------------------------------------------------------

// One change, as a line for people.
typedef struct keel_contract_change_t {
    const char *kind;                  // "added", "removed", "changed"
    keel_str_t entry;                  // its name; empty: the header
    const char *what;                  // "entry", "program", "argument", "scope", "client", ...
    keel_str_t name;                   // of an argument; empty
    const char *old_value, *new_value; // "" if there is none
} keel_contract_change_t;

typedef struct keel_contract_changes_t {
    keel_contract_change_t *list;
    size_t count;
    bool programs; // different programs are allowed than before: not only the header and figures
    keel_arena_t arena;
} keel_contract_changes_t;

// Borrows texts of both contracts.
keel_status_t keel_contract_compare(const keel_contract_t *before, const keel_contract_t *after,
                                    keel_contract_changes_t *out) KEEL_MUST_CHECK;
void keel_contract_changes_deinitialize(keel_contract_changes_t *changes);

// ---- types -------------------------------------------------------------------------------------

// "i32[8,128..2048 step 128]".
void keel_contract_type(const keel_contract_argument_t *argument, keel_buffer_t *out);
void keel_sizes_write(const keel_sizes_t *sizes, keel_buffer_t *out);
bool keel_sizes_vary(const keel_sizes_t *sizes);
bool keel_sizes_has(const keel_sizes_t *sizes, int64_t size);
bool keel_sizes_equal(const keel_sizes_t *a, const keel_sizes_t *b);

#endif // KEEL_CONTRACT_CONTRACT_H_
