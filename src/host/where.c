#define _GNU_SOURCE // memmem, memrchr
#include <string.h>

#include "host/host.h"

static size_t digits(keel_str_t text) {
    size_t count = 0;
    while (count < text.size && text.data[count] >= '0' && text.data[count] <= '9')
        ++count;
    return count;
}

// After "/lib/python": "3.12/", "3.13t/" (without a GIL), "312.zip/".
static bool is_version(keel_str_t text) {
    size_t major = digits(text);
    if (!major || major == text.size || text.data[major] != '.') return false;
    keel_str_t rest = {text.data + major + 1, text.size - major - 1};
    if (keel_str_starts(rest, KEEL_STR("zip/"))) return true;
    size_t minor = digits(rest);
    size_t end = minor < rest.size && rest.data[minor] == 't' ? minor + 1 : minor;
    return minor && end < rest.size && rest.data[end] == '/';
}

// <prefix>/lib/pythonX.Y/, where the interpreter keeps its own modules.
static bool is_of_interpreter(keel_str_t file) {
    static const char *const folders[] = {"/lib/python", "/lib64/python"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        keel_str_t rest = file;
        for (const char *at; rest.size; rest = (keel_str_t){at, rest.size}) {
            at = memmem(rest.data, rest.size, folders[i], strlen(folders[i]));
            if (!at) break;
            at += strlen(folders[i]);
            rest.size -= (size_t)(at - rest.data);
            if (is_version((keel_str_t){at, rest.size})) return true;
        }
    }
    return false;
}

// Code that is not in a file: with these names the user typed it; any other name was generated
// ("<frozen runpy>", "<string>", "<attrs generated init x>").
static bool is_typed(keel_str_t file) {
    static const char *const names[] = {"<stdin",        "<console",  "<input>", "<ipython-input",
                                        "<python-input", "<command-", "<doctest"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (keel_str_starts(file, keel_str(names[i]))) return true;
    return false;
}

bool keel_is_cell(keel_str_t file) {
    static const char *const names[] = {"<ipython-input", "<python-input-", "<stdin-", "<command-"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (keel_str_starts(file, keel_str(names[i]))) return true;
    return keel_str_contains(file, "/ipykernel_") || keel_str_contains(file, "/ipykernel/");
}

static const char *const installed[] = {"/site-packages/", "/dist-packages/"};

// One search for both, as every frame of every operation is asked about.
static bool is_installed(keel_str_t file) {
    static const char common[] = "-packages/";
    enum { FOLDER = sizeof "/site" - 1 };
    keel_str_t rest = file;
    for (const char *at; rest.size; rest = (keel_str_t){at, rest.size}) {
        at = memmem(rest.data, rest.size, common, sizeof common - 1);
        if (!at) return false;
        bool has_folder = at - file.data >= FOLDER;
        if (has_folder && (memcmp(at - FOLDER, "/site", FOLDER) == 0 ||
                           memcmp(at - FOLDER, "/dist", FOLDER) == 0))
            return true;
        at += sizeof common - 1;
        rest.size -= (size_t)(at - rest.data);
    }
    return false;
}

// Keel's own package, where it is built or installed without a wheel; it wraps functions of
// clients'.
static bool is_own(keel_str_t file) {
    return keel_str_contains(file, "/lib/keel/python/keel/");
}

bool keel_is_library_file(keel_str_t file) {
    if (!file.size) return true;
    if (file.data[0] == '<') return !is_typed(file);
    return is_installed(file) || is_of_interpreter(file) || is_own(file);
}

keel_str_t keel_package_of(keel_str_t file) {
    if (keel_str_is(file, "<string>")) return file;
    for (size_t i = 0; i < sizeof installed / sizeof *installed; ++i) {
        size_t size = strlen(installed[i]);
        const char *at = file.size ? memmem(file.data, file.size, installed[i], size) : NULL;
        if (!at) continue;
        at += size;
        const char *slash = memchr(at, '/', file.size - (size_t)(at - file.data));
        return slash ? (keel_str_t){file.data, (size_t)(slash - file.data) + 1} : file;
    }
    return KEEL_STR("");
}

const char *keel_library_shown(const char *file) {
    keel_str_t package = keel_package_of(keel_str(file));
    size_t at = package.size && file[package.size - 1] == '/' ? package.size - 1 : package.size;
    while (at && file[at - 1] != '/')
        --at;
    return file + at;
}

keel_str_t keel_package_name(keel_str_t file) {
    keel_str_t package = keel_package_of(file), module = KEEL_STR(".py");
    bool is_folder = package.size && package.data[package.size - 1] == '/';
    if (is_folder) --package.size;
    const char *slash = package.size ? memrchr(package.data, '/', package.size) : NULL;
    if (slash) package = (keel_str_t){slash + 1, (size_t)(package.data + package.size - slash - 1)};
    if (!is_folder && keel_str_ends(package, module)) package.size -= module.size;
    return package;
}

static bool is_listed(keel_str_t name, const char *list) {
    while (name.size && list && *list) {
        size_t blanks = strspn(list, ", ");
        size_t size = strcspn(list += blanks, ", ");
        if (keel_str_equal(name, (keel_str_t){list, size})) return true;
        list += size;
    }
    return false;
}

bool keel_is_foreign_file(keel_str_t file, const char *application) {
    if (!keel_is_library_file(file)) return false;
    return !application || !*application || !is_listed(keel_package_name(file), application);
}
