// Executions for which several processes need parts of each other's arrays, as when a value is sent
// to all, or all are checked to have the same one.
//
// `keel rehearse` starts the processes and names a folder. When such a program is executed, each
// process writes what it has of the arguments to a file there: "<program>-<n>-<process>" for the
// n-th execution. The others' files are read once a host asks for a result, so that, as with the
// device, an execution waits for nobody.
//
//   file:   record*
//   record: argument u32, partition u32, size u64, then so many bytes
//
// A part that the process does not know has no record. Where each device computes apart, its part
// is all of an argument, and arguments and results are those of each partition, one after the
// other.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rehearse/objects.h"

static const char folder_variable[] = "KEEL_REHEARSE_MEETING";
static const uint64_t file_most = 64 << 20;       // bytes of a file
static const uint64_t written_most = 512 << 20;   // of all files of this process
static const uint64_t patience = 120000000000ull; // nanoseconds for another process to come

typedef struct record_t {
    uint32_t argument, partition;
    uint64_t size;
} record_t;

struct meeting_t {
    atomic_size_t references;
    pthread_mutex_t lock; // for the results
    facts_t *facts;
    int *processes;       // all whose devices execute the program; ends in -1
    uint32_t *partitions; // of this process's devices
    char *name;           // of the files, up to the process
    bool *wanted;         // each result
    contents_t **whole;   // each argument that is whole on each device, if it is needed and known
    bool *is_gathered;    // each argument that is put together
    bool is_done;
    contents_t **results; // each result
};

// ---- its life ----------------------------------------------------------------------------------

void meeting_retain(meeting_t *meeting) {
    atomic_fetch_add(&meeting->references, 1);
}

void meeting_release(meeting_t *meeting) {
    KEEL_ASSERT(!meeting || atomic_load(&meeting->references));
    if (!meeting || atomic_fetch_sub(&meeting->references, 1) != 1) return;
    const keel_signature_t *signature = &meeting->facts->signature;
    for (uint32_t i = 0; meeting->whole && i < signature->parameter_count; ++i)
        contents_release(meeting->whole[i]);
    for (uint32_t i = 0; meeting->results && i < signature->result_count; ++i)
        contents_release(meeting->results[i]);
    keel_free(meeting->processes);
    keel_free(meeting->partitions);
    keel_free(meeting->name);
    keel_free(meeting->wanted);
    keel_free(meeting->whole);
    keel_free(meeting->is_gathered);
    keel_free(meeting->results);
    facts_release(meeting->facts);
    pthread_mutex_destroy(&meeting->lock);
    keel_free(meeting);
}

// Once an execution was not counted, the files of later ones would be taken for those of others.
static atomic_bool has_given_up;

void meeting_give_up(keel_status_t why) {
    if (!atomic_exchange(&has_given_up, true))
        keel_log_once("meetings", "values of several processes are unknown from here on: %s",
                      keel_status_message(why));
}

// The number of this execution among those of its program, in all executables that have it.
static keel_status_t count_execution(const keel_digest_t *program, uint64_t *out) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static keel_map_t counts;
    static bool is_ready;
    keel_bytes_t key = keel_bytes(program, sizeof *program);
    pthread_mutex_lock(&lock);
    if (!is_ready) keel_map_initialize(&counts);
    is_ready = true;
    const uint64_t *known = keel_map_find(&counts, key);
    *out = known ? *known + 1 : 1;
    keel_status_t status = keel_map_put(&counts, key, *out);
    pthread_mutex_unlock(&lock);
    return status;
}

static keel_status_t name_files(meeting_t *meeting) {
    char hex[KEEL_DIGEST_HEX];
    uint64_t number;
    keel_digest_t program = worth_digest(meeting->facts->worth);
    KEEL_TRY(count_execution(&program, &number));
    keel_digest_hex(&program, hex);
    return keel_path(&meeting->name, "%s/%.16s-%llu", getenv(folder_variable), hex,
                     (unsigned long long)number);
}

