# The examples in C.
if(NOT KEEL_SANITIZE)
  foreach(example gpt generate accidents)
    add_test(NAME client.tensor_${example} COMMAND ${CMAKE_SOURCE_DIR}/.venv/bin/python
      ${CMAKE_CURRENT_LIST_DIR}/${example}.py ${CMAKE_BINARY_DIR})
    set_tests_properties(client.tensor_${example} PROPERTIES TIMEOUT 1800 LABELS tensor
      ENVIRONMENT "${settings}")
  endforeach()
endif()
