# The toolchain of the preset arm64: compiles on Debian amd64 for 64-bit ARM, against the tree that
# arm64-sysroot.sh makes.  Programs that a build runs (protoc and its plugins) are this machine's; CTest runs
# the tests in QEMU.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(DRAGOMAN_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-sysroot CACHE PATH "Debian's packages for arm64")
cmake_path(ABSOLUTE_PATH DRAGOMAN_SYSROOT NORMALIZE OUTPUT_VARIABLE sysroot)
if(NOT EXISTS ${sysroot}/usr/include)
  message(FATAL_ERROR "${sysroot} is no tree of Debian packages; cmake/arm64-sysroot.sh makes it")
endif()
# CMake reads this file again, without the cache, for each program with which it tries the compiler.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DRAGOMAN_SYSROOT)

set(CMAKE_SYSROOT ${sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})
set(ENV{PKG_CONFIG_LIBDIR} ${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig:${sysroot}/usr/share/pkgconfig)

# The CPUs that the tests run on: without an extension for 8-bit products, with the dot product, and with all
# that QEMU has (matrix products, SVE).  From QEMU 8.1 (Debian 13) on, there is also a real one with those.
set(DRAGOMAN_EMULATED_CPUS cortex-a72 neoverse-n1 max)
find_program(DRAGOMAN_QEMU_ARM64 NAMES qemu-aarch64-static qemu-aarch64)
if(DRAGOMAN_QEMU_ARM64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${DRAGOMAN_QEMU_ARM64} -L ${sysroot})
  execute_process(COMMAND ${DRAGOMAN_QEMU_ARM64} -cpu help OUTPUT_VARIABLE cpus ERROR_QUIET)
  if(cpus MATCHES "neoverse-v1")
    list(APPEND DRAGOMAN_EMULATED_CPUS neoverse-v1)
  endif()
endif()
