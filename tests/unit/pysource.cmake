keel_unit_test(pysource ROOMS pysource base)
target_include_directories(pysource_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
