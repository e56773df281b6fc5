// Until 3.14, Python ends a thread that wants its lock while the interpreter ends (pthread_exit).
// That unwinds the thread's stack, and the destructors of a client's C++ on it run: one that wants
// Python's lock has the process aborted, one that frees an object without the lock crashes. So it
// goes without Keel too, but then such threads mostly wait for results or compile; in a rehearsal,
// and where programs are loaded, that takes no time, so they come for the lock. They are left to
// wait for the end of the process, as Python 3.14 does itself: what Python's library imports as
// pthread_exit becomes the function below. Where it cannot, all is as without Keel.
#define _GNU_SOURCE // RTLD_DEFAULT, dl_iterate_phdr
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/host.h"

typedef int is_ending_t(void);

static is_ending_t *is_ending;
static pid_t process;

static _Noreturn void leave_waiting(void *result) {
    while (getpid() == process && gettid() != process && is_ending())
        pause();
    pthread_exit(result);
}

typedef ElfW(Sym) symbol_t;
typedef ElfW(Rela) relocation_t;
typedef ElfW(Dyn) dynamic_t;
typedef ElfW(Phdr) part_t;

// What the loader binds a library's imports by, and what it forbids to write thereafter.
typedef struct {
    uintptr_t base;
    const symbol_t *symbols;
    const char *names;
    // Relocations: of functions that the loader may bind late (DT_JMPREL), and all others
    // (DT_RELA).
    const relocation_t *tables[2];
    size_t sizes[2]; // in bytes
    uintptr_t closed, closed_end;
} imports_t;

static bool is_within(uintptr_t address, uintptr_t begin, size_t size) {
    return address >= begin && address - begin < size;
}

static void read_dynamic(imports_t *imports, const dynamic_t *entry) {
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *address = (const void *)entry->d_un.d_ptr; // of the process: the loader's work
        switch (entry->d_tag) {
            case DT_SYMTAB:
                imports->symbols = address;
                break;
            case DT_STRTAB:
                imports->names = address;
                break;
            case DT_JMPREL:
                imports->tables[0] = address;
                break;
            case DT_PLTRELSZ:
                imports->sizes[0] = entry->d_un.d_val;
                break;
            case DT_RELA:
                imports->tables[1] = address;
                break;
            case DT_RELASZ:
                imports->sizes[1] = entry->d_un.d_val;
                break;
            default:
                break;
        }
    }
}

// Stops at the library, or program, that Python's functions lie in.
static int find_imports(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    imports_t *imports = context;
    *imports = (imports_t){.base = info->dlpi_addr};
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const dynamic_t *dynamic = NULL;
    bool is_python = false;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const part_t *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && is_within((uintptr_t)is_ending, begin, part->p_memsz))
            is_python = true;
        if (part->p_type == PT_DYNAMIC) dynamic = (const dynamic_t *)begin;
        if (part->p_type != PT_GNU_RELRO) continue;
        imports->closed = begin & ~(page - 1);
        imports->closed_end = (begin + part->p_memsz) & ~(page - 1);
    }
    if (!is_python || !dynamic) return 0;
    read_dynamic(imports, dynamic);
    return imports->symbols && imports->names;
}

static void write_slot(const imports_t *imports, void **slot, void *value) {
    uintptr_t address = (uintptr_t)slot, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *begin = (void *)(address & ~(page - 1));
    bool is_closed = is_within(address, imports->closed, imports->closed_end - imports->closed);
    if (is_closed && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (is_closed) mprotect(begin, page, PROT_READ);
}

static void replace(const imports_t *imports, const char *name, void *function) {
    for (int table = 0; table < 2; table++) {
        const relocation_t *entries = imports->tables[table];
        size_t count = entries ? imports->sizes[table] / sizeof *entries : 0;
        for (size_t i = 0; i < count; i++) {
            const symbol_t *symbol = &imports->symbols[ELF64_R_SYM(entries[i].r_info)];
            // A sum, as in the address of a thing's part, is not the function's own address.
            if (entries[i].r_addend || strcmp(imports->names + symbol->st_name, name) != 0)
                continue;
            write_slot(imports, (void **)(imports->base + entries[i].r_offset), function);
        }
    }
}

static void replace_exit(void) {
    void *ending = dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
    if (!ending) ending = dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
    if (!ending) return;
    memcpy(&is_ending, &ending, sizeof is_ending);
    process = getpid();
    imports_t imports;
    if (!dl_iterate_phdr(find_imports, &imports)) return;
    void (*leave)(void *) = leave_waiting;
    void *function;
    memcpy(&function, &leave, sizeof function);
    replace(&imports, "pthread_exit", function);
}

void keel_python_leave_threads(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, replace_exit);
}
