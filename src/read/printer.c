#include "read/printer.h"

#include "read/read.h"

keel_printer_t keel_printer(const keel_program_t *program, keel_buffer_t *out, uint32_t largest,
                            uint64_t more) {
    uint64_t stop = more > SIZE_MAX - out->size ? SIZE_MAX : out->size + more;
    return (keel_printer_t){.program = program,
                            .out = out,
                            .json = keel_json(out, KEEL_JSON_COMPACT),
                            .largest = largest,
                            .stop = (size_t)stop};
}

uint64_t keel_print_limit(const keel_program_t *program) {
    return (256ull << 20) + 512 * (uint64_t)program->source.size;
}

bool keel_print_full(keel_printer_t *printer) {
    if (printer->out->size < printer->stop && !printer->out->failed) return false;
    printer->cut = true;
    return true;
}

bool keel_print_open(keel_printer_t *p) {
    if (p->depth >= 2 * KEEL_READ_ATTRIBUTE_DEPTH || keel_print_full(p)) {
        p->cut = true;
        keel_buffer_text(p->out, "...");
        return false;
    }
    ++p->depth;
    return true;
}
