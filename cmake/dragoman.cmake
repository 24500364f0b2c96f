# Defines how the targets of this project are built: one library per directory, with warnings, and with the
# rule that keeps two versions of protobuf apart.

# dragoman_library(name SOURCES a.cc ... [ALONE b.cc ...] [TOGETHER n] LINKS other ...): a static library.
# Its LINKS are public.  With TOGETHER, n of its SOURCES at a time are compiled as one file, which reads
# the headers and instantiates the templates that they share once: names in their unnamed namespaces must
# differ.  The files that are ALONE, and all of them in the preset dev, are compiled by themselves.
option(DRAGOMAN_TOGETHER "Compile several files of a library as one" ON)
function(dragoman_library name)
  cmake_parse_arguments(arg "" "TOGETHER" "SOURCES;ALONE;LINKS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES} ${arg_ALONE})
  dragoman_together(${name} "${arg_TOGETHER}" "${arg_ALONE}")
  dragoman_target(${name} PUBLIC "${arg_LINKS}")
endfunction()

function(dragoman_together name number alone)
  if(number AND DRAGOMAN_TOGETHER)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${number})
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# dragoman_executable(name SOURCES a.cc ... LINKS other ...): an executable without exported symbols.
function(dragoman_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  dragoman_target(${name} PRIVATE "${arg_LINKS}")
  # The sanitizers of clang are static libraries whose symbols the shared libraries need, so with them only
  # protobuf is hidden.
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_link_options(${name} PRIVATE -Wl,--exclude-libs,libprotobuf.a:libdragoman_proto.a)
  else()
    target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  endif()
  if(TARGET dragoman_tsan)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:dragoman_tsan>)
  endif()
endfunction()

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  add_library(dragoman_tsan OBJECT ${CMAKE_CURRENT_LIST_DIR}/tsan_mutex.cc)
  # The shared libraries need these definitions as well.
  target_compile_options(dragoman_tsan PRIVATE -fvisibility=default)
  target_link_libraries(dragoman_tsan PRIVATE absl::synchronization)
endif()

