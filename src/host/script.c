// What a process runs, as the name of its plan and its history. A launcher (pytest, torchrun, a
// company's own) says little by itself, so what it launches is part of the name. Values of options
// are not: a script with another learning rate is the same script.
#define _GNU_SOURCE // realpath
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/host.h"

// What a command runs. `identity` distinguishes it from others of its label.
typedef struct script_t {
    const char *label;
    const char *path;     // of a file, as the command names it; or NULL
    const char *identity; // if it is not a file: "http.server", the text after -c
    char *const *rest;    // the words after it if it may be a launcher; or NULL
} script_t;

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_python(const char *command) {
    const char *name = last_part(command);
    return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
}

// The argument of the option at `letter` in a cluster ("-um", "-Wignore"): the rest of the word, or
// the next word.
static const char *argument_of(char *const **at, const char *letter) {
    if (letter[1]) return letter + 1;
    return (*at)[1] ? *++*at : "";
}

// A command that an installer made has no extension ("torchrun"); a script of the user's has one.
static bool may_launch(const char *path) {
    return !strchr(last_part(path), '.');
}

static script_t file_script(char *const *at) {
    return (script_t){last_part(*at), *at, *at, may_launch(*at) ? at + 1 : NULL};
}

// True if the options end with this word: it names what is run.
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
            *out = (script_t){is_module ? text : "python-c", NULL, text, NULL};
            if (is_module && **at) out->rest = *at + 1;
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
    script_t script = {last_part(argv[0]), NULL, "", NULL};
    for (char *const *at = argv + 1; *at; ++at) {
        if (strcmp(*at, "-") == 0) return script;
        if (**at != '-') return file_script(at);
        if (strcmp(*at, "--") == 0) return at[1] ? file_script(at + 1) : script;
        if (read_option(&at, &script)) return script;
    }
    return script;
}

static script_t script_of(char *const *argv) {
    if (!argv || !argv[0]) return (script_t){"unknown", NULL, "", NULL};
    return is_python(argv[0]) ? python_script(argv) : file_script(argv);
}

static bool resolve(const char *path, const char *cwd, char out[PATH_MAX]) {
    char joined[PATH_MAX];
    int size = *path == '/' ? snprintf(joined, sizeof joined, "%s", path)
                            : snprintf(joined, sizeof joined, "%s/%s", cwd, path);
    return size > 0 && (size_t)size < sizeof joined && realpath(joined, out);
}

// ---- what a launcher launches ------------------------------------------------------------------

typedef struct target_t {
    const char *cwd;
    keel_str_t label; // of the first one; empty: there is none
    uint64_t hash;    // of all of them
    bool is_pytest;   // which takes any number of files and folders, followed by names of tests
} target_t;

static void add_target(target_t *target, keel_str_t label, uint64_t hash) {
    uint64_t pair[2] = {target->hash, hash};
    if (!target->label.size) target->label = label;
    target->hash = keel_quick_hash(keel_bytes(pair, sizeof pair));
}

static bool is_pytest(const char *name) {
    return strcmp(last_part(name), "pytest") == 0 || strcmp(last_part(name), "py.test") == 0;
}

// "pkg.train"
static bool is_module(const char *word) {
    if (!isalpha((unsigned char)*word) && *word != '_') return false;
    for (; *word; ++word)
        if (!isalnum((unsigned char)*word) && *word != '_' && *word != '.') return false;
    return true;
}

static bool is_option(const char *word) {
    return *word == '-' && !strchr(word, '=');
}

// "--config", "--config_file", "--cfg": what follows is a value, whatever file it is.
static bool takes_configuration(const char *word) {
    static const char *const names[] = {"config", "config-file", "config_file", "conf", "cfg"};
    for (size_t i = 0; *word == '-' && i < sizeof names / sizeof *names; ++i)
        if (keel_str_ends(keel_str(word), keel_str(names[i]))) return true;
    return false;
}

