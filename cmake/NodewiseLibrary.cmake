# The public library: the rooms topology, model, place and bind behind one soname.
set(_objects)
foreach(room base sys topology topology_hwloc model place bind)
  list(APPEND _objects $<TARGET_OBJECTS:nodewise_${room}>)
endforeach()
add_library(nodewise SHARED src/base/version.cpp ${_objects})
add_library(nodewise::nodewise ALIAS nodewise)
target_link_libraries(nodewise PRIVATE nodewise_options PkgConfig::hwloc)
target_include_directories(nodewise PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
set_target_properties(nodewise PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  # Before 1.0 every minor version may break the interface; the inline namespace says the same.
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(nodewise INTERFACE cxx_std_20)
target_include_directories(nodewise INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS nodewise EXPORT nodewise-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nodewise ${PROJECT_BINARY_DIR}/include/nodewise
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT nodewise-targets NAMESPACE nodewise::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nodewise)

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/nodewise-config.cmake.in
  ${CMAKE_BINARY_DIR}/nodewise-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nodewise)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/nodewise-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/nodewise-config.cmake ${CMAKE_BINARY_DIR}/nodewise-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nodewise)
# Relative to the file: `make install PREFIX=...` decides the prefix long after this runs.
file(RELATIVE_PATH NODEWISE_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/nodewise.pc.in ${CMAKE_BINARY_DIR}/nodewise.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/nodewise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
