#define _GNU_SOURCE // dlinfo
#include "pjrt/toolkit.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "key/key.h"
#include "key/toolkit.h"

static const char *const versions[] = {"libnvJitLink.so.12", "libnvJitLink.so.13"};
enum { VERSIONS = sizeof versions / sizeof *versions };

// ---- the plugin's search path ------------------------------------------------------------------

// A structure of the file, if it is inside.
static bool at(keel_bytes_t file, uint64_t offset, void *out, size_t size) {
    if (offset > file.size || size > file.size - offset) return false;
    memcpy(out, file.data + offset, size);
    return true;
}

static bool find_segment(keel_bytes_t file, const Elf64_Ehdr *header, uint32_t type,
                         uint64_t address, Elf64_Phdr *out) {
    for (unsigned i = 0; i < header->e_phnum; ++i) {
        if (!at(file, header->e_phoff + (uint64_t)i * sizeof *out, out, sizeof *out)) return false;
        bool covers = address >= out->p_vaddr && address - out->p_vaddr < out->p_filesz;
        if (out->p_type == type && (type != PT_LOAD || covers)) return true;
    }
    return false;
}

// The offset of the text of DT_RPATH or DT_RUNPATH; false if there is neither. RPATH, which counts
// before LD_LIBRARY_PATH, is ignored by the loader if there is a RUNPATH.
static bool find_search_path(keel_bytes_t file, uint64_t *out, bool *is_first) {
    Elf64_Ehdr header;
    Elf64_Phdr dynamic, load;
    Elf64_Dyn entry;
    uint64_t names = 0, rpath = 0, runpath = 0;
    if (!at(file, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        !find_segment(file, &header, PT_DYNAMIC, 0, &dynamic))
        return false;
    for (uint64_t i = 0; i < dynamic.p_filesz / sizeof entry; ++i) {
        if (!at(file, dynamic.p_offset + i * sizeof entry, &entry, sizeof entry)) return false;
        if (entry.d_tag == DT_STRTAB) names = entry.d_un.d_ptr;
        if (entry.d_tag == DT_RPATH) rpath = entry.d_un.d_val;
        if (entry.d_tag == DT_RUNPATH) runpath = entry.d_un.d_val;
    }
    if ((!rpath && !runpath) || !find_segment(file, &header, PT_LOAD, names, &load)) return false;
    *is_first = !runpath;
    *out = load.p_offset + (names - load.p_vaddr) + (runpath ? runpath : rpath);
    return true;
}

// With the plugin's folder for $ORIGIN.
static void expand(keel_str_t text, const char *plugin, keel_buffer_t *out) {
    static const char origin[] = "$ORIGIN";
    const char *slash = strrchr(plugin, '/');
    for (size_t i = 0; i < text.size; ++i) {
        size_t left = text.size - i;
        if (left >= sizeof origin - 1 && memcmp(text.data + i, origin, sizeof origin - 1) == 0) {
            keel_buffer_append(out, plugin, slash ? (size_t)(slash - plugin) : 0);
            i += sizeof origin - 2;
        } else {
            keel_buffer_byte(out, (uint8_t)text.data[i]);
        }
    }
}

// Empty if the file says none, or is no library.
static keel_status_t read_search_path(const char *plugin, keel_buffer_t *out, bool *is_first) {
    enum { LONGEST = 16384 };
    keel_bytes_t file;
    uint64_t offset;
    KEEL_TRY(keel_file_map(plugin, &file));
    if (find_search_path(file, &offset, is_first) && offset < file.size) {
        const char *text = (const char *)file.data + offset;
        size_t most = file.size - offset < LONGEST ? file.size - offset : LONGEST;
        expand((keel_str_t){text, strnlen(text, most)}, plugin, out);
    }
    keel_file_unmap(file);
    return keel_buffer_status(out);
}

// ---- libraries ---------------------------------------------------------------------------------

// The file of a library that is loaded; does not load it.
static bool find_loaded(const char *name, char out[PATH_MAX]) {
    struct link_map *map = NULL;
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    bool found = handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] == '/';
    if (found) snprintf(out, PATH_MAX, "%s", map->l_name);
    if (handle) dlclose(handle);
    return found;
}

static keel_status_t add_library(const char *name, const char *own, bool own_first,
                                 keel_buffer_t *out) {
    keel_tool_files_t files = {.name = "toolkit.nvJitLink", .out = out};
    const char *given = getenv("LD_LIBRARY_PATH");
    char loaded[PATH_MAX];
    if (find_loaded(name, loaded)) return keel_toolkit_add(&files, "/", loaded + 1);
    KEEL_TRY(keel_toolkit_add_list(&files, own_first ? own : given, name));
    KEEL_TRY(keel_toolkit_add_list(&files, own_first ? given : own, name));
    return keel_toolkit_add_list(
        &files, "/usr/local/cuda/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib64:/lib64:/usr/lib", name);
}

static keel_status_t add_linker(keel_buffer_t *out) {
    keel_tool_files_t files = {.name = "toolkit.nvlink", .all = true, .out = out};
    KEEL_TRY(keel_toolkit_add_list(&files, getenv("PATH"), "nvlink"));
    return keel_toolkit_add_known(&files, "bin/nvlink");
}

keel_status_t keel_toolkit_of_plugin(const char *plugin, keel_buffer_t *out) {
    keel_buffer_t own;
    keel_buffer_initialize(&own, 0);
    bool own_first = false;
    keel_status_t status = read_search_path(plugin, &own, &own_first);
    for (size_t i = 0; i < VERSIONS && !status; ++i)
        status = add_library(versions[i], keel_buffer_cstr(&own), own_first, out);
    // XLA's flags can make it link with nvlink all the same.
    const char *flags = getenv("XLA_FLAGS");
    if (!status && (!out->size || (flags && strstr(flags, "libnvjitlink"))))
        status = add_linker(out);
    keel_buffer_deinitialize(&own);
    return status;
}