// The file of "tests/test_a.py::test_b[3]" and, if there is a test, its name without parameters.
static bool read_path(const target_t *target, const char *word, uint64_t *out) {
    char path[PATH_MAX], real[PATH_MAX];
    const char *test = target->is_pytest ? strstr(word, "::") : NULL;
    size_t size = test ? (size_t)(test - word) : strlen(word);
    if (!size || size >= sizeof path) return false;
    memcpy(path, word, size);
    path[size] = 0;
    struct stat is;
    if (!resolve(path, target->cwd, real) || stat(real, &is)) return false;
    bool is_program = S_ISREG(is.st_mode) && (keel_str_ends(keel_str(path), KEEL_STR(".py")) ||
                                              keel_str_ends(keel_str(path), KEEL_STR(".ipynb")));
    if (!is_program && !target->is_pytest) return false;
    size_t name = test ? strcspn(test, "[") : 0;
    uint64_t pair[2] = {keel_quick_hash(keel_str_bytes(keel_str(real))),
                        test ? keel_quick_hash(keel_bytes(test, name)) : 0};
    *out = keel_quick_hash(keel_bytes(pair, sizeof pair));
    return true;
}

// The first file of a program, even after an option: it may be the option's value or what is
// launched. A launched module may launch another (coverage run -m pytest).
static void find_target(char *const *rest, target_t *out) {
    enum { WORDS = 256 };
    const char *before = "";
    for (int i = 0; i < WORDS && rest[i]; before = rest[i++]) {
        const char *word = rest[i];
        bool names_module = strcmp(word, "-m") == 0 || strcmp(word, "--module") == 0;
        if (names_module && !out->is_pytest && rest[i + 1] && is_module(rest[i + 1])) {
            word = rest[++i];
            add_target(out, keel_str(word), keel_quick_hash(keel_str_bytes(keel_str(word))));
            out->is_pytest = is_pytest(word);
            continue;
        }
        uint64_t hash;
        if (*word == '-' || takes_configuration(before) || !read_path(out, word, &hash)) continue;
        const char *name = last_part(word), *test = strstr(name, "::");
        add_target(out, (keel_str_t){name, test ? (size_t)(test - name) : strlen(name)}, hash);
        if (!out->is_pytest && !is_option(before)) return;
    }
}

// ---- the name ----------------------------------------------------------------------------------

static uint64_t hash_of(const script_t *script, const target_t *target) {
    char path[PATH_MAX];
    uint64_t named[3] = {keel_quick_hash(keel_str_bytes(keel_str(script->label))),
                         keel_quick_hash(keel_str_bytes(keel_str(script->identity)))};
    if (target->label.size) { // regardless of where the launcher is, and what calls it
        named[1] = target->hash;
        return keel_quick_hash(keel_bytes(named, sizeof named));
    }
    if (script->path && resolve(script->path, target->cwd, path))
        return keel_quick_hash(keel_str_bytes(keel_str(path)));
    named[2] = keel_quick_hash(keel_str_bytes(keel_str(target->cwd)));
    return keel_quick_hash(keel_bytes(named, sizeof named));
}

static size_t add_label(char *label, size_t size, size_t limit, keel_str_t text) {
    for (const char *c = text.data; c < text.data + text.size && size < limit; ++c) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || *c == '_' || *c == '-' || (*c == '.' && size);
        label[size++] = plain ? *c : '_';
    }
    return size;
}

keel_status_t keel_host_script(char *const *argv, const char *cwd, char **out) {
    enum { LABEL_LIMIT = 64 };
    script_t script = script_of(argv);
    target_t target = {
        .cwd = cwd ? cwd : "", .label = KEEL_STR(""), .is_pytest = is_pytest(script.label)};
    if (script.rest) find_target(script.rest, &target);
    uint64_t hash = hash_of(&script, &target);
    char label[LABEL_LIMIT + 1];
    size_t size = add_label(label, 0, LABEL_LIMIT, keel_str(script.label));
    if (target.label.size && size < LABEL_LIMIT) label[size++] = '-';
    size = add_label(label, size, LABEL_LIMIT, target.label);
    label[size] = 0;
    return keel_path(out, "%s-%016" PRIx64, size ? label : "script", hash);
}
