// printer: the limits that keep a hostile program's text finite.
//
// Attributes and types form an acyclic graph, and a graph of a few hundred bytes can expand to more
// nodes than there are atoms. So a printer has a depth and a size at which it stops. Text marks
// what is left out with "..."; JSON, which must be exact, is refused.
#ifndef KEEL_READ_PRINTER_H_
#define KEEL_READ_PRINTER_H_

#include "program/program.h"

// The most that keel_print_type and keel_print_attribute write.
enum { KEEL_PRINT_LINE_LIMIT = 64 * 1024 };

typedef struct keel_printer_t {
    const keel_program_t *program;
    keel_buffer_t *out;
    keel_json_t json; // writes into it
    uint32_t largest; // text: the longest list and the largest constant that is shown in full
    uint32_t depth;   // attributes and types that are currently open
    size_t stop;      // no new value is started once the buffer holds this many bytes
    bool cut;         // something was left out
    bool is_exact;    // JSON: types in full, including usual layouts
} keel_printer_t;

// A printer that stops `more` bytes after the current end of the buffer.
keel_printer_t keel_printer(const keel_program_t *program, keel_buffer_t *out, uint32_t largest,
                            uint64_t more);

// The most bytes that the text of a program may take.
uint64_t keel_print_limit(const keel_program_t *program);

// True once nothing more may be written; records that something was left out.
bool keel_print_full(keel_printer_t *printer);

static inline void keel_printer_text(keel_printer_t *printer, const char *text) {
    keel_buffer_text(printer->out, text);
}

// Opens one level of nesting; if that is not allowed, writes "..." and returns false. After true,
// call close.
bool keel_print_open(keel_printer_t *printer);
static inline void keel_print_close(keel_printer_t *printer) {
    --printer->depth;
}

#endif // KEEL_READ_PRINTER_H_
