# Models: misuse, what makes a program new and faults in C; numbers beside formulas and JAX in Python.
foreach(name model batch checkpoint)
  add_executable(${name}_test ${name}_test.c)
  keel_link(${name}_test model tensor)
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name}_test PRIVATE PkgConfig::cmocka m)
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS tensor ENVIRONMENT "${settings}")
endforeach()

add_executable(mesh_model_test mesh_model_test.c)
keel_link(mesh_model_test library model tensor)
target_include_directories(mesh_model_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(mesh_model_test PRIVATE PkgConfig::cmocka m)
add_test(NAME mesh_model COMMAND mesh_model_test)
set_tests_properties(mesh_model PROPERTIES TIMEOUT 900 LABELS tensor
  ENVIRONMENT "${settings};KEEL_CPU_DEVICES=4")

if(NOT KEEL_SANITIZE)
  foreach(name against_formulas checkpoints attentions routes)
    add_test(NAME client.model_${name} COMMAND ${CMAKE_SOURCE_DIR}/.venv/bin/python
      ${CMAKE_CURRENT_SOURCE_DIR}/${name}.py $<TARGET_FILE:keel_shared>)
    set_tests_properties(client.model_${name} PROPERTIES TIMEOUT 900 LABELS tensor
      ENVIRONMENT "${settings}")
  endforeach()
endif()
