// The trees of Python sources as text, for python_source.py: reads paths from stdin, a line each,
// and writes for each file its tree, then "." alone.
#include <stdio.h>

#include "pytree.h"

static keel_status_t write_file(const char *path) {
    uint8_t *data = NULL;
    size_t size = 0;
    keel_buffer_t out;
    KEEL_TRY(keel_file_read(path, 1 << 26, &data, &size));
    keel_buffer_initialize(&out, 0);
    keel_status_t status = pytree_write(keel_bytes_str(keel_bytes(data, size)), &out);
    if (!status) fwrite(out.data, 1, out.size, stdout);
    keel_buffer_deinitialize(&out);
    keel_free(data);
    return status;
}

int main(void) {
    char path[4096];
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = '\0';
        keel_status_t status = write_file(path);
        if (status) printf("error %s\n", keel_status_message(status));
        keel_status_ignore(status);
        printf(".\n");
        fflush(stdout);
    }
    return 0;
}
