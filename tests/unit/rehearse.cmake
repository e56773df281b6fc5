# Threads of the real plugin are not instrumented.
foreach(name rehearse rehearse_meeting rehearse_values)
  keel_unit_test(${name} ROOMS rehearse read target pjrt base)
  target_compile_definitions(${name}_test PRIVATE KEEL_TEST_CPU_PLUGIN="${KEEL_EMBEDDED_PLUGIN}")
  set_tests_properties(unit.${name} PROPERTIES ENVIRONMENT
    "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/client/c/tsan.supp")
endforeach()
keel_unit_test(rehearse_arrays ROOMS rehearse target pjrt base)
