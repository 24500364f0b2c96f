# No executable may have a protobuf symbol in its dynamic symbol table: libsentencepiece.so holds an
# older protobuf of the same names.  A symbol that is defined there would be taken by that library,
# and one that is undefined would be taken from it.
#
# cmake -D NM=nm -D EXECUTABLES=a,b -P symbols_test.cmake

string(REPLACE "," ";" executables "${EXECUTABLES}")
foreach(executable IN LISTS executables)
  execute_process(COMMAND ${NM} -D ${executable} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  if(NOT symbols MATCHES "main")
    message(FATAL_ERROR "${executable} has no dynamic symbols: is it an executable?")
  endif()
  string(REGEX MATCHALL "[^\n]*8protobuf[^\n]*" found "${symbols}")
  if(found)
    list(JOIN found "\n" found)
    message(FATAL_ERROR "${executable} shares protobuf symbols:\n${found}")
  endif()
endforeach()
