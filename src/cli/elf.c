// Can this file be a PJRT plugin? A wrong one would fail only in the child, in the middle of a
// client's own traceback. Loading it here to see would run its start-up code, so its table of
// symbols is read instead. Source: System V ABI, "Object Files"; <elf.h>.
#include <elf.h>

#include "cli/cli.h"

static keel_status_t no_plugin(const char *path, const char *why) {
    return keel_status_make(KEEL_INVALID,
                            "plugin %s: %s; name a PJRT plugin's library with --plugin or "
                            "KEEL_PLUGIN",
                            path, why);
}

// A structure from the file, if it is inside.
static bool at(keel_bytes_t file, uint64_t offset, void *out, size_t size) {
    if (offset > file.size || size > file.size - offset) return false;
    memcpy(out, file.data + offset, size);
    return true;
}

static keel_bytes_t section_bytes(keel_bytes_t file, const Elf64_Shdr *section) {
    if (section->sh_offset > file.size || section->sh_size > file.size - section->sh_offset)
        return keel_bytes(NULL, 0);
    return keel_bytes(file.data + section->sh_offset, section->sh_size);
}

// True if the file has a table of dynamic symbols that lacks the name.
static bool lacks_symbol(keel_bytes_t file, const Elf64_Ehdr *header, const char *name) {
    for (unsigned i = 0; i < header->e_shnum; ++i) {
        Elf64_Shdr symbols, names;
        if (!at(file, header->e_shoff + (uint64_t)i * sizeof symbols, &symbols, sizeof symbols))
            return false;
        if (symbols.sh_type != SHT_DYNSYM) continue;
        if (!at(file, header->e_shoff + (uint64_t)symbols.sh_link * sizeof names, &names,
                sizeof names))
            return false;
        keel_bytes_t table = section_bytes(file, &symbols), texts = section_bytes(file, &names);
        size_t size = strlen(name) + 1;
        for (size_t j = 0; j + sizeof(Elf64_Sym) <= table.size; j += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, table.data + j, sizeof symbol);
            if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < texts.size &&
                size <= texts.size - symbol.st_name &&
                memcmp(texts.data + symbol.st_name, name, size) == 0)
                return false;
        }
        return true;
    }
    return false; // no table: the loader decides
}

static keel_status_t check(const char *path, keel_bytes_t file) {
    Elf64_Ehdr header;
    if (!at(file, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return no_plugin(path, "not a shared library");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
        return no_plugin(path, "not a 64-bit shared library");
    if (lacks_symbol(file, &header, "GetPjrtApi"))
        return no_plugin(path, "not a PJRT plugin: it has no GetPjrtApi");
    return NULL;
}

keel_status_t cli_check_plugin(const char *path) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(path, &facts);
    if (status) {
        bool absent = keel_status_code(status) == KEEL_NOT_FOUND;
        keel_status_ignore(status);
        return no_plugin(path, absent ? "no such file" : "it cannot be read");
    }
    if (!facts.is_file) return no_plugin(path, "not a file");
    keel_bytes_t file;
    KEEL_TRY(keel_file_map(path, &file));
    status = check(path, file);
    keel_file_unmap(file);
    return status;
}