static keel_status_t list_processes(const PJRT_LoadedExecutable *loaded, int **out) {
    void *memory;
    size_t count = 0;
    KEEL_TRY(keel_calloc((size_t)loaded->facts->signature.partitions + 1, sizeof **out, &memory));
    *out = memory;
    for (uint32_t i = 0; i < loaded->facts->signature.partitions; ++i) {
        int process = client_device(loaded->client, loaded->ids[i])->process;
        size_t at = 0;
        while (at < count && (*out)[at] != process)
            ++at;
        (*out)[at] = process;
        count += at == count;
    }
    (*out)[count] = -1;
    return NULL;
}

static keel_status_t allocate(meeting_t *meeting) {
    const keel_signature_t *signature = &meeting->facts->signature;
    size_t arguments = (size_t)signature->parameter_count + 1;
    size_t results = (size_t)signature->result_count + 1;
    void *memory;
    KEEL_TRY(keel_calloc(arguments, sizeof *meeting->whole, &memory));
    meeting->whole = memory;
    KEEL_TRY(keel_calloc(arguments, sizeof *meeting->is_gathered, &memory));
    meeting->is_gathered = memory;
    KEEL_TRY(keel_calloc(results, sizeof *meeting->wanted, &memory));
    meeting->wanted = memory;
    KEEL_TRY(keel_calloc(results, sizeof *meeting->results, &memory));
    meeting->results = memory;
    return NULL;
}

// ---- what this process gives -------------------------------------------------------------------

// Nothing of an argument that is too large.
static void write_argument(const meeting_t *meeting, const replica_t *replica, uint32_t argument,
                           keel_buffer_t *out) {
    const keel_array_t *array = &replica->signature->parameters[argument];
    if (shape_bytes(&array->shard) > file_most / replica->devices) return;
    for (uint32_t i = 0; i < replica->devices; ++i) {
        contents_t *shard = shards_at(replica, i, argument);
        if (!shard) continue;
        const record_t record = {argument, meeting->partitions[i], shard->size};
        keel_buffer_append(out, &record, sizeof record);
        keel_buffer_append(out, shard->data, shard->size);
        contents_release(shard);
    }
}

// Readers see a whole file or none.
static keel_status_t give(const meeting_t *meeting, const keel_buffer_t *text, int process) {
    static _Atomic uint64_t written;
    char *path, *fresh = NULL;
    keel_bytes_t bytes = keel_buffer_bytes(text);
    if (bytes.size > file_most || atomic_fetch_add(&written, bytes.size) > written_most)
        bytes.size = 0;
    KEEL_TRY(keel_buffer_status(text));
    KEEL_TRY(keel_path(&path, "%s-%d", meeting->name, process));
    keel_status_t status = keel_path(&fresh, "%s.tmp", path);
    if (!status) status = keel_file_create(fresh, bytes);
    if (!status) status = keel_file_rename(fresh, path);
    keel_free(fresh);
    keel_free(path);
    return status;
}

static keel_status_t give_arguments(meeting_t *meeting, const replica_t *replica,
                                    uint32_t *const *arguments) {
    const keel_signature_t *signature = replica->signature;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    for (uint32_t i = 0; i < signature->result_count; ++i) {
        for (uint32_t j = 0; meeting->wanted[i] && j < arguments[i][0]; ++j) {
            uint32_t argument = arguments[i][1 + j];
            if (meeting->is_gathered[argument] || meeting->whole[argument]) continue;
            if (!signature->is_apart && is_whole(&signature->parameters[argument])) {
                meeting->whole[argument] = shards_at(replica, 0, argument);
                continue;
            }
            meeting->is_gathered[argument] = true;
            write_argument(meeting, replica, argument, &text);
        }
    }
    int process = replica->args->executable->client->process;
    keel_status_t status = give(meeting, &text, process);
    keel_buffer_deinitialize(&text);
    return status;
}

