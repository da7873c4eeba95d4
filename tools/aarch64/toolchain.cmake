# Builds for aarch64 by Debian's cross compiler against a system of libraries that
# tools/aarch64/sysroot makes, and runs what is built under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

set(AUTOTUNE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../../build-aarch64/sysroot CACHE PATH
    "Libraries of aarch64, from tools/aarch64/sysroot")
get_filename_component(CMAKE_SYSROOT ${AUTOTUNE_SYSROOT} ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
find_program(AUTOTUNE_QEMU qemu-aarch64)
if(AUTOTUNE_QEMU)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${AUTOTUNE_QEMU};-L;${CMAKE_SYSROOT})
endif()

set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
