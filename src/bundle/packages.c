// Packages, from the names of their *.dist-info and *.egg-info; and what clients report about
// themselves.
#define _GNU_SOURCE // dl_iterate_phdr
#include <ctype.h>
#include <link.h>
#include <stdio.h>

#include "bundle/internal.h"

// ---- names and versions ------------------------------------------------------------------------

// Normalized as package indexes compare names: lower case, runs of '-', '_' and '.' as one '-'.
static size_t normalize(keel_str_t name, char out[KEEL_BUNDLE_NAME_LIMIT + 1]) {
    size_t used = 0;
    for (size_t i = 0; i < name.size && used < KEEL_BUNDLE_NAME_LIMIT; ++i) {
        char c = (char)tolower((unsigned char)name.data[i]);
        bool dash = strchr("-_.", c);
        if (dash && used && out[used - 1] == '-') continue;
        out[used++] = dash ? '-' : c;
    }
    out[used] = 0;
    return used;
}

// The client itself and plugins: they decide which programs are made and who compiles them.
static bool is_client(const char *name) {
    static const char *const names[] = {"jax",     "jaxlib", "torch",
                                        "torchax", "libtpu", "libtpu-nightly"};
    return keel_str_is_among(keel_str(name), names, sizeof names / sizeof *names) ||
           strstr(name, "xla") || strstr(name, "pjrt") || strncmp(name, "jax-cuda", 8) == 0 ||
           strncmp(name, "jax-rocm", 8) == 0;
}

// "numpy-2.5.5.dist-info", "x-1.0-py3.11.egg-info", "x.egg-info".
static keel_status_t visit_name(void *context, const char *text) {
    keel_bundle_t *bundle = context;
    char name[KEEL_BUNDLE_NAME_LIMIT + 1];
    const char *end = strrchr(text, '.');
    // pip renames a package that it is about to remove to "~umpy-...".
    if (!end || text[0] == '~' || text[0] == '.') return NULL;
    bool is_egg = strcmp(end, ".egg-info") == 0;
    if (!is_egg && strcmp(end, ".dist-info") != 0) return NULL;
    const char *dash = memchr(text, '-', (size_t)(end - text));
    const char *python = is_egg && dash ? memchr(dash + 1, '-', (size_t)(end - dash - 1)) : NULL;
    keel_str_t version = {dash ? dash + 1 : end,
                          dash ? (size_t)((python ? python : end) - dash - 1) : 0};
    if (!normalize((keel_str_t){text, (size_t)((dash ? dash : end) - text)}, name)) return NULL;
    if (is_client(name))
        KEEL_TRY(keel_bundle_add(bundle, KEEL_BUNDLE_CLIENTS, keel_str(name), version));
    return keel_bundle_add(bundle, KEEL_BUNDLE_PACKAGES, keel_str(name), version);
}

// ---- the revisions that a client was built from ------------------------------------------------

// Package, file, the name before the '=', name of the fact.
static const struct {
    const char *package, *file, *word, *as;
} revisions[] = {
    {"jax", "jax/version.py", "_git_hash", "jax git"},
    {"jaxlib", "jaxlib/version.py", "_git_hash", "jaxlib git"},
    {"torch", "torch/version.py", "git_version", "torch git"},
    {"torch-xla", "torch_xla/version.py", "__torch_gitrev__", "torch-xla git"},
    {"torch-xla", "torch_xla/version.py", "__xla_gitrev__", "torch-xla xla git"},
};

// From a line `word: str = 'text'`.
static keel_status_t add_revision(keel_bundle_t *bundle, const char *folder, size_t which) {
    bundle_head_t head;
    keel_str_t line, name, value, word = keel_str(revisions[which].word);
    if (!keel_bundle_find(bundle, KEEL_BUNDLE_CLIENTS, revisions[which].package)) return NULL;
    KEEL_TRY(bundle_read_head(&head, "%s/%s", folder, revisions[which].file));
    while (keel_str_line(&head.rest, &line)) {
        if (!bundle_field(line, '=', &name, &value) || !keel_str_starts(name, word)) continue;
        bool is_whole = name.size == word.size || name.data[word.size] == ':';
        if (is_whole && bundle_unquote(&value))
            return keel_bundle_add(bundle, KEEL_BUNDLE_CLIENTS, keel_str(revisions[which].as),
                                   value);
    }
    return NULL;
}

// ---- folders -----------------------------------------------------------------------------------

typedef struct mapped_t {
    keel_buffer_t *sites;
    bool jax, torch;
} mapped_t;

// A mapped library of JAX or of PyTorch/XLA: "/x/site-packages/jaxlib/_jax.so". Others, such as the
// plugin, may come from another environment than the client's.
static int visit_library(struct dl_phdr_info *info, size_t size, void *context) {
    static const char *const words[] = {"/site-packages/", "/dist-packages/"};
    (void)size;
    mapped_t *mapped = context;
    const char *path = info->dlpi_name ? info->dlpi_name : "";
    bool jax = strstr(path, "/jaxlib/"), torch = strstr(path, "/_XLAC");
    mapped->jax = mapped->jax || jax;
    mapped->torch = mapped->torch || torch;
    for (int i = 0; (jax || torch) && i < 2; ++i) {
        const char *at = strstr(path, words[i]);
        if (!at) continue;
        keel_str_t site = {path, (size_t)(at - path) + strlen(words[i]) - 1};
        if (!bundle_lists(keel_buffer_cstr(mapped->sites), site))
            keel_buffer_format(mapped->sites, "%s%.*s", mapped->sites->size ? ":" : "",
                               KEEL_STR_ARGS(site));
    }
    return 0;
}

static keel_status_t read_mapped(keel_bundle_t *bundle, keel_buffer_t *sites) {
    mapped_t mapped = {.sites = sites};
    dl_iterate_phdr(visit_library, &mapped);
    if (!mapped.jax && !mapped.torch) return NULL;
    return keel_bundle_format(bundle, KEEL_BUNDLE_INTERPRETER, KEEL_BUNDLE_LOADED, "%s%s%s",
                              mapped.jax ? "jax" : "", mapped.jax && mapped.torch ? " " : "",
                              mapped.torch ? "torch-xla" : "");
}

static keel_status_t read_sites(const keel_bundle_request_t *request, keel_bundle_t *bundle,
                                const char *list) {
    char folder[BUNDLE_PATH];
    bundle->known[KEEL_BUNDLE_PACKAGES] = bundle->known[KEEL_BUNDLE_CLIENTS] = true;
    while (bundle_folder(&list, folder)) {
        bundle_looking(request, folder);
        KEEL_TRY(bundle_forgive(keel_directory_walk(folder, visit_name, bundle)));
        for (size_t i = 0; i < sizeof revisions / sizeof *revisions; ++i)
            KEEL_TRY(add_revision(bundle, folder, i));
    }
    return NULL;
}

keel_status_t bundle_packages(const keel_bundle_request_t *request, keel_bundle_t *bundle) {
    const char *known = keel_bundle_find(bundle, KEEL_BUNDLE_INTERPRETER, BUNDLE_SITES);
    keel_buffer_t sites;
    keel_buffer_initialize(&sites, 1 << 16);
    keel_buffer_text(&sites, known ? known : "");
    keel_status_t status = request->is_client ? read_mapped(bundle, &sites) : NULL;
    if (!status) status = bundle_forgive(keel_buffer_status(&sites));
    if (!status && sites.size) status = read_sites(request, bundle, keel_buffer_cstr(&sites));
    bundle_looking(request, NULL);
    keel_buffer_deinitialize(&sites);
    return status;
}
