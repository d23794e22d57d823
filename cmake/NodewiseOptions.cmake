# One interface target carries what every translation unit of ours is compiled with.
option(NODEWISE_WERROR "Warnings are errors" OFF)
option(NODEWISE_TESTS "Build the tests" ON)
option(NODEWISE_TOOL "Build the command, the agent and the lab" ON)
set(NODEWISE_SANITIZE "" CACHE STRING "Sanitizers for everything but the agent, e.g. address,undefined")

add_library(nodewise_options INTERFACE)
target_compile_features(nodewise_options INTERFACE cxx_std_20 c_std_11)
target_compile_options(nodewise_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  # GCC 12 warns of overlap inside its own std::string operator+ (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<BOOL:${NODEWISE_WERROR}>:-Werror>)

add_library(nodewise_sanitizers INTERFACE)
if(NODEWISE_SANITIZE)
  target_compile_options(nodewise_sanitizers INTERFACE
    -fsanitize=${NODEWISE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(nodewise_sanitizers INTERFACE -fsanitize=${NODEWISE_SANITIZE})
endif()
target_link_libraries(nodewise_options INTERFACE nodewise_sanitizers)

# A room is a static library of its own; the shared library and the command are composed of rooms.
function(nodewise_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;NEEDS" ${ARGN})
  add_library(nodewise_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(nodewise_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_compile_features(nodewise_${name} PUBLIC cxx_std_20)
  target_link_libraries(nodewise_${name} PUBLIC ${ROOM_NEEDS} PRIVATE nodewise_options)
  set_target_properties(nodewise_${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
