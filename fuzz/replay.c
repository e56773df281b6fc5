// Runs a fuzz target over every file of a folder: the corpus and earlier findings, replayed by the
// normal tests with any compiler.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        if (file) fclose(file);
        return 1;
    }
    // Allocates exactly the file's size, so that a sanitizer sees a read past its end.
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(size ? size : 1);
    int bad = !data || fread(data, 1, size, file) != size;
    fclose(file);
    if (!bad) LLVMFuzzerTestOneInput(data, size);
    free(data);
    return bad;
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
        return 2;
    }
    DIR *folder = opendir(arguments[1]);
    int files = 0, bad = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        bad += replay(arguments[1], entry->d_name);
        ++files;
    }
    if (folder) closedir(folder);
    if (!files) fprintf(stderr, "replay: %s has no files\n", arguments[1]);
    return bad || !files;
}
