# CPython's own parser beside Keel's reader of Python: a sample here, all by `make test-pysource`.
add_executable(pytree pytree.c)
keel_link(pytree pysource base)
target_include_directories(pytree PRIVATE ${CMAKE_SOURCE_DIR}/tests)
add_test(NAME conformance.pysource
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
    ${CMAKE_SOURCE_DIR}/.venv/bin/python ${CMAKE_CURRENT_SOURCE_DIR}/python_source.py $<TARGET_FILE:pytree>)
set_tests_properties(conformance.pysource PROPERTIES TIMEOUT 1800 LABELS "conformance;pysource")
