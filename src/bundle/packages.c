#define _GNU_SOURCE // memmem
// Packages, from the names of their *.dist-info and *.egg-info; and what clients report about
// themselves.
#include <ctype.h>
#include <limits.h>
#include <stdio.h>

#include "bundle/internal.h"
#include "bundle/versions.h"

typedef struct site_t {
    keel_bundle_t *bundle;
    const char *folder;
} site_t;

// ---- names and versions ------------------------------------------------------------------------

// Normalized as package indexes compare names: lower case, runs of '-', '_' and '.' as one '-'.
static void normalize(keel_str_t name, char out[KEEL_BUNDLE_NAME_LIMIT + 1]) {
    size_t used = 0;
    for (size_t i = 0; i < name.size && used < KEEL_BUNDLE_NAME_LIMIT; ++i) {
        char c = (char)tolower((unsigned char)name.data[i]);
        bool dash = c == '-' || c == '_' || c == '.';
        if (dash && used && out[used - 1] == '-') continue;
        out[used++] = dash ? '-' : c;
    }
    out[used] = 0;
}

// The client itself and plugins: they decide which programs are made and who compiles them.
static bool is_client(const char *name) {
    static const char *const names[] = {"jax",     "jaxlib", "torch",
                                        "torchax", "libtpu", "libtpu-nightly"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(names[i], name) == 0) return true;
    return strstr(name, "xla") || strstr(name, "pjrt") || strncmp(name, "jax-cuda", 8) == 0 ||
           strncmp(name, "jax-rocm", 8) == 0;
}

static keel_status_t add_package(site_t *site, keel_str_t name, keel_str_t version) {
    char normal[KEEL_BUNDLE_NAME_LIMIT + 1];
    normalize(name, normal);
    if (!*normal) return NULL;
    if (is_client(normal))
        KEEL_TRY(bundle_add(site->bundle, KEEL_BUNDLE_CLIENTS, keel_str(normal), version));
    return bundle_add(site->bundle, KEEL_BUNDLE_PACKAGES, keel_str(normal), version);
}

// ---- METADATA ----------------------------------------------------------------------------------

// Only if the folder's name has no version. Fields end at the first empty line; the two wanted ones
// are at the top, however long the rest is.
static keel_status_t read_metadata(site_t *site, const char *folder, const char *file,
                                   char *version, size_t room) {
    bundle_head_t head;
    keel_str_t line, field, value;
    KEEL_TRY(bundle_read_head(&head, "%s/%s%s", site->folder, folder, file));
    while (keel_str_line(&head.rest, &line) && bundle_trim(line).size) {
        if (!bundle_field(line, ':', &field, &value) || !keel_str_is(field, "Version")) continue;
        snprintf(version, room, "%.*s", (int)(value.size < room ? value.size : room - 1),
                 value.data);
        break;
    }
    return NULL;
}

static bool ends(keel_str_t text, keel_str_t end) {
    return text.size > end.size &&
           memcmp(text.data + text.size - end.size, end.data, end.size) == 0;
}

// "numpy-2.5.5.dist-info", "x-1.0-py3.11.egg-info", "x.egg-info".
static keel_status_t visit_name(void *context, const char *text) {
    site_t *site = context;
    keel_str_t name = keel_str(text);
    bool is_dist = ends(name, KEEL_STR(".dist-info")), is_egg = ends(name, KEEL_STR(".egg-info"));
    // pip renames a package that it is about to remove to "~umpy-...".
    if ((!is_dist && !is_egg) || text[0] == '~' || text[0] == '.') return NULL;
    name.size -= is_dist ? sizeof ".dist-info" - 1 : sizeof ".egg-info" - 1;
    const char *dash = memchr(name.data, '-', name.size);
    keel_str_t version = {0};
    char read[64] = "";
    if (dash) {
        version = (keel_str_t){dash + 1, (size_t)(name.data + name.size - dash - 1)};
        name.size = (size_t)(dash - name.data);
        const char *python = is_egg ? memchr(version.data, '-', version.size) : NULL;
        if (python) version.size = (size_t)(python - version.data);
    } else {
        KEEL_TRY(read_metadata(site, text, is_dist ? "/METADATA" : "/PKG-INFO", read, sizeof read));
        version = keel_str(read);
    }
    return add_package(site, name, version);
}

// ---- what a client's package reports about itself ----------------------------------------------

// Package, file, the name before the '=', name of the fact.
#define STATED(X)                                                                                  \
    X("jax", "jax/version.py", "_git_hash", "jax git")                                             \
    X("jaxlib", "jaxlib/version.py", "_git_hash", "jaxlib git")                                    \
    X("torch", "torch/version.py", "git_version", "torch git")                                     \
    X("torch-xla", "torch_xla/version.py", "__torch_gitrev__", "torch-xla git")                    \
    X("torch-xla", "torch_xla/version.py", "__xla_gitrev__", "torch-xla xla git")

// The text of `name: str = 'text'`; empty if the line is something else.
static keel_str_t assigned(keel_str_t line, keel_str_t name) {
    keel_str_t none = {"", 0};
    if (!keel_str_starts(line, name)) return none;
    keel_str_t rest = {line.data + name.size, line.size - name.size};
    if (!rest.size || !strchr(" :=", rest.data[0])) return none;
    const char *equals = memchr(rest.data, '=', rest.size);
    if (!equals) return none;
    rest = bundle_trim((keel_str_t){equals + 1, (size_t)(rest.data + rest.size - equals - 1)});
    if (rest.size < 2 || (rest.data[0] != '\'' && rest.data[0] != '"')) return none;
    const char *end = memchr(rest.data + 1, rest.data[0], rest.size - 1);
    return end ? (keel_str_t){rest.data + 1, (size_t)(end - rest.data - 1)} : none;
}

