// Reads an HloModuleProto and writes it again: hlo_rewrite FROM TO
#include <stdio.h>

#include "read/read.h"
#include "read/write.h"

static keel_status_t rewrite(keel_bytes_t bytes, const char *to) {
    keel_program_t program;
    keel_buffer_t out;
    KEEL_TRY(keel_read_hlo(bytes, &program));
    keel_buffer_initialize(&out, 0);
    keel_status_t status = keel_write_hlo(&program, &out);
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
        fprintf(stderr, "usage: hlo_rewrite FROM TO\n");
        return 2;
    }
    uint8_t *bytes = NULL;
    size_t size = 0;
    keel_status_t status = keel_file_read(arguments[1], 1 << 30, &bytes, &size);
    if (!status) status = rewrite(keel_bytes(bytes, size), arguments[2]);
    if (status) fprintf(stderr, "hlo_rewrite: %s\n", keel_status_message(status));
    int code = status != NULL;
    keel_status_ignore(status);
    keel_free(bytes);
    return code;
}