static keel_status_t prepare(meeting_t *meeting, const replica_t *replica, const bool *wanted,
                             uint32_t *const *arguments) {
    void *memory;
    const PJRT_LoadedExecutable *loaded = replica->args->executable;
    KEEL_TRY(allocate(meeting));
    KEEL_TRY(list_processes(loaded, &meeting->processes));
    KEEL_TRY(own_partitions(loaded, &memory));
    meeting->partitions = memory;
    KEEL_TRY(name_files(meeting));
    memcpy(meeting->wanted, wanted, replica->signature->result_count * sizeof *wanted);
    return give_arguments(meeting, replica, arguments);
}

keel_status_t meeting_begin(const replica_t *replica, const bool *wanted,
                            uint32_t *const *arguments) {
    const char *folder = getenv(folder_variable);
    bool any = false;
    void *memory;
    for (uint32_t i = 0; i < replica->signature->result_count; ++i)
        any = any || wanted[i];
    if (!any || !folder || !*folder || atomic_load(&has_given_up)) return NULL;
    KEEL_TRY(keel_calloc(1, sizeof(meeting_t), &memory));
    meeting_t *meeting = memory;
    atomic_init(&meeting->references, 1);
    pthread_mutex_init(&meeting->lock, NULL);
    meeting->facts = replica->args->executable->facts;
    atomic_fetch_add(&meeting->facts->references, 1);
    keel_status_t status = prepare(meeting, replica, wanted, arguments);
    for (uint32_t i = 0; !status && i < replica->signature->result_count; ++i) {
        for (uint32_t j = 0; wanted[i] && j < replica->devices; ++j) {
            meeting_retain(meeting);
            buffer_await(replica->args->output_lists[replica->first + j][i], meeting, i, j);
        }
    }
    meeting_release(meeting);
    return status;
}

// ---- what the others give ----------------------------------------------------------------------

// Once a process has not come, nobody is waited for again: it went another way, or ended.
static atomic_bool has_missed;

static void miss(const meeting_t *meeting, int process) {
    if (atomic_exchange(&has_missed, true)) return;
    keel_log_once("meeting",
                  "process %d has not executed %s with this one: do all processes run the same "
                  "programs? Values that it has are unknown from here on",
                  process, meeting->facts->name);
}

static keel_status_t take_file(const meeting_t *meeting, int process, uint8_t **out, size_t *size) {
    enum { SHORTEST = 500, LONGEST = 20000 }; // microseconds
    char *path;
    uint64_t end = keel_clock_monotonic() + patience;
    useconds_t pause = SHORTEST;
    KEEL_TRY(keel_path(&path, "%s-%d", meeting->name, process));
    keel_status_t status = keel_file_read(path, file_most, out, size);
    while (keel_status_code(status) == KEEL_NOT_FOUND && !atomic_load(&has_missed)) {
        if (keel_clock_monotonic() > end) miss(meeting, process);
        keel_status_ignore(status);
        usleep(pause);
        if (pause < LONGEST) pause *= 2;
        status = keel_file_read(path, file_most, out, size);
    }
    keel_free(path);
    return status;
}

// An argument that is put together, and which of its partitions are there.
typedef struct gathered_t {
    contents_t *contents;
    int64_t *places;
    bool *has;
} gathered_t;

typedef struct taking_t {
    meeting_t *meeting;
    gathered_t *arguments; // each
} taking_t;

static keel_status_t begin_argument(const keel_signature_t *signature, uint32_t argument,
                                    gathered_t *out) {
    const keel_array_t *array = &signature->parameters[argument];
    void *memory;
    size_t copies = signature->is_apart ? signature->partitions : 1;
    if (!signature->is_apart) KEEL_TRY(places_of(array, signature->partitions, &out->places));
    KEEL_TRY(keel_calloc(signature->partitions, sizeof *out->has, &memory));
    out->has = memory;
    out->contents = contents_create(copies * shape_bytes(&array->whole));
    return NULL;
}

