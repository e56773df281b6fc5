# A library under the name of jaxlib's folder, by which Keel knows its kernels.
add_library(keel_test_kernels MODULE pjrt_kernel_sample.c)
set_target_properties(keel_test_kernels PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/samples/jaxlib)
keel_unit_test(pjrt_kernels ROOMS pjrt key base)
target_compile_definitions(pjrt_kernels_test PRIVATE
  KEEL_TEST_KERNELS="$<TARGET_FILE:keel_test_kernels>")
add_dependencies(pjrt_kernels_test keel_test_kernels)
keel_unit_test(pjrt_topology ROOMS pjrt key base)
