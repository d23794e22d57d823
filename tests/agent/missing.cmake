# What the agent does where a function that it stands in for is not found.
add_executable(nodewise_agent_last_delete_host last_delete_host.c)
target_compile_options(nodewise_agent_last_delete_host PRIVATE ${_warnings})
target_link_libraries(nodewise_agent_last_delete_host PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(nodewise_agent_last_delete_host PROPERTIES
  OUTPUT_NAME last_delete_host RUNTIME_OUTPUT_DIRECTORY ${_folder})
# -O2 in every build type: calls in tail position.
nodewise_cxx_plugins(last_delete last_delete_plugin.cpp -O2)
add_library(nodewise_agent_missing MODULE missing.c)
target_compile_options(nodewise_agent_missing PRIVATE ${_warnings} -O2)
target_link_libraries(nodewise_agent_missing PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(nodewise_agent_missing PROPERTIES
  PREFIX "" OUTPUT_NAME missing LIBRARY_OUTPUT_DIRECTORY ${_folder})

nodewise_python_test(agent_missing FILE ${CMAKE_CURRENT_SOURCE_DIR}/missing_test.py LABELS agent)
