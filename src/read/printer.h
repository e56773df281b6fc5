// printer: the bounds that keep a hostile program's text finite.
//
// Attributes and types form a graph without cycles, and a graph of a few hundred bytes can name
// more nodes than there are atoms. So a printer carries a depth and a size at which it stops; what
// it left out is marked "..." in text, and refused in JSON, which must be exact.
#ifndef KEEL_READ_PRINTER_H_
#define KEEL_READ_PRINTER_H_

#include "program/program.h"

// What keel_print_type and keel_print_attribute write at most.
enum { KEEL_PRINT_LINE_LIMIT = 64 * 1024 };

typedef struct keel_printer_t {
    const keel_program_t *program;
    keel_buffer_t *out;
    uint32_t largest; // text: the longest list and the largest constant that is shown whole
    uint32_t depth;   // attributes and types open now
    size_t stop;      // no new value is begun once the buffer holds so many bytes
    bool cut;         // something was left out
    bool is_exact;    // JSON: types in full, layouts that are usual too
} keel_printer_t;

// A printer that stops after `more` bytes from where the buffer is now.
keel_printer_t keel_printer(const keel_program_t *program, keel_buffer_t *out, uint32_t largest,
                            uint64_t more);

// Most bytes that the whole text of a program may take.
uint64_t keel_print_limit(const keel_program_t *program);

// True once nothing more may be written; remembers that something was left out.
bool keel_print_full(keel_printer_t *printer);

// Opens one level of nesting; false, and "..." written, where that may not be. A true must be
// followed by a close.
bool keel_print_open(keel_printer_t *printer);
static inline void keel_print_close(keel_printer_t *printer) {
    --printer->depth;
}

#endif // KEEL_READ_PRINTER_H_
