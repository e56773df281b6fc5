foreach(name rehearse rehearse_values)
  keel_unit_test(${name} ROOMS rehearse read target pjrt base)
  target_compile_definitions(${name}_test PRIVATE KEEL_TEST_CPU_PLUGIN="${KEEL_EMBEDDED_PLUGIN}")
endforeach()
