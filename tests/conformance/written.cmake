# The readers of XLA and of MLIR again, over what Keel writes.
add_executable(rewrite rewrite.c)
keel_link(rewrite read program base)
foreach(format hlo mlir)
  add_test(NAME conformance.${format}_written
    COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
      ${CMAKE_SOURCE_DIR}/.venv/bin/python ${CMAKE_CURRENT_SOURCE_DIR}/${format}_written.py $<TARGET_FILE:rewrite>)
  set_tests_properties(conformance.${format}_written PROPERTIES TIMEOUT 1800 LABELS "conformance;read")
endforeach()
