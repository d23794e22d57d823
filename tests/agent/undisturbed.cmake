# What an agent in front may end, change or stall, and does not.
add_executable(nodewise_agent_undisturbed undisturbed.c)
target_compile_options(nodewise_agent_undisturbed PRIVATE ${_warnings} -fno-builtin)
# The loader's search for a function takes more of a stack than some cases have.
target_link_options(nodewise_agent_undisturbed PRIVATE -Wl,-z,now)
target_link_libraries(nodewise_agent_undisturbed PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(nodewise_agent_undisturbed PROPERTIES
  OUTPUT_NAME undisturbed RUNTIME_OUTPUT_DIRECTORY ${_folder})

# Programs that it starts. Of some the dynamic linker takes no agent, or complains: with a sanitizer,
# or of another C library, for which a copy stands in that the test makes.
add_executable(nodewise_agent_starts starts.c)
target_compile_options(nodewise_agent_starts PRIVATE ${_warnings})
set_target_properties(nodewise_agent_starts PROPERTIES
  OUTPUT_NAME starts RUNTIME_OUTPUT_DIRECTORY ${_folder})
add_library(nodewise_agent_shows_preload OBJECT shows_preload.c)
target_compile_options(nodewise_agent_shows_preload PRIVATE ${_warnings})
set_target_properties(nodewise_agent_shows_preload PROPERTIES POSITION_INDEPENDENT_CODE ON)
foreach(_name plain static asan tsan other)
  add_executable(nodewise_agent_shows_preload_${_name} $<TARGET_OBJECTS:nodewise_agent_shows_preload>)
  set_target_properties(nodewise_agent_shows_preload_${_name} PROPERTIES
    LINKER_LANGUAGE C OUTPUT_NAME shows_preload_${_name} RUNTIME_OUTPUT_DIRECTORY ${_folder})
endforeach()
target_link_options(nodewise_agent_shows_preload_static PRIVATE -static)
# Clang has its sanitizers in the program unless it is asked.
set(_shared $<$<C_COMPILER_ID:Clang>:-shared-libsan>)
target_link_options(nodewise_agent_shows_preload_asan PRIVATE -fsanitize=address ${_shared})
target_link_options(nodewise_agent_shows_preload_tsan PRIVATE -fsanitize=thread)
target_link_options(nodewise_agent_shows_preload_other PRIVATE
  -Wl,--dynamic-linker=${_folder}/other_loader.so)

# Code that finds the C library's own functions past the agent.
add_executable(nodewise_agent_past_host past_host.c)
target_compile_options(nodewise_agent_past_host PRIVATE ${_warnings} -fno-builtin)
target_link_libraries(nodewise_agent_past_host PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(nodewise_agent_past_host PROPERTIES
  OUTPUT_NAME past_host RUNTIME_OUTPUT_DIRECTORY ${_folder})
add_library(nodewise_agent_past_plugin MODULE past_plugin.c)
target_compile_options(nodewise_agent_past_plugin PRIVATE ${_warnings} -fno-builtin)
target_link_libraries(nodewise_agent_past_plugin PRIVATE Threads::Threads)
set_target_properties(nodewise_agent_past_plugin PROPERTIES
  PREFIX "" OUTPUT_NAME past_plugin LIBRARY_OUTPUT_DIRECTORY ${_folder})

nodewise_python_test(agent_undisturbed FILE ${CMAKE_CURRENT_SOURCE_DIR}/undisturbed_test.py LABELS agent)
