#define _GNU_SOURCE // realpath, basename
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/host.h"

// What a command runs. `identity` tells it from others of its label.
typedef struct script_t {
    const char *label;
    const char *path;     // of a file, as the command names it; or NULL
    const char *identity; // where it is no file: "http.server", the text behind -c
} script_t;

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_python(const char *command) {
    const char *name = last_part(command);
    return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
}

// What stands behind the letter at `letter` of a cluster of options ("-um", "-Wignore"): the rest
// of the word, or the next word.
static const char *argument_of(char *const **at, const char *letter) {
    if (letter[1]) return letter + 1;
    return (*at)[1] ? *++*at : "";
}

// True where the options end with this word: it names what is run.
static bool read_option(char *const **at, script_t *out) {
    const char *word = **at;
    if (word[1] == '-') {
        if (strcmp(word, "--check-hash-based-pycs") == 0 && (*at)[1]) ++*at;
        return false;
    }
    for (const char *letter = word + 1; *letter; ++letter) {
        if (*letter == 'm' || *letter == 'c') {
            bool is_module = *letter == 'm';
            const char *text = argument_of(at, letter);
            *out = (script_t){is_module ? text : "python-c", NULL, text};
            return true;
        }
        if (*letter == 'W' || *letter == 'X') {
            argument_of(at, letter);
            return false;
        }
    }
    return false;
}

// CPython's options: https://docs.python.org/3/using/cmdline.html
static script_t python_script(char *const *argv) {
    script_t script = {last_part(argv[0]), NULL, ""};
    for (char *const *at = argv + 1; *at; ++at) {
        if (strcmp(*at, "-") == 0) return script;
        if (**at != '-') return (script_t){last_part(*at), *at, *at};
        if (strcmp(*at, "--") == 0) {
            if (at[1]) return (script_t){last_part(at[1]), at[1], at[1]};
            return script;
        }
        if (read_option(&at, &script)) return script;
    }
    return script;
}

static script_t script_of(char *const *argv) {
    if (!argv || !argv[0]) return (script_t){"unknown", NULL, ""};
    if (is_python(argv[0])) return python_script(argv);
    return (script_t){last_part(argv[0]), argv[0], argv[0]};
}

static bool resolve(const char *path, const char *cwd, char out[PATH_MAX]) {
    char joined[PATH_MAX];
    int size = *path == '/' ? snprintf(joined, sizeof joined, "%s", path)
                            : snprintf(joined, sizeof joined, "%s/%s", cwd, path);
    return size > 0 && (size_t)size < sizeof joined && realpath(joined, out);
}

static uint64_t hash_of(const script_t *script, const char *cwd) {
    char path[PATH_MAX];
    if (script->path && resolve(script->path, cwd, path))
        return keel_quick_hash(keel_str_bytes(keel_str(path)));
    uint64_t parts[3] = {keel_quick_hash(keel_str_bytes(keel_str(script->label))),
                         keel_quick_hash(keel_str_bytes(keel_str(script->identity))),
                         keel_quick_hash(keel_str_bytes(keel_str(cwd)))};
    return keel_quick_hash(keel_bytes(parts, sizeof parts));
}

keel_status_t keel_host_script(char *const *argv, const char *cwd, char **out) {
    enum { LABEL_LIMIT = 64 };
    script_t script = script_of(argv);
    uint64_t hash = hash_of(&script, cwd ? cwd : "");
    char label[LABEL_LIMIT + 1];
    size_t size = 0;
    for (const char *c = script.label; *c && size < LABEL_LIMIT; ++c) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || *c == '_' || *c == '-' || (*c == '.' && size);
        label[size++] = plain ? *c : '_';
    }
    label[size] = 0;
    return keel_path(out, "%s-%016" PRIx64, size ? label : "script", hash);
}
