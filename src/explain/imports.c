#include "explain/imports.h"

#include <stdio.h>
#include <string.h>

#include "host/host.h"

enum { FOLDERS = 5, PATH = 4096 };

// ---- statements --------------------------------------------------------------------------------

// "a.b.c", as far as its words stand together.
static keel_str_t module_at(const keel_py_tree_t *tree, uint32_t name) {
    const keel_py_token_t *first = &tree->tokens[name], *last = first;
    while (last[1].sign == KEEL_PY_S_DOT && last[1].at == last->at + last->size &&
           last[2].kind == KEEL_PY_T_NAME && last[2].at == last[1].at + 1)
        last += 2;
    return (keel_str_t){tree->text.data + first->at, last->at + last->size - first->at};
}

static uint32_t name_known(const keel_depends_t *reads, keel_str_t text) {
    const uint64_t *name = keel_map_find(&reads->known, keel_str_bytes(text));
    return name ? (uint32_t)*name : KEEL_NONE;
}

bool keel_imports_next(const keel_depends_t *reads, uint32_t *at, keel_import_t *out) {
    const keel_py_tree_t *tree = &reads->tree;
    while (*at < tree->node_count && tree->nodes[*at].kind != KEEL_PY_ALIAS)
        ++*at;
    if (*at >= tree->node_count) return false;
    uint32_t node = (*at)++, statement = tree->nodes[node].parent;
    keel_str_t name = keel_py_name(tree, node), as = keel_py_as(tree, node);
    *out = (keel_import_t){.module = KEEL_STR(""), .taken = KEEL_STR(""), .name = KEEL_NONE};
    if (tree->nodes[statement].kind == KEEL_PY_IMPORT) {
        out->module = module_at(tree, tree->nodes[node].name);
    } else {
        out->level = keel_py_level(tree, statement);
        if (tree->nodes[statement].name != KEEL_NONE)
            out->module = module_at(tree, tree->nodes[statement].name);
        out->is_star = keel_str_is(name, "*");
        if (!out->is_star) out->taken = name;
    }
    if (!out->is_star) out->name = name_known(reads, as.size ? as : name);
    return true;
}

// ---- files -------------------------------------------------------------------------------------

typedef struct search_t {
    const keel_import_t *import;
    keel_imports_visit_t *visit;
    void *context;
    keel_str_t folder;
    bool is_there;
} search_t;

static keel_status_t offer(search_t *search, bool is_whole, const char *ending) {
    const keel_import_t *import = search->import;
    char path[PATH];
    bool has_module = import->module.size, has_taken = is_whole && import->taken.size;
    if (search->is_there) return NULL;
    size_t size = (size_t)snprintf(
        path, sizeof path, "%.*s%s%.*s%s%.*s%s", (int)search->folder.size, search->folder.data,
        has_module ? "/" : "", (int)import->module.size, import->module.data, has_taken ? "/" : "",
        has_taken ? (int)import->taken.size : 0, import->taken.data, ending);
    if (size >= sizeof path) return NULL;
    for (size_t i = search->folder.size; i < search->folder.size + has_module + import->module.size;
         ++i)
        if (path[i] == '.') path[i] = '/';
    if (keel_is_library_file(keel_str(path))) return NULL;
    return search->visit(search->context, path, is_whole, &search->is_there);
}

// What is taken of a module may be a module too.
static keel_status_t search_folder(search_t *search) {
    bool is_taken = search->import->taken.size || search->import->is_star;
    if (search->import->module.size) KEEL_TRY(offer(search, !is_taken, ".py"));
    if (search->import->taken.size) KEEL_TRY(offer(search, true, ".py"));
    return offer(search, !is_taken, "/__init__.py");
}

static keel_str_t folder_of(keel_str_t path) {
    while (path.size && path.data[path.size - 1] != '/')
        --path.size;
    return (keel_str_t){path.data, path.size ? path.size - 1 : 0};
}

static keel_status_t search_listed(search_t *search, const char *folders) {
    for (size_t length; !search->is_there && *folders;
         folders += length + (folders[length] == '\n')) {
        length = strcspn(folders, "\n");
        search->folder = (keel_str_t){folders, length};
        if (length) KEEL_TRY(search_folder(search));
    }
    return NULL;
}

keel_status_t keel_import_files(const keel_import_t *import, const char *file, const char *folders,
                                keel_imports_visit_t *visit, void *context) {
    search_t search = {
        .import = import, .visit = visit, .context = context, .folder = folder_of(keel_str(file))};
    for (uint32_t i = 1; i < import->level; ++i)
        search.folder = folder_of(search.folder);
    for (unsigned i = 0; i < FOLDERS && search.folder.size && !search.is_there; ++i) {
        KEEL_TRY(search_folder(&search));
        if (import->level) break;
        search.folder = folder_of(search.folder);
    }
    return import->level || !folders ? NULL : search_listed(&search, folders);
}

keel_status_t keel_imports_find(keel_str_t text, const char *file, const char *folders,
                                keel_imports_visit_t *visit, void *context) {
    keel_arena_t arena;
    keel_depends_t reads;
    keel_arena_initialize(&arena, 0);
    keel_status_t status = keel_depends_parse(&reads, text, &arena);
    uint32_t at = 0;
    keel_import_t import;
    while (!status && keel_imports_next(&reads, &at, &import))
        status = keel_import_files(&import, file, folders, visit, context);
    keel_depends_deinitialize(&reads);
    keel_arena_deinitialize(&arena);
    return status;
}