static keel_status_t read_stated(keel_bundle_t *bundle, const char *folder, const char *file,
                                 const char *word, const char *as) {
    bundle_head_t head;
    keel_str_t line;
    KEEL_TRY(bundle_read_head(&head, "%s/%s", folder, file));
    while (keel_str_line(&head.rest, &line)) {
        keel_str_t value = assigned(line, keel_str(word));
        if (value.size) return bundle_add(bundle, KEEL_BUNDLE_CLIENTS, keel_str(as), value);
    }
    return NULL;
}

static keel_status_t read_all_stated(keel_bundle_t *bundle, const char *folder) {
#define READ(package, file, word, as)                                                              \
    if (keel_bundle_find(bundle, KEEL_BUNDLE_CLIENTS, package) &&                                  \
        !keel_bundle_find(bundle, KEEL_BUNDLE_CLIENTS, as))                                        \
        KEEL_TRY(read_stated(bundle, folder, file, word, as));
    STATED(READ)
#undef READ
    return NULL;
}

// Facts that no package states, but that were found out.
static keel_status_t add_found(keel_bundle_t *bundle) {
    static const struct {
        const char *package, *version, *pjrt;
    } found[] = {
#define ROW(package, version, pjrt) {package, version, pjrt},
        KEEL_BUNDLE_CLIENTS_PJRT(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof found / sizeof *found; ++i) {
        const char *version = keel_bundle_find(bundle, KEEL_BUNDLE_CLIENTS, found[i].package);
        char name[KEEL_BUNDLE_NAME_LIMIT];
        if (!version || strcmp(version, found[i].version) != 0) continue;
        snprintf(name, sizeof name, "%s pjrt", found[i].package);
        KEEL_TRY(bundle_format(bundle, KEEL_BUNDLE_CLIENTS, name, "%s", found[i].pjrt));
    }
    return NULL;
}

// ---- folders -----------------------------------------------------------------------------------

static keel_status_t read_site(keel_bundle_t *bundle, const char *folder) {
    site_t site = {bundle, folder};
    KEEL_TRY(bundle_forgive(keel_directory_walk(folder, visit_name, &site)));
    return read_all_stated(bundle, folder);
}

static bool is_listed(const char *list, keel_str_t folder) {
    char listed[BUNDLE_PATH];
    while (bundle_folder(&list, listed))
        if (keel_str_is(folder, listed)) return true;
    return false;
}

// The part of "/x/site-packages/jaxlib/_jax.so" up to its package folder; empty if there is none.
static keel_str_t site_of(keel_str_t path) {
    static const char *const words[] = {"/site-packages/", "/dist-packages/"};
    for (int i = 0; i < 2; ++i) {
        size_t length = strlen(words[i]);
        const char *at = memmem(path.data, path.size, words[i], length);
        if (at) return (keel_str_t){path.data, (size_t)(at - path.data) + length - 1};
    }
    return (keel_str_t){"", 0};
}

// Whether it is a library of JAX or of PyTorch/XLA. Others, such as the plugin, may come from
// another environment than the client's.
static bool is_of_client(keel_str_t path, bool seen[2]) {
    bool jax = memmem(path.data, path.size, "/jaxlib/", 8);
    bool torch = memmem(path.data, path.size, "/_XLAC", 6);
    seen[0] = seen[0] || jax;
    seen[1] = seen[1] || torch;
    return jax || torch;
}

static keel_status_t read_mapped(keel_bundle_t *bundle, keel_buffer_t *sites) {
    enum { LIMIT = 1 << 24 };
    uint8_t *data = NULL;
    size_t size = 0;
    bool seen[2] = {false, false};
    KEEL_TRY(bundle_forgive(keel_file_read("/proc/self/maps", LIMIT, &data, &size)));
    keel_str_t rest = {(const char *)data, data ? size : 0}, line, last = {"", 0};
    while (keel_str_line(&rest, &line)) {
        const char *slash = memchr(line.data, '/', line.size);
        if (!slash) continue;
        keel_str_t path = {slash, (size_t)(line.data + line.size - slash)};
        if (keel_str_equal(path, last)) continue; // several mappings of one file
        last = path;
        if (!is_of_client(path, seen)) continue;
        keel_str_t site = site_of(path);
        if (!site.size || is_listed(keel_buffer_cstr(sites), site)) continue;
        keel_buffer_format(sites, "%s%.*s", sites->size ? ":" : "", KEEL_STR_ARGS(site));
    }
    keel_free(data);
    if (!seen[0] && !seen[1]) return NULL;
    return bundle_format(bundle, KEEL_BUNDLE_INTERPRETER, KEEL_BUNDLE_LOADED, "%s",
                         seen[0] && seen[1] ? "jax torch-xla"
                         : seen[0]          ? "jax"
                                            : "torch-xla");
}

static keel_status_t read_sites(const keel_bundle_request_t *request, keel_bundle_t *bundle,
                                const char *list) {
    char folder[BUNDLE_PATH];
    bundle->known[KEEL_BUNDLE_PACKAGES] = bundle->known[KEEL_BUNDLE_CLIENTS] = true;
    while (bundle_folder(&list, folder)) {
        bundle_looking(request, folder);
        KEEL_TRY(read_site(bundle, folder));
    }
    return add_found(bundle);
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
