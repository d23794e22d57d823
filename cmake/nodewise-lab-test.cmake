# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#
# nodewise_add_lab_test(NAME test MACHINE machine COMMAND program [argument]...
#   [MAX_REMOTE percent] [MAX_IMBALANCE ratio] [OBJECT array...] [PHASE use|init|all]
#   [OPTIONS option...] [TIMEOUT seconds])
#
# Adds a CTest test that runs the program in the lab by `nodewise lab check`. The test fails if more than MAX_REMOTE
# percent (default: 5) of its memory traffic is remote, and is skipped if the lab cannot run. docs/lab.md describes
# the arguments.
cmake_policy(VERSION 3.16...3.25)

# The exit code of `nodewise lab check` if the lab itself failed (docs/lab.md).
set_property(GLOBAL PROPERTY NODEWISE_LAB_FAILED 125)

function(_nodewise_lab_test_refuse what hint)
  message(FATAL_ERROR "nodewise_add_lab_test: ${what}\nhint: ${hint}")
endfunction()

# 5, 2.5 or 5% remote as the share that must be local, in percent: 95, 97.5. CMake calculates with integers only.
function(_nodewise_local_percent remote result)
  if(NOT remote MATCHES "^([0-9]+)(\\.([0-9]+))?%?$" OR CMAKE_MATCH_1 GREATER 100)
    _nodewise_lab_test_refuse("MAX_REMOTE ${remote} is not a percentage"
      "write the percent of the traffic that may be remote, from 0 to 100: MAX_REMOTE 5")
  endif()
  string(SUBSTRING "${CMAKE_MATCH_3}000000" 0 6 _fraction)
  math(EXPR _local "100000000 - ${CMAKE_MATCH_1} * 1000000 - 1${_fraction} + 1000000")
  if(_local LESS 0)
    _nodewise_lab_test_refuse("MAX_REMOTE ${remote} is more than everything" "write a number from 0 to 100: MAX_REMOTE 5")
  endif()
  math(EXPR _whole "${_local} / 1000000")
  math(EXPR _millionths "1000000 + ${_local} % 1000000")
  string(REGEX REPLACE "^1" "" _millionths ${_millionths})
  string(REGEX REPLACE "\\.?0+$" "" _local "${_whole}.${_millionths}")
  set(${result} "${_local}%" PARENT_SCOPE)
endfunction()

# The name for --on; a file's path is relative to the source directory, as other paths of CMake's are.
function(_nodewise_lab_machine nodewise machine result)
  string(REGEX REPLACE "^lab:" "" machine "${machine}")
  if(machine MATCHES "\\.json$")
    get_filename_component(machine "${machine}" ABSOLUTE)
  endif()
  execute_process(COMMAND ${nodewise} lab describe ${machine} --json
    RESULT_VARIABLE _failed OUTPUT_QUIET ERROR_VARIABLE _said ERROR_STRIP_TRAILING_WHITESPACE)
  if(_failed)
    _nodewise_lab_test_refuse("MACHINE ${machine} is not a machine of the lab (${_said})"
      "write NODESxCORES, a name that `nodewise lab list` prints, or a machine file: MACHINE 4x2")
  endif()
  set(${result} "lab:${machine}" PARENT_SCOPE)
endfunction()

# A target may be defined after the test, as for add_test.
function(_nodewise_lab_program program result)
  set(${result} "${program}" PARENT_SCOPE)
  if(TARGET "${program}")
    get_target_property(_type ${program} TYPE)
    if(NOT _type STREQUAL "EXECUTABLE")
      _nodewise_lab_test_refuse("COMMAND ${program} is a target that is not an executable"
        "write the target of a program, or the path of one")
    endif()
  endif()
  if(program MATCHES "^[A-Za-z0-9_.:+-]+$")
    set(_is_target "$<TARGET_EXISTS:${program}>")
    set(${result} "$<${_is_target}:$<TARGET_FILE:${program}>>$<$<NOT:${_is_target}>:${program}>" PARENT_SCOPE)
  endif()
endfunction()

