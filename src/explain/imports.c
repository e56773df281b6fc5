#include "explain/imports.h"

#include <stdio.h>
#include <string.h>

#include "explain/statements.h"
#include "host/host.h"

enum { FOLDERS = 5, PATH = 4096 };

// ---- statements --------------------------------------------------------------------------------

static const keel_depends_word_t *word(const keel_depends_t *reads, const keel_imports_t *at) {
    const keel_depends_statement_t *statement = &reads->statements[at->statement];
    return at->word < statement->word_count ? words_of(reads, statement) + at->word : NULL;
}

static bool is_word(const keel_depends_word_t *word, const char *text) {
    return word && keel_str_is(word->text, text);
}

// "a.b.c", as far as its words stand together.
static keel_str_t read_module(const keel_depends_t *reads, keel_imports_t *at) {
    const keel_depends_word_t *first = word(reads, at), *last = first, *next;
    if (!first) return KEEL_STR("");
    for (++at->word; (next = word(reads, at)) && next->is_attribute; ++at->word)
        if (next->text.data == last->text.data + last->text.size + 1) last = next;
    return (keel_str_t){first->text.data,
                        (size_t)(last->text.data + last->text.size - first->text.data)};
}

// Ends at `import`. Between `from` and the module are its dots.
static void read_from(const keel_depends_t *reads, keel_imports_t *at) {
    const keel_depends_word_t *from = word(reads, at), *next;
    at->level = 0;
    at->module = KEEL_STR("");
    at->is_from = true;
    ++at->word;
    next = word(reads, at);
    for (const char *c = from->text.data + from->text.size; next && c < next->text.data; ++c)
        at->level += *c == '.';
    if (!is_word(word(reads, at), "import")) at->module = read_module(reads, at);
    while ((next = word(reads, at)) && !is_word(next, "import"))
        ++at->word;
    ++at->word;
    at->is_star = !word(reads, at);
}

static bool begin_statement(const keel_depends_t *reads, keel_imports_t *at) {
    const keel_depends_statement_t *statement = &reads->statements[at->statement];
    at->word = at->level = 0;
    at->is_from = at->is_star = false;
    at->is_begun = true;
    if (statement->kind != IMPORT) return false;
    if (is_word(word(reads, at), "from"))
        read_from(reads, at);
    else
        ++at->word;
    return true;
}

// One of the names of a statement; false if it has no more.
static bool read_one(const keel_depends_t *reads, keel_imports_t *at, keel_import_t *out) {
    const keel_depends_word_t *first = word(reads, at);
    if (!first && !at->is_star) return false;
    *out = (keel_import_t){.level = at->level, .module = at->module, .taken = KEEL_STR("")};
    out->is_star = at->is_star;
    at->is_star = false;
    if (out->is_star) return true;
    out->name = first->name;
    if (at->is_from) {
        out->taken = first->text;
        ++at->word;
    } else {
        out->module = read_module(reads, at);
    }
    if (!is_word(word(reads, at), "as")) return true;
    ++at->word;
    if (word(reads, at)) out->name = word(reads, at)->name;
    ++at->word;
    return true;
}

bool keel_imports_next(const keel_depends_t *reads, keel_imports_t *at, keel_import_t *out) {
    for (; at->statement < reads->count; ++at->statement, at->is_begun = false) {
        if (!at->is_begun && !begin_statement(reads, at)) continue;
        if (reads->statements[at->statement].kind == IMPORT && read_one(reads, at, out))
            return true;
    }
    return false;
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
    keel_imports_t at = {0};
    keel_import_t import;
    while (!status && keel_imports_next(&reads, &at, &import))
        status = keel_import_files(&import, file, folders, visit, context);
    keel_depends_deinitialize(&reads);
    keel_arena_deinitialize(&arena);
    return status;
}
