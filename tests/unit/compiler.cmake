foreach(name compiler compiler_children)
  keel_unit_test(${name} ROOMS compiler target pjrt base)
  target_compile_definitions(${name}_test PRIVATE KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>"
    KEEL_TEST_CPU_PLUGIN="${KEEL_EMBEDDED_PLUGIN}" KEEL_TEST_PYTHON="${KEEL_VENV}/bin/python"
    KEEL_TEST_LIBRARY="$<TARGET_FILE:keel_pjrt_plugin>"
    KEEL_TEST_KERNELS="$<TARGET_FILE:keel_test_kernels>")
  if(NOT KEEL_SANITIZE) # otherwise no Python loads the library
    target_compile_definitions(${name}_test PRIVATE KEEL_TEST_INTERPRETER)
  endif()
  add_dependencies(${name}_test keel keel_pjrt_plugin keel_test_plugin keel_test_kernels)
endforeach()
keel_unit_test(compiler_arguments ROOMS compiler signature base SYSTEM m)
keel_unit_test(compiler_wire ROOMS compiler base)
keel_unit_test(compiler_said ROOMS compiler base)
