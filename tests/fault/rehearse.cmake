keel_fault_test(rehearse ROOMS rehearse read target pjrt base)
target_compile_definitions(rehearse_fault_test PRIVATE
  KEEL_TEST_CPU_PLUGIN="${KEEL_EMBEDDED_PLUGIN}")
set_tests_properties(fault.rehearse PROPERTIES ENVIRONMENT
  "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/client/c/tsan.supp")
