// Packages, from the names of their *.dist-info and *.egg-info; and the clients that a process has
// loaded.
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
    keel_bundle_add(bundle, is_client(name) ? KEEL_BUNDLE_CLIENTS : KEEL_BUNDLE_PACKAGES,
                    keel_str(name), version);
    return NULL;
}

// ---- folders -----------------------------------------------------------------------------------

typedef struct mapped_t {
    keel_buffer_t *sites;
    bool jax, torch;
} mapped_t;

// A mapped library of JAX or of PyTorch/XLA: "/x/site-packages/jaxlib/_jax.so". Others, such as the
// plugin, may come from a different environment than the client's.
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
        bundle_list_folder(mapped->sites,
                           (keel_str_t){path, (size_t)(at - path) + strlen(words[i]) - 1});
    }
    return 0;
}

static void read_mapped(keel_bundle_t *bundle, keel_buffer_t *sites) {
    mapped_t mapped = {.sites = sites};
    dl_iterate_phdr(visit_library, &mapped);
    if (!mapped.jax && !mapped.torch) return;
    keel_bundle_format(bundle, KEEL_BUNDLE_INTERPRETER, KEEL_BUNDLE_LOADED, "%s%s%s",
                       mapped.jax ? "jax" : "", mapped.jax && mapped.torch ? " " : "",
                       mapped.torch ? "torch-xla" : "");
}

void bundle_packages(const keel_bundle_request_t *request, keel_bundle_t *bundle) {
    const char *known = keel_bundle_find(bundle, KEEL_BUNDLE_INTERPRETER, BUNDLE_SITES), *list;
    char folder[BUNDLE_PATH];
    keel_buffer_t sites;
    keel_buffer_initialize(&sites, 1 << 16);
    keel_buffer_text(&sites, known ? known : "");
    if (request->is_client) read_mapped(bundle, &sites);
    keel_bundle_forgive(bundle, keel_buffer_status(&sites));
    if (sites.size) bundle->known[KEEL_BUNDLE_PACKAGES] = bundle->known[KEEL_BUNDLE_CLIENTS] = true;
    for (list = keel_buffer_cstr(&sites); bundle_folder(&list, folder);) {
        bundle_looking(request, folder);
        keel_bundle_forgive(bundle, keel_directory_walk(folder, visit_name, bundle));
    }
    bundle_looking(request, NULL);
    keel_buffer_deinitialize(&sites);
}
