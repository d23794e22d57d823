# One interface target carries what every translation unit of ours is compiled with.
option(NODEWISE_WERROR "Warnings are errors" OFF)
option(NODEWISE_TESTS "Define the tests, the examples and the published programs (not part of `all`)" OFF)
option(NODEWISE_BENCHMARKS "Define the benchmarks (not part of `all`)" OFF)
option(NODEWISE_EACH_ALONE "Compile each file by itself: nothing precompiled, no files joined" OFF)
option(NODEWISE_PACKAGE "The command alone, with what other systems need not have (packaging/CMakeLists.txt)" OFF)
set(NODEWISE_SANITIZE "" CACHE STRING "Sanitizers for the unit tests, e.g. address,undefined")

add_library(nodewise_options INTERFACE)
target_compile_features(nodewise_options INTERFACE cxx_std_20 c_std_11)
target_compile_options(nodewise_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  # GCC before 14 warns of overlap and overflow inside its own std::string (GCC bugs 105651, 105329);
  # from a precompiled header also where it would keep quiet about a system header.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,14>>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>
  # Joined, a file's parameter may have the name of another file's constant.
  $<$<AND:$<CXX_COMPILER_ID:Clang>,$<NOT:$<BOOL:${NODEWISE_EACH_ALONE}>>>:-Wno-shadow>
  $<$<BOOL:${NODEWISE_WERROR}>:-Werror>)

add_library(nodewise_sanitizers INTERFACE)
if(NODEWISE_SANITIZE)
  target_compile_options(nodewise_sanitizers INTERFACE
    -fsanitize=${NODEWISE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    -fno-sanitize=object-size) # sees nothing without optimisation, and Clang warns of that
  target_link_options(nodewise_sanitizers INTERFACE -fsanitize=${NODEWISE_SANITIZE})
endif()
target_link_libraries(nodewise_options INTERFACE nodewise_sanitizers)

# All programs and libraries of a folder and the folders in it.
function(nodewise_targets_below folder result)
  get_property(_all DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER _all EXCLUDE REGEX "^fuzz(_run_.*)?$")
  get_property(_folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(_folder IN LISTS _folders)
    nodewise_targets_below(${_folder} _more)
    list(APPEND _all ${_more})
  endforeach()
  set(${result} ${_all} PARENT_SCOPE)
endfunction()

# A room is a static library of its own; the shared library and the command are composed of rooms.
# Its files are compiled eight at a time, in the order given: most of a file's time goes to templates
# of its headers. ALONE: those that cannot be joined; JSON: those that the static launcher must not
# link, joined with each other. Both are in addition to SOURCES.
# OPTIMIZE: -O1 for what only prints or parses, -O3 for loops that users wait for; else that of the
# build type.
function(nodewise_room name)
  cmake_parse_arguments(ROOM "" "OPTIMIZE" "SOURCES;JSON;ALONE;NEEDS" ${ARGN})
  add_library(nodewise_${name} STATIC ${ROOM_SOURCES} ${ROOM_JSON} ${ROOM_ALONE})
  target_include_directories(nodewise_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_compile_features(nodewise_${name} PUBLIC cxx_std_20)
  target_link_libraries(nodewise_${name} PUBLIC ${ROOM_NEEDS} PRIVATE nodewise_options)
  target_compile_options(nodewise_${name} PRIVATE $<$<CONFIG:Release>:${ROOM_OPTIMIZE}>)
  set_target_properties(nodewise_${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(NODEWISE_EACH_ALONE)
    return()
  endif()
  set_target_properties(nodewise_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  list(LENGTH ROOM_SOURCES _length)
  math(EXPR _last "(${_length} + 6) / 8 - 1") # one file left over joins the eight before it
  set(_count 0)
  foreach(_source IN LISTS ROOM_SOURCES)
    math(EXPR _group "${_count} / 8")
    if(_group GREATER _last AND _last GREATER_EQUAL 0)
      set(_group ${_last})
    endif()
    set_source_files_properties(${_source} PROPERTIES UNITY_GROUP ${_group})
    math(EXPR _count "${_count} + 1")
  endforeach()
  set_source_files_properties(${ROOM_JSON} PROPERTIES UNITY_GROUP json)
  if(name STREQUAL "base")
    target_precompile_headers(nodewise_base PRIVATE ${PROJECT_SOURCE_DIR}/src/base/precompiled.hpp)
  else()
    target_precompile_headers(nodewise_${name} REUSE_FROM nodewise_base)
  endif()
endfunction()

# Files that include <hwy/highway.h>. On AArch64 this includes <arm_sve.h>, and GCC 12 crashes on that after a
# precompiled header.
function(nodewise_vector_sources)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
