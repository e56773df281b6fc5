keel_fault_test(rehearse ROOMS rehearse read target pjrt base)
target_compile_definitions(rehearse_fault_test PRIVATE
  KEEL_TEST_CPU_PLUGIN="${KEEL_EMBEDDED_PLUGIN}")
