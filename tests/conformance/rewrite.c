// Reads a program and writes it again in its format: rewrite FROM TO
#include <stdio.h>

#include "read/read.h"
#include "read/write.h"

static keel_status_t rewrite(keel_bytes_t bytes, const char *to) {
    keel_program_t program;
    keel_buffer_t out;
    KEEL_TRY(keel_read(bytes, &program));
    keel_buffer_initialize(&out, 0);
    keel_status_t status = program.format == KEEL_FORMAT_HLO ? keel_write_hlo(&program, &out)
                                                             : keel_write_mlir(&program, &out);
    if (!status) {
        FILE *file = fopen(to, "wb");
        if (!file || fwrite(out.data, 1, out.size, file) != out.size)
            status = keel_status_make(KEEL_IO, "cannot write %s", to);
        if (file && fclose(file) && !status)
            status = keel_status_make(KEEL_IO, "cannot write %s", to);
    }
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&program);
    return status;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: rewrite FROM TO\n");
        return 2;
    }
    uint8_t *bytes = NULL;
    size_t size = 0;
    keel_status_t status = keel_file_read(arguments[1], 1 << 30, &bytes, &size);
    if (!status) status = rewrite(keel_bytes(bytes, size), arguments[2]);
    if (status) fprintf(stderr, "rewrite: %s\n", keel_status_message(status));
    int code = status != NULL;
    keel_status_ignore(status);
    keel_free(bytes);
    return code;
}
