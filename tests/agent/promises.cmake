# Promises of the C library and the kernel that an agent in front may break, and their test. The
# second program is the first with a malloc of its own that passes on.
add_library(nodewise_agent_promises_parts OBJECT promises.c)
target_compile_options(nodewise_agent_promises_parts PRIVATE ${_warnings} -fno-builtin)
add_executable(nodewise_agent_promises)
add_library(nodewise_agent_passing_malloc_parts OBJECT passing_malloc.c)
set_target_properties(nodewise_agent_passing_malloc_parts PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_executable(nodewise_agent_promises_passing $<TARGET_OBJECTS:nodewise_agent_passing_malloc_parts>)
foreach(_name promises promises_passing)
  target_link_libraries(nodewise_agent_${_name} PRIVATE nodewise_agent_promises_parts)
  set_target_properties(nodewise_agent_${_name} PROPERTIES LINKER_LANGUAGE C)
  target_compile_options(nodewise_agent_${_name} PRIVATE ${_warnings} -fno-builtin)
  target_link_libraries(nodewise_agent_${_name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(nodewise_agent_${_name} PROPERTIES
    OUTPUT_NAME ${_name} RUNTIME_OUTPUT_DIRECTORY ${_folder})
endforeach()

add_executable(nodewise_agent_reason_of_dlopen reason_of_dlopen.cpp)
target_compile_features(nodewise_agent_reason_of_dlopen PRIVATE cxx_std_20)
target_compile_options(nodewise_agent_reason_of_dlopen PRIVATE ${_warnings})
target_link_libraries(nodewise_agent_reason_of_dlopen PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(nodewise_agent_reason_of_dlopen PROPERTIES
  OUTPUT_NAME reason_of_dlopen RUNTIME_OUTPUT_DIRECTORY ${_folder})

add_library(nodewise_agent_waiting_plugin_cxx MODULE waiting_plugin_cxx.cpp)
target_compile_features(nodewise_agent_waiting_plugin_cxx PRIVATE cxx_std_20)
add_library(nodewise_agent_passing_malloc MODULE $<TARGET_OBJECTS:nodewise_agent_passing_malloc_parts>)
target_compile_options(nodewise_agent_passing_malloc_parts PRIVATE ${_warnings} -fno-builtin)
set_target_properties(nodewise_agent_passing_malloc PROPERTIES LINKER_LANGUAGE C)
foreach(_name allocating_atfork waiting_plugin)
  add_library(nodewise_agent_${_name} MODULE ${_name}.c)
endforeach()
foreach(_name passing_malloc allocating_atfork waiting_plugin waiting_plugin_cxx)
  target_compile_options(nodewise_agent_${_name} PRIVATE ${_warnings} -fno-builtin)
  target_link_libraries(nodewise_agent_${_name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(nodewise_agent_${_name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${_name} LIBRARY_OUTPUT_DIRECTORY ${_folder})
endforeach()

nodewise_python_test(agent_promises FILE ${CMAKE_CURRENT_SOURCE_DIR}/promises_test.py LABELS agent)