# The options of `nodewise lab check` that say what to check.
function(_nodewise_lab_limits result)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "" "MAX_REMOTE;MAX_IMBALANCE;PHASE" "OBJECT")
  set(_options)
  if(DEFINED TEST_MAX_IMBALANCE)
    if(NOT TEST_MAX_IMBALANCE MATCHES "^[0-9]+(\\.[0-9]+)?$" OR TEST_MAX_IMBALANCE LESS 1)
      _nodewise_lab_test_refuse("MAX_IMBALANCE ${TEST_MAX_IMBALANCE} is not a ratio of at least 1"
        "write the load of the busiest memory over the mean of all memories: MAX_IMBALANCE 1.5")
    endif()
    list(APPEND _options --max-imbalance ${TEST_MAX_IMBALANCE})
  elseif(NOT DEFINED TEST_MAX_REMOTE)
    set(TEST_MAX_REMOTE 5)
  endif()
  if(DEFINED TEST_MAX_REMOTE)
    _nodewise_local_percent("${TEST_MAX_REMOTE}" _local)
    list(APPEND _options --min-local ${_local})
  elseif(DEFINED TEST_OBJECT)
    _nodewise_lab_test_refuse("OBJECT without MAX_REMOTE checks nothing" "add MAX_REMOTE 5, or leave OBJECT out")
  endif()
  foreach(_object IN LISTS TEST_OBJECT)
    list(APPEND _options --object ${_object})
  endforeach()
  if(DEFINED TEST_PHASE)
    if(NOT TEST_PHASE MATCHES "^(use|init|all)$")
      _nodewise_lab_test_refuse("PHASE ${TEST_PHASE} is not a phase" "write PHASE use, PHASE init or PHASE all")
    endif()
    list(APPEND _options --phase ${TEST_PHASE})
  endif()
  set(${result} "${_options}" PARENT_SCOPE)
endfunction()

function(nodewise_add_lab_test)
  set(_one NAME MACHINE MAX_REMOTE MAX_IMBALANCE PHASE TIMEOUT)
  set(_several COMMAND OBJECT OPTIONS)
  cmake_parse_arguments(PARSE_ARGV 0 TEST "" "${_one}" "${_several}")
  list(JOIN _one ", " _names)
  if(DEFINED TEST_UNPARSED_ARGUMENTS)
    list(GET TEST_UNPARSED_ARGUMENTS 0 _first)
    _nodewise_lab_test_refuse("'${_first}' belongs to no argument"
      "the arguments are ${_names}, COMMAND, OBJECT and OPTIONS; begin with NAME")
  endif()
  if(DEFINED TEST_KEYWORDS_MISSING_VALUES)
    list(GET TEST_KEYWORDS_MISSING_VALUES 0 _first)
    _nodewise_lab_test_refuse("${_first} has no value" "write a value after ${_first}, or leave it out")
  endif()
  foreach(_required NAME MACHINE COMMAND)
    if(NOT DEFINED TEST_${_required})
      _nodewise_lab_test_refuse("${_required} is missing"
        "write nodewise_add_lab_test(NAME my_test MACHINE 4x2 COMMAND my_program)")
    endif()
  endforeach()
  if(DEFINED TEST_TIMEOUT AND NOT TEST_TIMEOUT MATCHES "^[1-9][0-9]*$")
    _nodewise_lab_test_refuse("TIMEOUT ${TEST_TIMEOUT} is not a number of seconds" "write a whole number: TIMEOUT 120")
  endif()
  get_property(_nodewise GLOBAL PROPERTY NODEWISE_COMMAND)
  if(NOT EXISTS "${_nodewise}")
    _nodewise_lab_test_refuse("the command ${_nodewise} does not exist"
      "install all of Nodewise under one prefix: make install PREFIX=DIR")
  endif()

  set(_limits)
  foreach(_keyword MAX_REMOTE MAX_IMBALANCE PHASE OBJECT)
    if(DEFINED TEST_${_keyword})
      list(APPEND _limits ${_keyword} ${TEST_${_keyword}})
    endif()
  endforeach()
  _nodewise_lab_limits(_options ${_limits})
  _nodewise_lab_machine("${_nodewise}" "${TEST_MACHINE}" _machine)
  string(REPLACE "\\;" "$<SEMICOLON>" TEST_COMMAND "${TEST_COMMAND}") # in an argument, not between two
  list(POP_FRONT TEST_COMMAND _program)
  _nodewise_lab_program("${_program}" _program)
  if(DEFINED TEST_TIMEOUT)
    list(APPEND _options --on-timeout ${TEST_TIMEOUT})
  else()
    set(TEST_TIMEOUT 600) # the default of --on-timeout
  endif()
  add_test(NAME "${TEST_NAME}"
    COMMAND "${_nodewise}" lab check --on ${_machine} ${_options} ${TEST_OPTIONS} -- ${_program} ${TEST_COMMAND})
  # CTest waits longer than the lab, which reports what it ran into. The first start may download a kernel.
  math(EXPR _patience "${TEST_TIMEOUT} + 300")
  set_tests_properties("${TEST_NAME}" PROPERTIES TIMEOUT ${_patience})
  if(NOT NODEWISE_LAB_REQUIRED)
    get_property(_lab_failed GLOBAL PROPERTY NODEWISE_LAB_FAILED)
    set_tests_properties("${TEST_NAME}" PROPERTIES SKIP_RETURN_CODE ${_lab_failed})
  endif()
endfunction()