static void put_record(taking_t *taking, const record_t *record, const uint8_t *data) {
    const keel_signature_t *signature = &taking->meeting->facts->signature;
    if (record->argument >= signature->parameter_count ||
        record->partition >= signature->partitions)
        return;
    const keel_array_t *array = &signature->parameters[record->argument];
    gathered_t *gathered = &taking->arguments[record->argument];
    if (!gathered->contents || record->size != shape_bytes(&array->shard)) return;
    if (signature->is_apart)
        memcpy(gathered->contents->data + record->partition * record->size, data, record->size);
    else
        shards_put(array, gathered->places, record->partition, gathered->contents, data);
    gathered->has[record->partition] = true;
}

static void put_records(taking_t *taking, const uint8_t *data, size_t size) {
    record_t record;
    while (size >= sizeof record) {
        memcpy(&record, data, sizeof record);
        data += sizeof record;
        size -= sizeof record;
        if (record.size > size) return;
        put_record(taking, &record, data);
        data += record.size;
        size -= (size_t)record.size;
    }
}

static keel_status_t take_arguments(taking_t *taking) {
    meeting_t *meeting = taking->meeting;
    const keel_signature_t *signature = &meeting->facts->signature;
    for (uint32_t i = 0; i < signature->parameter_count; ++i)
        if (meeting->is_gathered[i]) KEEL_TRY(begin_argument(signature, i, &taking->arguments[i]));
    for (const int *process = meeting->processes; *process >= 0; ++process) {
        uint8_t *data;
        size_t size;
        KEEL_TRY(take_file(meeting, *process, &data, &size));
        put_records(taking, data, size);
        keel_free(data);
    }
    return NULL;
}

static contents_t *contents_taken(void *context, uint32_t argument) {
    const taking_t *taking = context;
    const gathered_t *gathered = &taking->arguments[argument];
    if (!taking->meeting->is_gathered[argument])
        return contents_retain(taking->meeting->whole[argument]);
    for (uint32_t i = 0; i < taking->meeting->facts->signature.partitions; ++i)
        if (!gathered->has[i]) return NULL;
    return contents_retain(gathered->contents);
}

static keel_status_t meet(meeting_t *meeting) {
    const keel_signature_t *signature = &meeting->facts->signature;
    void *memory;
    KEEL_TRY(keel_calloc((size_t)signature->parameter_count + 1, sizeof(gathered_t), &memory));
    taking_t taking = {meeting, memory};
    const argument_source_t source = {contents_taken, &taking};
    keel_status_t status = take_arguments(&taking);
    if (!status)
        status = worth_compute(meeting->facts->worth, signature, meeting->wanted, &source,
                               meeting->results);
    for (uint32_t i = 0; i < signature->parameter_count; ++i) {
        contents_release(taking.arguments[i].contents);
        keel_free(taking.arguments[i].places);
        keel_free(taking.arguments[i].has);
    }
    keel_free(memory);
    return status;
}

// One of several copies that follow each other.
static contents_t *cut_copy(const contents_t *all, uint32_t count, uint32_t index) {
    size_t size = all->size / count;
    contents_t *copy = contents_create(size);
    if (copy && size) memcpy(copy->data, all->data + index * size, size);
    return copy;
}

static contents_t *cut(const meeting_t *meeting, uint32_t result, uint32_t partition,
                       contents_t *whole) {
    const keel_signature_t *signature = &meeting->facts->signature;
    const keel_array_t *array = &signature->results[result];
    int64_t *places = NULL;
    if (signature->is_apart) return cut_copy(whole, signature->partitions, partition);
    keel_status_t status =
        is_whole(array) ? NULL : places_of(array, signature->partitions, &places);
    contents_t *shard = status ? NULL : shards_cut(array, places, partition, whole);
    keel_status_ignore(status);
    keel_free(places);
    return shard;
}

contents_t *meeting_contents(meeting_t *meeting, uint32_t result, uint32_t device) {
    pthread_mutex_lock(&meeting->lock);
    if (!meeting->is_done) keel_status_ignore(meet(meeting));
    meeting->is_done = true;
    contents_t *whole = contents_retain(meeting->results[result]);
    pthread_mutex_unlock(&meeting->lock);
    if (!whole) return NULL;
    contents_t *shard = cut(meeting, result, meeting->partitions[device], whole);
    contents_release(whole);
    return shard;
}