# dragoman_test(name SOURCES a_test.cc ... [ALONE b_test.cc ...] [TOGETHER n] LINKS other ...
# [LABELS label ...] [OPTIMIZE] [EMULATE "*"]): one GoogleTest binary, one CTest.  It runs in the root of the source tree,
# which contains tests/golden and models, and leaves no temporary files.  A test that computes much by itself is to be
# optimized like the product; most only wait to be compiled.  The preset arm64 runs what the filter EMULATE leaves on
# each of its CPUs.
function(dragoman_test name)
  cmake_parse_arguments(arg "OPTIMIZE" "EMULATE;TIMEOUT;TOGETHER" "SOURCES;ALONE;LINKS;LABELS" ${ARGN})
  dragoman_executable(${name}
    SOURCES ${arg_SOURCES} ${arg_ALONE}
    LINKS ${arg_LINKS} GTest::gmock GTest::gtest_main)
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:own_temporary_files>)
  dragoman_together(${name} "${arg_TOGETHER}" "${arg_ALONE}")
  if(arg_OPTIMIZE AND CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(${name} PRIVATE -O1)
  endif()
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  if(arg_EMULATE)
    dragoman_emulate(${name} COMMAND ${name} --gtest_filter=${arg_EMULATE} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(CMAKE_CROSSCOMPILING)
      add_dependencies(emulated_programs ${name})
    endif()
  endif()
endfunction()

# dragoman_unittest(name [MODULE module] [LABELS label ...] [TIMEOUT seconds] [ENVIRONMENT variable=value ...]): a
# Python module of this directory, which has the name of the test unless given, run by tests/suite.py.  If some of its
# tests are marked as optional, name.all runs those.  The label "all" is for what only ./test.sh --all runs.
function(dragoman_unittest name)
  cmake_parse_arguments(arg "" "MODULE;TIMEOUT" "LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_MODULE)
    set(arg_MODULE ${name})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 1800)
  endif()
  set(command /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tests/suite.py)  # the one that Debian's python3-grpcio belongs to
  add_test(NAME ${name} COMMAND ${command} ${arg_MODULE} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(names ${name})
  set(file ${CMAKE_CURRENT_SOURCE_DIR}/${arg_MODULE}.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} marks REGEX "^ *@optional$")
  if(marks)
    add_test(NAME ${name}.all COMMAND ${command} --all ${arg_MODULE} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND names ${name}.all)
  endif()
  set_tests_properties(${names} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77
                       ENVIRONMENT "${arg_ENVIRONMENT};PYTHONDONTWRITEBYTECODE=1")
  if(marks)
    set_property(TEST ${name}.all APPEND PROPERTY LABELS all)
  endif()
endfunction()

# What the preset arm64 tests is built by this target.
if(CMAKE_CROSSCOMPILING)
  add_custom_target(emulated_programs)
endif()

# dragoman_emulate(name [CPUS cpu ...] [LABELS label ...] COMMAND command ... WORKING_DIRECTORY directory
# [ENVIRONMENT variable=value ...]): a CTest for each of these CPUs, which are those of the preset arm64 unless given.
function(dragoman_emulate name)
  cmake_parse_arguments(arg "" "WORKING_DIRECTORY" "CPUS;LABELS;COMMAND;ENVIRONMENT" ${ARGN})
  if(NOT arg_CPUS)
    set(arg_CPUS ${DRAGOMAN_EMULATED_CPUS})
    set(arg_LABELS arm64)
  endif()
  foreach(cpu ${arg_CPUS})
    add_test(NAME ${name}.${cpu} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
    set_tests_properties(${name}.${cpu} PROPERTIES TIMEOUT 1800 LABELS "${arg_LABELS}"
                         ENVIRONMENT "QEMU_CPU=${cpu};${arg_ENVIRONMENT}")
  endforeach()
endfunction()

# dragoman_script(target variable emulator ...): a script that runs a program in an emulator.
function(dragoman_script target variable)
  set(script ${PROJECT_BINARY_DIR}/emulated/${target})
  set(${variable} ${script} PARENT_SCOPE)
  get_target_property(written ${target} DRAGOMAN_SCRIPT)
  if(NOT written)
    set_target_properties(${target} PROPERTIES DRAGOMAN_SCRIPT ${script})
    string(JOIN " " emulator ${ARGN})
    file(GENERATE OUTPUT ${script} CONTENT "#!/bin/sh\nexec ${emulator} $<TARGET_FILE:${target}> \"$@\"\n"
         FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
endfunction()

# dragoman_program(target variable): the file that runs a program: itself, or a script if it is for other CPUs.
function(dragoman_program target variable)
  set(program $<TARGET_FILE:${target}>)
  if(CMAKE_CROSSCOMPILING)
    dragoman_script(${target} program ${CMAKE_CROSSCOMPILING_EMULATOR})
  endif()
  set(${variable} ${program} PARENT_SCOPE)
endfunction()

function(dragoman_target name visibility links)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  # Designated initializers deliberately leave the other fields at their defaults.
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow -Wno-unused-parameter
                                         -Wno-missing-field-initializers)
  # GCC 12 sees overlapping copies in every std::string operator+ (GCC bug 105651) and uninitialized
  # members in moved std::variants (GCC bug 105562); GCC 14 wrongly sees a matrix free a pointer into the
  # middle of its memory.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${name} PRIVATE -Wno-restrict -Wno-maybe-uninitialized
                                           -Wno-free-nonheap-object)
  endif()
  if(DRAGOMAN_WERROR)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
  if(NOT DRAGOMAN_TESTS)
    dragoman_harden(${name})
  endif()
  target_link_libraries(${name} ${visibility} ${links})
endfunction()

# dragoman_harden(name): what Debian hardens its programs with, in what is shipped (the release build): canaries in
# frames, checked copies into buffers, no jump over a stack's guard page, landing pads for indirect calls, and
# relocations that are read-only before main.  Position independence is the compiler's default.  Not
# -D_GLIBCXX_ASSERTIONS, which checks each index in the inner loops; the preset dev has it.
function(dragoman_harden name)
  if(NOT CMAKE_BUILD_TYPE STREQUAL Release)
    return()
  endif()
  set(branches -fcf-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(branches -mbranch-protection=standard)
  endif()
  target_compile_options(${name} PRIVATE -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE
                                         -D_FORTIFY_SOURCE=2 ${branches})
  target_link_options(${name} PRIVATE -Wl,-z,relro,-z,now)
endfunction()
