foreach(name probe probe_run)
  keel_unit_test(${name} ROOMS probe bundle pjrt key settings base)
endforeach()
target_compile_definitions(probe_run_test PRIVATE
  KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>")
add_dependencies(probe_run_test keel_test_plugin)
