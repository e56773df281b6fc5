"""Mutations of the environment, the toolkit and the machine: what they are, and what a key has to
make of them.

A row is its kind, the compilers that it is tried on, what it begins with, and what is changed.

    DECIDES   may change code. Where it does, the key has to differ.
    NEEDLESS  changes no code, so the key may not differ.

Both sides are a dict of environment variables, and of these:

    cpus      the processors that the process may use, as taskset takes them
    folder    where the command runs
    toolkit   which of CUDA's packages are found first in another version: nvcc
    target    the devices of a rehearsal, where the row is about them
    file NAME the content of a file below {space}, a folder of the row's own

{cpus} is the number of processors of this machine, {site} where the packages are.
"""

import collections

Row = collections.namedtuple("Row", "kind compilers before after")
DECIDES, NEEDLESS = "decides", "needless"
OWN, EMBEDDED, GPU, TPU = "JAX's own client", "embedded plugin", "GPU", "TPU"
CPU = (OWN, EMBEDDED)

# Each of these alone, against nothing.
DECIDES_CPU = [
    {"cpus": "0"},
    {"NPROC": "1"},
    {"NPROC": " 1 "},
    {"PJRT_NPROC": "1"},
    {"PJRT_NPROC": "1", "NPROC": "{cpus}"},
    {"PJRT_NPROC": "7"},
    {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"},
    {"XLA_FLAGS": "--xla_cpu_enable_fast_min_max=false"},
    {"XLA_FLAGS": "--xla_cpu_max_isa=AVX"},
    {"XLA_FLAGS": "--xla_cpu_prefer_vector_width=128"},
    {"XLA_FLAGS": "--xla_backend_optimization_level=0"},
    {"XLA_FLAGS": "--xla_llvm_disable_expensive_passes=true"},
    {"XLA_FLAGS": "--xla_disable_hlo_passes=fusion"},
    {"XLA_FLAGS": "--xla_disable_hlo_passes=algsimp"},
    {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true --xla_cpu_fast_math_honor_nans=false"},
    {"XLA_FLAGS": "--xla_cpu_parallel_codegen_split_count=1"},
    {"XLA_FLAGS": "--xla_cpu_copy_insertion_use_region_analysis=true"},
    {"XLA_FLAGS": "--xla_cpu_enable_concurrency_optimized_scheduler=false"},
    {"XLA_FLAGS": "--xla_cpu_use_onednn=false"},
    {"XLA_FLAGS": "--xla_embed_ir_in_executable=true"},
    {"XLA_FLAGS": "--xla_force_host_platform_device_count=3"},
    {"JAX_NUM_CPU_DEVICES": "3"},
    {"JAX_ENABLE_X64": "1"},
    {"JAX_DEFAULT_MATMUL_PRECISION": "highest"},
    {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"},
    {"JAX_OPTIMIZATION_LEVEL": "O1"},
    {"JAX_USE_SHARDY_PARTITIONER": "0"},
    {"ONEDNN_MAX_CPU_ISA": "SSE41"},
    {"TF_ENABLE_ONEDNN_OPTS": "0"},
    {"TF_XLA_FLAGS": "--tf_xla_enable_xla_devices"},
    {"XLA_UNHEARD_OF": "1"},
    {"XLA_FLAGS": "{space}/flags", "file flags": "--xla_cpu_enable_fast_math=true"},
]
NEEDLESS_CPU = [
    {"NPROC": "{cpus}"},
    {"NPROC": "many"},
    {"NPROC": "1", "PJRT_NPROC": "{cpus}"},
    {"XLA_FLAGS": ""},
    {"XLA_FLAGS": "--xla_dump_max_hlo_modules=3"},
    {"XLA_FLAGS": "--xla_hlo_graph_sharding_color=true"},
    {"XLA_FLAGS": "{space}/flags", "file flags": "--xla_dump_compress_protos=true"},
    {"folder": "/"},
    {"HOME": "{space}", "USER": "somebody", "TMPDIR": "{space}"},
    {"TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8", "LC_ALL": "C"},
    {"PATH": "{space}:/usr/bin:/bin"},
    {"LD_LIBRARY_PATH": "{space}"},
    {"PYTHONHASHSEED": "11", "PYTHONOPTIMIZE": "1"},
    {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "nothing=1", "TF_CPP_MAX_VLOG_LEVEL": "0"},
    {"JAX_LOG_COMPILES": "0", "JAX_TRACEBACK_FILTERING": "off"},
    {"JAX_COMPILATION_CACHE_DIR": "{space}/jax", "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "all"},
    {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"},
    {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    {"CUDA_VISIBLE_DEVICES": "1", "NVIDIA_VISIBLE_DEVICES": "all", "CUDA_HOME": "/usr/local/cuda"},
    {"TPU_NAME": "local", "LIBTPU_INIT_ARGS": "--xla_tpu_rwb_fusion=false", "MEGASCALE_PORT": "1"},
    {"NCCL_DEBUG": "INFO", "GLOO_SOCKET_IFNAME": "lo", "GRPC_VERBOSITY": "ERROR"},
    {"SLURM_JOB_ID": "12", "RANK": "0", "WORLD_SIZE": "1", "HOSTNAME": "other"},
    {"PJRT_DEVICE": "CPU", "PJRT_CPU_ASYNC_CLIENT": "true"},
    {"LLVM_PROFILE_FILE": "{space}/profile", "MALLOC_ARENA_MAX": "1"},
    {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    {"KEEL_STACK": "off", "KEEL_MEMORY_LIMIT": "0", "KEEL_PREFETCH": "off", "KEEL_WARN": "off"},
    {"AWS_REGION": "eu", "GOOGLE_APPLICATION_CREDENTIALS": "{space}/key", "NO_PROXY": "*"},
]
DECIDES_GPU = [
    {"toolkit": "nvcc"},
    {"target": "h100:2"},
    {"target": "h200:1"},
    {"XLA_FLAGS": "--xla_gpu_autotune_level=0"},
    {"XLA_FLAGS": "--xla_gpu_enable_triton_gemm=false"},
    {"XLA_FLAGS": "--xla_gpu_ftz=true"},
    {"XLA_FLAGS": "--xla_gpu_generate_line_info=true"},
    {"XLA_FLAGS": "--xla_gpu_disable_gpuasm_optimizations=true"},
    {"XLA_FLAGS": "--xla_gpu_enable_command_buffer="},
    {"XLA_FLAGS": "--xla_gpu_all_reduce_combine_threshold_bytes=1"},
    {"XLA_FLAGS": "--xla_gpu_enable_libnvjitlink=false"},
    {"JAX_DEFAULT_MATMUL_PRECISION": "highest"},
    {"NVIDIA_TF32_OVERRIDE": "0"},
    {"TF_USE_CUBLASLT": "0"},
    {"TRITON_DISABLE_LINE_INFO": "1"},
    {"CUDA_ROOT": "{space}", "file bin/ptxas": "none"},
    {"NPROC": "1"},
]
NEEDLESS_GPU = [
    {"XLA_FLAGS": "--xla_gpu_cuda_data_dir={site}/nvidia/cuda_nvcc/"},
    {"XLA_FLAGS": "--xla_dump_max_hlo_modules=3"},
    {"LIBTPU_INIT_ARGS": "--xla_tpu_rwb_fusion=false"},
    {"NCCL_DEBUG": "INFO", "NVSHMEM_DEBUG": "INFO"},
    {"CUDA_CACHE_PATH": "{space}", "CUDA_CACHE_DISABLE": "1"},
    {"CUDA_VERSION": "12.4", "NVIDIA_DRIVER_CAPABILITIES": "all", "NVIDIA_REQUIRE_CUDA": "cuda>=12"},
    {"CUDA_LAUNCH_BLOCKING": "1", "CUDA_MODULE_LOADING": "LAZY"},
    {"CUDNN_LOGDEST_DBG": "stderr", "CUBLAS_LOGINFO_DBG": "0"},
    {"XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB": "9"},
    {"ONEDNN_MAX_CPU_ISA": "SSE41"},
    {"PATH": "{space}:/usr/bin:/bin"},
    {"folder": "/"},
]
DECIDES_TPU = [
    {"target": "v6e:2x2"},
    {"target": "v5e:2x4"},
    {"LIBTPU_INIT_ARGS": "--xla_tpu_scoped_vmem_limit_kib=8192"},
    {"LIBTPU_INIT_ARGS": "--xla_tpu_enable_latency_hiding_scheduler=false"},
    {"LIBTPU_INIT_ARGS": "--xla_tpu_rwb_fusion=false"},
    {"LIBTPU_INIT_ARGS": "--xla_tpu_enable_async_collective_fusion=false"},
    {"LIBTPU_INIT_ARGS": "--xla_jf_conv_input_fusion=false"},
    {"LIBTPU_INIT_ARGS": "{space}/flags", "file flags": "--xla_tpu_rwb_fusion=false"},
    {"XLA_FLAGS": "--xla_disable_hlo_passes=fusion"},
    {"JAX_DEFAULT_MATMUL_PRECISION": "highest"},
    {"JAX_USE_SHARDY_PARTITIONER": "0"},
    {"TPU_MEGACORE": "megacore_dense"},
    {"LIBTPU_UNHEARD_OF": "1"},
]
NEEDLESS_TPU = [
    {"LIBTPU_INIT_ARGS": "--xla_tpu_sdc_checker_streamz_metric=true"},
    {"LIBTPU_INIT_ARGS": ""},
    {"XLA_FLAGS": "--xla_dump_max_hlo_modules=3"},
    {"TPU_STDERR_LOG_LEVEL": "0", "TPU_MIN_LOG_LEVEL": "0", "TPU_VMODULE": "nothing=1"},
    {"TPU_NAME": "other", "TPU_WORKER_ID": "0"},
    {"MEGASCALE_PORT": "8081", "MEGASCALE_COORDINATOR_ADDRESS": "nowhere"},
    {"NVIDIA_TF32_OVERRIDE": "0", "CUDA_HOME": "/usr/local/cuda"},
    {"TPU_PREMAPPED_BUFFER_SIZE": "4096"},
    {"NPROC": "1"},
    {"folder": "/"},
]

# Against something else.
FAST, NARROW = "--xla_cpu_enable_fast_math=true", "--xla_cpu_prefer_vector_width=128"
TUNED = "--xla_gpu_per_fusion_autotune_cache_dir={space}/tuned"
READ = "--xla_gpu_experimental_autotune_cache_mode=AUTOTUNE_CACHE_MODE_READ"
PTXAS = "--xla_gpu_enable_libnvjitlink=false"  # the library comes from where the plugin is, ptxas from the toolkit
MORE = [
    Row(DECIDES, (GPU,), {"XLA_FLAGS": PTXAS}, {"XLA_FLAGS": PTXAS, "toolkit": "nvcc"}),
    Row(DECIDES, CPU, {"XLA_FLAGS": "{space}/flags", "file flags": FAST},
        {"XLA_FLAGS": "{space}/flags", "file flags": NARROW}),
    Row(DECIDES, CPU, {"XLA_FLAGS": f"{FAST} --xla_cpu_enable_fast_math=false"},
        {"XLA_FLAGS": f"--xla_cpu_enable_fast_math=false {FAST}"}),
    Row(NEEDLESS, CPU, {"XLA_FLAGS": f"{FAST} {NARROW}"}, {"XLA_FLAGS": f"  {NARROW}   {FAST}"}),
    Row(NEEDLESS, CPU, {"XLA_FLAGS": FAST}, {"XLA_FLAGS": f"--xla_cpu_enable_fast_math=false {FAST}"}),
    Row(NEEDLESS, CPU, {"XLA_FLAGS": FAST}, {"XLA_FLAGS": "{space}/flags", "file flags": f"{FAST}\n"}),
    Row(NEEDLESS, CPU, {"XLA_FLAGS": "--xla_cpu_enable_fast_math"}, {"XLA_FLAGS": FAST}),
    Row(DECIDES, (GPU,), {"XLA_FLAGS": f"{TUNED} {READ}", "file tuned/one": "one"},
        {"XLA_FLAGS": f"{TUNED} {READ}", "file tuned/one": "two"}),
    Row(NEEDLESS, (GPU,), {"XLA_FLAGS": TUNED, "file tuned/one": "one"},
        {"XLA_FLAGS": TUNED, "file tuned/one": "two"}),
    Row(NEEDLESS, (TPU,), {"LIBTPU_INIT_ARGS": "--xla_tpu_rwb_fusion=false --xla_jf_conv_input_fusion=false"},
        {"LIBTPU_INIT_ARGS": "--xla_jf_conv_input_fusion=false --xla_tpu_rwb_fusion=false"}),
]

ROWS = [Row(kind, compilers, {}, after)
        for kind, compilers, rows in ((DECIDES, CPU, DECIDES_CPU), (NEEDLESS, CPU, NEEDLESS_CPU),
                                      (DECIDES, (GPU,), DECIDES_GPU), (NEEDLESS, (GPU,), NEEDLESS_GPU),
                                      (DECIDES, (TPU,), DECIDES_TPU), (NEEDLESS, (TPU,), NEEDLESS_TPU))
        for after in rows] + MORE
# A few that take seconds, for the everyday tests.
SAMPLE = [Row(DECIDES, (OWN,), {}, {"NPROC": "1"}),
          Row(DECIDES, (OWN,), {}, {"XLA_FLAGS": "{space}/flags", "file flags": FAST}),
          Row(NEEDLESS, (OWN,), {}, {"NPROC": "{cpus}", "HOME": "{space}", "TF_CPP_VMODULE": "nothing=1"})]
