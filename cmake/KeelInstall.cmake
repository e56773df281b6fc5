# bin/keel, lib/libkeel_pjrt.so, and libkeel with everything needed to use it. The embedded plugin
# goes to lib/keel, so an installation needs no checkout. Every path is relative to the prefix, so
# an installed tree can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

option(KEEL_INSTALL_PLUGIN "Install the embedded plugin too (about 260 MB)" ON)

# Fixed, because bin/keel looks for its library in ../lib.
set(KEEL_INSTALL_LIB lib)

# The components `programs` and `documentation` are what the Python wheel takes (python/build_backend).
install(TARGETS keel keel-remote RUNTIME DESTINATION bin COMPONENT programs)
if(TARGET keel_pjrt_plugin)
  install(TARGETS keel_pjrt_plugin LIBRARY DESTINATION ${KEEL_INSTALL_LIB} COMPONENT programs)
  if(NOT KEEL_SANITIZE)
    install(FILES $<TARGET_FILE:keel_pjrt_plugin>.debug DESTINATION ${KEEL_INSTALL_LIB}
      COMPONENT debug)
  endif()
endif()
if(KEEL_INSTALL_PLUGIN AND KEEL_EMBEDDED_PLUGIN)
  install(FILES ${KEEL_EMBEDDED_PLUGIN} DESTINATION ${KEEL_INSTALL_LIB}/keel)
elseif(KEEL_EMBEDDED_PLUGIN)
  get_filename_component(name ${KEEL_EMBEDDED_PLUGIN} NAME)
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/keel/${name} DESTINATION ${KEEL_INSTALL_LIB}/keel)
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/keel DESTINATION ${KEEL_INSTALL_LIB}/keel/python
  PATTERN __pycache__ EXCLUDE)
# As in the source tree, so that the links between pages work.
install(FILES ${CMAKE_SOURCE_DIR}/man/keel.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
  COMPONENT documentation)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/ARCHITECTURE.md
  ${CMAKE_SOURCE_DIR}/CONTRIBUTING.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs ${CMAKE_SOURCE_DIR}/examples
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/keel DESTINATION include FILES_MATCHING PATTERN "*.h")

if(TARGET keel_shared)
  set_target_properties(keel_shared PROPERTIES EXPORT_NAME keel)
  install(TARGETS keel_shared EXPORT KeelTargets LIBRARY DESTINATION ${KEEL_INSTALL_LIB}
    INCLUDES DESTINATION include)
  set(package ${KEEL_INSTALL_LIB}/cmake/Keel)
  install(EXPORT KeelTargets NAMESPACE Keel:: DESTINATION ${package})
  configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/KeelConfig.cmake.in
    ${CMAKE_BINARY_DIR}/KeelConfig.cmake INSTALL_DESTINATION ${package})
  # Until 1.0 a minor version may change what the library offers.
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/KeelConfigVersion.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/KeelConfig.cmake ${CMAKE_BINARY_DIR}/KeelConfigVersion.cmake
    DESTINATION ${package})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/keel.pc.in ${CMAKE_BINARY_DIR}/keel.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/keel.pc DESTINATION ${KEEL_INSTALL_LIB}/pkgconfig)
endif()
