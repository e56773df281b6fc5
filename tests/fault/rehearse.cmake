foreach(name rehearse rehearse_meeting)
  keel_fault_test(${name} ROOMS rehearse read target pjrt base)
  target_compile_definitions(${name}_fault_test PRIVATE
    KEEL_TEST_CPU_PLUGIN="${KEEL_EMBEDDED_PLUGIN}")
  set_tests_properties(fault.${name} PROPERTIES ENVIRONMENT
    "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/client/c/tsan.supp")
endforeach()
