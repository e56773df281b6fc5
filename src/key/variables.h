// The environment variables that plugins and their libraries read, and what the key makes of each:
// a name, or the beginning of names; the backends whose libraries read it; what becomes of it; why.
// If several rows match a name, the longest counts. "the same" repeats the row above.
//
//   KEYED      its value is in the component "environment"
//   UNKNOWN    so is this one's, because nobody knows what it does
//   ELSEWHERE  another component contains what it decides
//   IGNORED    it cannot change code
//
// `tools/environment` lists the names that libraries read; tests/golden/variables.tsv has what it
// found. docs/keys.md shows this table.
#ifndef KEEL_KEY_VARIABLES_H_
#define KEEL_KEY_VARIABLES_H_

#include "key/key.h"

// clang-format off
#define KEEL_VARIABLES(X) \
    X("XLA_FLAGS", ANY, ELSEWHERE, "the component XLA_FLAGS") \
    X("LIBTPU_INIT_ARGS", TPU, ELSEWHERE, "the component LIBTPU_INIT_ARGS") \
    X("NPROC", CPU, ELSEWHERE, "the number of threads, in the component cpu") \
    X("PJRT_NPROC", CPU, ELSEWHERE, "the number of threads, before NPROC") \
    X("PATH", GPU, ELSEWHERE, "the CUDA tools that are found: toolkit, compile options") \
    X("LD_LIBRARY_PATH", GPU, ELSEWHERE, "the same") \
    X("CUDA_HOME", GPU, ELSEWHERE, "the same") \
    X("CUDA_PATH", GPU, ELSEWHERE, "the same") \
    X("CUDA_ROOT", GPU, ELSEWHERE, "the same") \
    X("JAX_*", ANY, ELSEWHERE, "read by JAX: the program, the options, the components of the client") \
    X("PT_XLA_*", ANY, ELSEWHERE, "read by PyTorch/XLA: the program, the options, the components of the client") \
    X("XLA_PYTHON_CLIENT_*", GPU, ELSEWHERE, "read by JAX: create options") \
    X("XLA_CLIENT_MEM_FRACTION", GPU, ELSEWHERE, "the same") \
    X("CUDA_VISIBLE_DEVICES", GPU, ELSEWHERE, "the devices: topology, device kinds") \
    X("CUDA_DEVICE_ORDER", GPU, ELSEWHERE, "the same") \
    X("NVIDIA_VISIBLE_DEVICES", GPU, ELSEWHERE, "the same") \
    X("XLA_DISTRIBUTED_TOPOLOGY_NETWORK_NODES", ANY, ELSEWHERE, "the same") \
    X("TPU_ACCELERATOR_TYPE", TPU, ELSEWHERE, "the same") \
    X("TPU_CHIPS_PER_HOST_BOUNDS", TPU, ELSEWHERE, "the same") \
    X("TPU_CHIPS_PER_PROCESS_BOUNDS", TPU, ELSEWHERE, "the same") \
    X("TPU_HOST_BOUNDS", TPU, ELSEWHERE, "the same") \
    X("TPU_PROCESS_BOUNDS", TPU, ELSEWHERE, "the same") \
    X("TPU_TOPOLOGY*", TPU, ELSEWHERE, "the same") \
    X("TPU_VISIBLE_*", TPU, ELSEWHERE, "the same") \
    X("CLOUD_TPU_ACCELERATOR_TYPE", TPU, ELSEWHERE, "the same") \
    X("MEGASCALE_NUM_SLICES", TPU, ELSEWHERE, "the same") \
    X("TPU_MEGACORE", TPU, KEYED, "one core or two") \
    X("TF_XLA_FLAGS", ANY, KEYED, "flags of the compiler") \
    X("TF_ENABLE_*", ANY, KEYED, "which algorithms may be chosen") \
    X("TF_USE_*", ANY, KEYED, "the same") \
    X("TF_FP16_*", GPU, KEYED, "the precision of sums") \
    X("NVIDIA_TF32_OVERRIDE", GPU, KEYED, "the precision of products") \
    X("TENSOR_IR_*", GPU, KEYED, "how kernels are tiled") \
    X("ALLOW_LHS_TMEM_LAYOUT_CONVERSION", GPU, KEYED, "layouts of Triton's kernels") \
    X("TURN_OFF_LR_LOOP_ENTRY_BRANCH_OPT", TPU, KEYED, "a pass of LLVM") \
    X("TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL", CPU, KEYED, "the kernels of products") \
    X("DISABLE_XLA_JIT_EXEC_MAPPING", TPU, UNKNOWN, "") \
    X("DISABLE_HOST_SEND_RECV_REGISTRATION", TPU, UNKNOWN, "") \
    X("ENABLE_IMPROVED_REROUTE_ALLREDUCE_STRATEGY", TPU, UNKNOWN, "") \
    X("ENABLE_ICI_RESILIENCY", TPU, UNKNOWN, "") \
    X("ENABLE_TFRT_TPU_RUNTIME", TPU, UNKNOWN, "") \
    X("ENABLE_PJRT_COMPATIBILITY", ANY, UNKNOWN, "") \
    X("SKIP_MEGASCALE_PJRT_CLIENT", TPU, UNKNOWN, "") \
    X("NEXT_PLUGGABLE_DEVICE_USE_C_API", TPU, UNKNOWN, "") \
    X("TF2_BEHAVIOR", TPU, UNKNOWN, "") \
    X("CHIPS_PER_HOST_BOUNDS", TPU, ELSEWHERE, "the devices: topology, device kinds") \
    X("HOST_BOUNDS", TPU, ELSEWHERE, "the same") \
    X("ALT", TPU, ELSEWHERE, "the same") \
    X("WRAP", TPU, ELSEWHERE, "the same") \
    X("XLA_*", ANY, UNKNOWN, "") \
    X("PJRT_*", ANY, UNKNOWN, "") \
    X("TF_*", ANY, UNKNOWN, "") \
    X("LLVM_*", ANY, UNKNOWN, "") \
    X("MLIR_*", ANY, UNKNOWN, "") \
    X("TRITON_*", GPU, UNKNOWN, "") \
    X("MOSAIC_*", ANY, UNKNOWN, "") \
    X("ONEDNN_*", CPU, UNKNOWN, "") \
    X("DNNL_*", CPU, UNKNOWN, "") \
    X("EIGEN_*", CPU, UNKNOWN, "") \
    X("CUDA_*", GPU, UNKNOWN, "") \
    X("CUBLAS*", GPU, UNKNOWN, "") \
    X("CUDNN_*", GPU, UNKNOWN, "") \
    X("NVIDIA_*", GPU, UNKNOWN, "") \
    X("NVPTX*", GPU, UNKNOWN, "") \
    X("NVVM_*", GPU, UNKNOWN, "") \
    X("NV_NVVM_*", GPU, UNKNOWN, "") \
    X("LIBNVVM_*", GPU, UNKNOWN, "") \
    X("NVJITLINK_*", GPU, UNKNOWN, "") \
    X("PTXAS_*", GPU, UNKNOWN, "") \
    X("CAN_FINALIZE_DEBUG", GPU, UNKNOWN, "") \
    X("ROCM_*", GPU, UNKNOWN, "") \
    X("HIP_*", GPU, UNKNOWN, "") \
    X("MIOPEN_*", GPU, UNKNOWN, "") \
    X("TPU_*", TPU, UNKNOWN, "") \
    X("LIBTPU_*", TPU, UNKNOWN, "") \
    X("MEGASCALE_*", TPU, UNKNOWN, "") \
    X("TF_CPP_*", ANY, IGNORED, "logs") \
    X("TF_DUMP_*", ANY, IGNORED, "dumps of TensorFlow's graphs") \
    X("TF_DEBUG_*", ANY, IGNORED, "logs") \
    X("TF_LOG_*", ANY, IGNORED, "logs") \
    X("TF_CPU_DEBUG_OPS_TO_LOG", ANY, IGNORED, "logs") \
    X("TF_GRAPH_*", ANY, IGNORED, "TensorFlow's own graphs, which no plugin gets") \
    X("TF_AUTO_MIXED_PRECISION_*", ANY, IGNORED, "the same") \
    X("TF_DATA_*", ANY, IGNORED, "the same") \
    X("TF_PFLR_*", ANY, IGNORED, "the same") \
    X("TF_PROFILER_*", ANY, IGNORED, "profiles") \
    X("TF_DISABLE_PROFILING", ANY, IGNORED, "profiles") \
    X("TF_GPU_CUPTI_*", GPU, IGNORED, "profiles") \
    X("TF_GCS_*", ANY, IGNORED, "files in Google's storage") \
    X("TF_CLI_*", ANY, IGNORED, "read by Terraform") \
    X("TF_VAR_*", ANY, IGNORED, "the same") \
    X("TF_TOKEN_*", ANY, IGNORED, "the same") \
    X("TF_LOG", ANY, IGNORED, "the same") \
    X("TF_INPUT", ANY, IGNORED, "the same") \
    X("TF_WORKSPACE", ANY, IGNORED, "the same") \
    X("TF_PLUGIN_CACHE_*", ANY, IGNORED, "the same") \
    X("TF_IN_AUTOMATION", ANY, IGNORED, "the same") \
    X("TF_JOB_NAME", ANY, IGNORED, "names a process") \
    X("TF_TASK_ID", ANY, IGNORED, "names a process") \
    X("TF_NODE_FILE_WRITER_DIRECTORY", ANY, IGNORED, "logs") \
    X("TF_USE_MODULAR_FILESYSTEM", ANY, IGNORED, "how files are read") \
    X("TF_BFC_MEMORY_DUMP", ANY, IGNORED, "a dump when memory runs out") \
    X("TF_CPU_ALLOCATOR_USE_BFC", ANY, IGNORED, "the allocator, while a program runs") \
    X("TF_CPU_BFC_MEM_LIMIT_IN_MB", ANY, IGNORED, "the same") \
    X("TF_DETERMINISTIC_ALLOCATOR", GPU, IGNORED, "the same") \
    X("TF_FORCE_UNIFIED_MEMORY", GPU, IGNORED, "the same") \
    X("TF_CUDA_MALLOC_ASYNC_SUPPORTED_PREALLOC", GPU, IGNORED, "the same") \
    X("TF_PER_DEVICE_MEMORY_LIMIT_MB", ANY, IGNORED, "the allocator; the limit is a compile option too") \
    X("TF_CUDA_PLATFORM_GPU_DEVICE_SCHEDULE", GPU, IGNORED, "how the host waits") \
    X("XLA_PJRT_GPU_*", GPU, IGNORED, "transfers and host memory, while a program runs") \
    X("PJRT_GPU_ENABLE_ASYNC_DISPATCH", GPU, IGNORED, "how programs are started") \
    X("XLA_TPU_METRICS_TAGS", TPU, IGNORED, "metrics") \
    X("XLA_RETRY_THREADS", TPU, IGNORED, "threads of the host") \
    X("XLA_FORGE_DIRECTORY_MAPPING", TPU, IGNORED, "names of folders in messages") \
    X("XLA_ALLOW_GET_DEFAULT_PLATFORM", ANY, IGNORED, "a check of XLA's own tests") \
    X("LLVM_PROFILE_FILE", ANY, IGNORED, "coverage") \
    X("LLVM_DISABLE_SYMBOLIZATION", ANY, IGNORED, "stack traces") \
    X("LLVM_ENABLE_SYMBOLIZER_MARKUP", ANY, IGNORED, "stack traces") \
    X("LLVM_SYMBOLIZER_PATH", ANY, IGNORED, "stack traces") \
    X("MLIR_CRASH_REPRODUCER_DIRECTORY", ANY, IGNORED, "written when a compiler crashes") \
    X("MLIR_BRIDGE_LOG_*", ANY, IGNORED, "logs") \
    X("MLIR_DUMP_PATH", ANY, IGNORED, "dumps") \
    X("DUMP_KNOBS_TO_FILE", GPU, IGNORED, "dumps") \
    X("AS_SECURE_LOG_FILE", GPU, IGNORED, "logs") \
    X("NVJITLINK_TRACE_MESSAGES", GPU, IGNORED, "logs") \
    X("MOSAIC_GPU_DUMP_*", ANY, IGNORED, "dumps") \
    X("MOSAIC_GPU_LLVM_DEBUG_ONLY", ANY, IGNORED, "logs") \
    X("CUDNN_FRONTEND_LOG_*", GPU, IGNORED, "logs") \
    X("CUDNN_LOG*", GPU, IGNORED, "logs") \
    X("CUBLAS_LOG*", GPU, IGNORED, "logs") \
    X("CUBLASLT_LOG*", GPU, IGNORED, "logs") \
    X("CUDA_LAUNCH_BLOCKING", GPU, IGNORED, "how kernels are started") \
    X("CUDA_CACHE_*", GPU, IGNORED, "the driver's own cache") \
    X("CUDA_MODULE_LOADING", GPU, IGNORED, "when kernels are loaded") \
    X("CUDA_MPS_*", GPU, IGNORED, "how processes share a GPU") \
    X("CUDA_VERSION", GPU, IGNORED, "set by container images; the toolkit itself counts") \
    X("NVIDIA_CUDA_*", GPU, IGNORED, "the same") \
    X("NVIDIA_REQUIRE_*", GPU, IGNORED, "the same") \
    X("NVIDIA_DRIVER_CAPABILITIES", GPU, IGNORED, "the same") \
    X("NVIDIA_PRODUCT_NAME", GPU, IGNORED, "the same") \
    X("TPU_LIBRARY_PATH", ANY, IGNORED, "the path of the plugin; its content counts") \
    X("TPU_LOAD_LIBRARY", TPU, IGNORED, "whether TensorFlow loads it") \
    X("TPU_ML_PLATFORM*", TPU, IGNORED, "the client's name, in metrics") \
    X("TPU_LOG_*", TPU, IGNORED, "logs") \
    X("TPU_MAX_LOG_SIZE_MB", TPU, IGNORED, "logs") \
    X("TPU_MIN_LOG_LEVEL", TPU, IGNORED, "logs") \
    X("TPU_STDERR_LOG_LEVEL", TPU, IGNORED, "logs") \
    X("TPU_VLOG_LEVEL", TPU, IGNORED, "logs") \
    X("TPU_VMODULE", TPU, IGNORED, "logs") \
    X("TPU_CORE_DUMP_DIRECTORY", TPU, IGNORED, "written when a program crashes") \
    X("TPU_DIAGNOSTIC_ARTIFACTS_DIR", TPU, IGNORED, "the same") \
    X("TPU_HBM_REPORT_*", TPU, IGNORED, "metrics") \
    X("TPU_RUNTIME_*", TPU, IGNORED, "metrics") \
    X("TPU_SDK_GRPC_TIMEOUT_SEC", TPU, IGNORED, "metrics") \
    X("TPU_SLICE_BUILDER_*", TPU, IGNORED, "how hosts find each other") \
    X("TPU_HOSTNAME_OVERRIDE", TPU, IGNORED, "names a process") \
    X("TPU_NAME", TPU, IGNORED, "names a machine") \
    X("TPU_PROCESS_ADDRESSES*", TPU, IGNORED, "where processes listen") \
    X("TPU_PROCESS_PORT", TPU, IGNORED, "the same") \
    X("TPU_EMBEDDING_SERVER_PORT", TPU, IGNORED, "the same") \
    X("TPU_WORKER_*", TPU, IGNORED, "names the processes of a job") \
    X("CLOUD_TPU_TASK_ID", TPU, IGNORED, "the same") \
    X("TPU_SKIP_MDS_QUERY", TPU, IGNORED, "where libtpu learns about the machine") \
    X("TPU_PREMAPPED_BUFFER_*", TPU, IGNORED, "transfers, while a program runs") \
    X("LIBTPU_CHECKPOINTING_*", TPU, IGNORED, "checkpoints of the machine") \
    X("MEGASCALE_AUTHENTICATION", TPU, IGNORED, "how slices find each other") \
    X("MEGASCALE_COORDINATOR_ADDRESS", TPU, IGNORED, "the same") \
    X("MEGASCALE_PORT", TPU, IGNORED, "the same") \
    X("MEGASCALE_DEBUG_PORT", TPU, IGNORED, "the same") \
    X("MEGASCALE_GRPC_*", TPU, IGNORED, "the same") \
    X("MEGASCALE_SLICE_ID", TPU, IGNORED, "names a process") \
    X("ALLOW_MULTIPLE_LIBTPU_LOAD", TPU, IGNORED, "whether two processes may load libtpu") \
    X("PJRT_DEVICE", ANY, IGNORED, "read by PyTorch/XLA: the backend, which is keyed") \
    X("PJRT_LOCAL_PROCESS_*", ANY, IGNORED, "names a process") \
    X("PJRT_DIST_SERVICE_ADDR", ANY, IGNORED, "where processes meet") \
    X("PJRT_NAMES_AND_LIBRARY_PATHS", ANY, IGNORED, "the path of the plugin; its content counts") \
    X("PJRT_LIBRARY_PATH", ANY, IGNORED, "the same") \
    X("PJRT_SELECT_DEFAULT_DEVICE", ANY, IGNORED, "the backend, which is keyed") \
    X("PJRT_CPU_ASYNC_CLIENT", ANY, IGNORED, "how programs are started") \
    X("PJRT_GPU_ASYNC_CLIENT", ANY, IGNORED, "how programs are started") \
    X("PJRT_TPU_MAX_INFLIGHT_COMPUTATIONS", ANY, IGNORED, "how programs are started") \
    X("XLA_IR_DEBUG", ANY, ELSEWHERE, "read by PyTorch/XLA: the program") \
    X("XLA_HLO_DEBUG", ANY, ELSEWHERE, "the same") \
    X("XLA_USE_*", ANY, ELSEWHERE, "the same") \
    X("XLA_DOWNCAST_*", ANY, ELSEWHERE, "the same") \
    X("XLA_DISABLE_FUNCTIONALIZATION", ANY, ELSEWHERE, "the same") \
    X("XLA_NO_SPECIAL_SCALARS", ANY, ELSEWHERE, "the same") \
    X("XLA_EXPERIMENTAL", ANY, ELSEWHERE, "the same") \
    X("XLA_STABLEHLO_COMPILE", ANY, ELSEWHERE, "the same") \
    X("XLA_DYNAMO_*", ANY, ELSEWHERE, "the same") \
    X("XLA_THREAD_POOL_SIZE", ANY, IGNORED, "read by PyTorch/XLA: threads of the host") \
    X("XLA_IO_THREAD_POOL_SIZE", ANY, IGNORED, "the same") \
    X("XLA_METRICS_FILE", ANY, IGNORED, "metrics") \
    X("XLA_SAVE_TENSORS_*", ANY, IGNORED, "dumps") \
    X("XLA_SYNC_WAIT", ANY, IGNORED, "how the host waits") \
    X("XLA_TRIM_GRAPH_*", ANY, ELSEWHERE, "read by PyTorch/XLA: the program") \
    X("XLA_PERSISTENT_CACHE_*", ANY, IGNORED, "a cache of the client") \
    X("XLA_REGISTER_INSTALLED_PLUGINS", ANY, IGNORED, "the backend, which is keyed") \
    X("KEEL_*", ANY, IGNORED, "Keel's own") \
    X("HWLOC_*", ANY, IGNORED, "where threads of the host run") \
    X("NCCL_*", GPU, IGNORED, "how GPUs exchange data while a program runs") \
    X("NVSHMEM_*", GPU, IGNORED, "the same") \
    X("NVTX_INJECTION64_PATH", GPU, IGNORED, "profiles") \
    X("GLOO_*", ANY, IGNORED, "how processes exchange data while a program runs") \
    X("MPITRAMPOLINE_*", ANY, IGNORED, "the same") \
    X("GCS_*", ANY, IGNORED, "files in Google's storage") \
    X("GCE_METADATA_HOST", ANY, IGNORED, "the same") \
    X("NO_GCE_CHECK", ANY, IGNORED, "the same") \
    X("CLOUDSDK_CONFIG", ANY, IGNORED, "the same") \
    X("GOOGLE_*", ANY, IGNORED, "credentials, logs and sandboxes of Google's machines") \
    X("CONSUMER_PROJECT_ID", TPU, IGNORED, "the same") \
    X("AWS_*", ANY, IGNORED, "files in Amazon's storage") \
    X("GRPC_*", ANY, IGNORED, "connections") \
    X("ENABLE_GRPC_RECEIVE_COALESCING_WATERMARK", TPU, IGNORED, "connections") \
    X("IFRT_PROXY_*", ANY, IGNORED, "connections") \
    X("TLS_*", ANY, IGNORED, "connections") \
    X("CURL_*", ANY, IGNORED, "connections") \
    X("ALL_PROXY", ANY, IGNORED, "connections") \
    X("HTTPS_PROXY", ANY, IGNORED, "connections") \
    X("NO_PROXY", ANY, IGNORED, "connections") \
    X("SSLKEYLOGFILE", ANY, IGNORED, "connections") \
    X("OPENSSL_*", ANY, IGNORED, "connections") \
    X("RPC_PROXY_*", ANY, IGNORED, "connections") \
    X("AUTOLOWAT", TPU, IGNORED, "connections") \
    X("RX_ZCOPY", TPU, IGNORED, "connections") \
    X("TX_ZCOPY_INTRA", TPU, IGNORED, "connections") \
    X("SIMULATE_NO_IPV4", TPU, IGNORED, "connections") \
    X("WORKLOAD_NIC_PREFERRED_NUMA", TPU, IGNORED, "connections") \
    X("VBAR_CONTROL_SERVICE_URL", TPU, IGNORED, "connections") \
    X("ENABLE_TPUNETD_CLIENT", TPU, IGNORED, "connections") \
    X("SLICER_BUILDER_WORKER_IPS", TPU, IGNORED, "how hosts find each other") \
    X("INJECT_SLICE_BUILDER_FAULT", TPU, IGNORED, "a test of libtpu's own") \
    X("JOBSET_NAME", TPU, IGNORED, "names a job") \
    X("NODE_ID", TPU, IGNORED, "names a process") \
    X("BORG_*", TPU, IGNORED, "names of Google's own machines and jobs") \
    X("BORGLET_*", TPU, IGNORED, "the same") \
    X("XBORG_*", TPU, IGNORED, "the same") \
    X("BABYSITTER_BNS_NAME", TPU, IGNORED, "the same") \
    X("PLATFORM_*", TPU, IGNORED, "the same") \
    X("GMIGRATE_*", TPU, IGNORED, "the same") \
    X("RUNNING_UNDER_GMIGRATE", TPU, IGNORED, "the same") \
    X("RUN_WITH_XOS", TPU, IGNORED, "the same") \
    X("BARE_METAL_MODE", TPU, IGNORED, "the same") \
    X("LOGMANAGER_PORT", TPU, IGNORED, "the same") \
    X("NETMON_LOCAL_LABEL", TPU, IGNORED, "the same") \
    X("PORTSERVER_ADDRESS", TPU, IGNORED, "the same") \
    X("XM_XID", TPU, IGNORED, "the same") \
    X("SANDBOX*", TPU, IGNORED, "sandboxes") \
    X("SECURITY_DISABLE_SANDBOX_DETECTION", TPU, IGNORED, "sandboxes") \
    X("PRODKERNEL_API_*", TPU, IGNORED, "the kernel of Google's machines") \
    X("ENABLE_RSEQ_IN_CORP", TPU, IGNORED, "the same") \
    X("PERCPU_VCPU_MODE", TPU, IGNORED, "the host's allocator") \
    X("VCCX_NUM_CPUS", TPU, IGNORED, "threads of the host") \
    X("CPUPROFILE_*", TPU, IGNORED, "profiles") \
    X("FREQUENCY", TPU, IGNORED, "profiles") \
    X("LIBPFM_*", TPU, IGNORED, "profiles") \
    X("XPROF_*", TPU, IGNORED, "profiles") \
    X("EMIT_MEGASCALE_METRICS", TPU, IGNORED, "metrics") \
    X("ENABLE_RUNTIME_UPTIME_TELEMETRY", TPU, IGNORED, "metrics") \
    X("STREAMZ_NUM_PRESET_ROOTS", TPU, IGNORED, "metrics") \
    X("ORBAX_PROMETHEUS_PORT", TPU, IGNORED, "metrics") \
    X("PYGRAIN_PROMETHEUS_PORT", TPU, IGNORED, "metrics") \
    X("INTEL_*", ANY, IGNORED, "profiles") \
    X("ITT_TASK_LEVEL", ANY, IGNORED, "profiles") \
    X("KMP_FOR_*", ANY, IGNORED, "profiles") \
    X("JITDUMPDIR", ANY, IGNORED, "profiles") \
    X("SLINKY_*", ANY, IGNORED, "logs") \
    X("SDE_COMMAND_LINE", TPU, IGNORED, "an emulator of processors") \
    X("PROTOC_*", ANY, IGNORED, "logs") \
    X("MAKEFLAGS", ANY, IGNORED, "how many threads LLVM uses when it optimizes at link time") \
    X("ICU_*", TPU, IGNORED, "dates") \
    X("TZ", ANY, IGNORED, "dates") \
    X("TZDIR", ANY, IGNORED, "dates") \
    X("LOCALTIME", ANY, IGNORED, "dates") \
    X("SQLITE_TMPDIR", ANY, IGNORED, "temporary files") \
    X("TMP", ANY, IGNORED, "temporary files") \
    X("TMPDIR", ANY, IGNORED, "temporary files") \
    X("TEMP", ANY, IGNORED, "temporary files") \
    X("TEMPDIR", ANY, IGNORED, "temporary files") \
    X("TEST_*", ANY, IGNORED, "tests of XLA's own") \
    X("UNITTEST_ON_*", TPU, IGNORED, "tests of XLA's own") \
    X("XML_OUTPUT_FILE", TPU, IGNORED, "tests of XLA's own") \
    X("RUNFILES_DIR", ANY, IGNORED, "tests of XLA's own") \
    X("SUBPROCESS_RUN_BY_TOOL_PROXY", TPU, IGNORED, "tests of XLA's own") \
    X("CHROOT", TPU, IGNORED, "where files are") \
    X("HOME", ANY, IGNORED, "where files are") \
    X("PWD", ANY, IGNORED, "where files are; files that flags name count with their content") \
    X("TERM", ANY, IGNORED, "colors of messages") \
    X("TERM_PROGRAM", ANY, IGNORED, "colors of messages")
// clang-format on

typedef enum keel_variable_use {
    KEEL_VARIABLE_KEYED,
    KEEL_VARIABLE_UNKNOWN,
    KEEL_VARIABLE_ELSEWHERE,
    KEEL_VARIABLE_IGNORED,
} keel_variable_use_t;

typedef struct keel_variable_t {
    const char *name; // or the beginning of names, with a '*' behind it
    unsigned backends;
    keel_variable_use_t use;
    const char *why;
} keel_variable_t;

extern const keel_variable_t keel_variables[];
extern const size_t keel_variable_count;

// The row that counts for a name; NULL if there is none: nothing of an XLA backend reads it.
const keel_variable_t *keel_variable_find(keel_str_t name);

#endif // KEEL_KEY_VARIABLES_H_
