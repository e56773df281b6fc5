// dumps: what XLA is asked to write of the programs that it compiles (XLA's --xla_dump_to).
//
// An executable keeps the compile options that it was compiled with, and with them where its dumps
// go. So an entry of a program that was compiled with dumps has options without them, and it is
// loaded with those; and a load in a process that asks for dumps gets that process's options, by
// which XLA writes what a load can: the optimized program. Keel adds the program as it was asked
// for.
#ifndef KEEL_ENGINE_DUMPS_H_
#define KEEL_ENGINE_DUMPS_H_

#include "key/key.h"

typedef struct dumps_t {
    const char *flag;  // that asks for dumps of this program; NULL: none does
    bool by_compiling; // they are written only while it is compiled
    bool in_options;   // asked by the compile options, so an executable can be freed from them
    bool excludes;     // the options ask for dumps, but not of this program, or they are lost
    keel_str_t folder; // borrowed from the options
} dumps_t;

// Whether XLA_FLAGS or LIBTPU_INIT_ARGS ask for dumps, read once: XLA reads them only once too. Any
// thread.
bool dumps_of_process(void);
// What a program is asked for that is compiled with these options. Says on stderr, once, what
// follows from it. `is_lost`: what is written is discarded, so the options ask for nothing.
void dumps_of_program(keel_bytes_t options, const char *name, bool is_lost, dumps_t *out);

// A program that was loaded.
typedef struct dumps_loaded_t {
    keel_str_t folder;
    const char *name; // as it was asked for
    const char *format;
    keel_bytes_t code;
    keel_str_t optimized_format; // "hlo", "hlo_with_config"
    keel_bytes_t optimized;      // empty: unknown
    uint64_t began;              // when its load began, by keel_clock_wall
} dumps_loaded_t;

// Writes what XLA did not write when the program was loaded. If it cannot, that is said once.
void dumps_write(const dumps_loaded_t *loaded);

#endif // KEEL_ENGINE_DUMPS_H_
