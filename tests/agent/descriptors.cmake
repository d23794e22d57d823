# Programs whose descriptors, files and disk are none of the agent's business.
add_executable(nodewise_agent_descriptors descriptors.c)
target_compile_options(nodewise_agent_descriptors PRIVATE ${_warnings} -fno-builtin)
target_link_libraries(nodewise_agent_descriptors PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(nodewise_agent_descriptors PROPERTIES
  OUTPUT_NAME descriptors RUNTIME_OUTPUT_DIRECTORY ${_folder})

nodewise_python_test(agent_descriptors FILE ${CMAKE_CURRENT_SOURCE_DIR}/descriptors_test.py LABELS agent)
