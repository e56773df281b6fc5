keel_fault_test(compiler ROOMS compiler target pjrt base)
target_compile_definitions(compiler_fault_test PRIVATE
  KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>" KEEL_TEST_PYTHON=NULL KEEL_TEST_LIBRARY=NULL)
add_dependencies(compiler_fault_test keel keel_test_plugin)
keel_fault_test(target ROOMS target pjrt base)
