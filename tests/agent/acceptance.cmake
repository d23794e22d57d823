# What programs do with memory, in C++: their own operators, plug-ins of a program in C, random
# operations.
add_executable(nodewise_agent_cxx_plugin_host cxx_plugin_host.c)
target_link_libraries(nodewise_agent_cxx_plugin_host PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(nodewise_agent_cxx_plugin_host PROPERTIES OUTPUT_NAME cxx_plugin_host
  RUNTIME_OUTPUT_DIRECTORY ${_folder})
# dlsym gives functions as data pointers, which ISO C does not know.
target_compile_options(nodewise_agent_cxx_plugin_host PRIVATE ${_warnings} -Wno-pedantic)

foreach(_name habits torture own_operators)
  add_executable(nodewise_agent_${_name} ${_name}.cpp)
  target_link_libraries(nodewise_agent_${_name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(nodewise_agent_${_name} PROPERTIES
    OUTPUT_NAME ${_name} RUNTIME_OUTPUT_DIRECTORY ${_folder})
endforeach()
nodewise_cxx_plugins(cxx_plugin cxx_plugin.cpp)
foreach(_name habits torture own_operators)
  target_compile_features(nodewise_agent_${_name} PRIVATE cxx_std_20)
  target_compile_options(nodewise_agent_${_name} PRIVATE ${_warnings} -fno-builtin)
endforeach()
# It has no sized delete on purpose: the library's must find its own.
target_compile_options(nodewise_agent_own_operators PRIVATE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-sized-deallocation>)
