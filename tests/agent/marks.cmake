# Times between a program's marks. The test compiles its programs itself, as users do.
nodewise_python_test(agent_marks FILE ${CMAKE_CURRENT_SOURCE_DIR}/marks_test.py LABELS agent)
