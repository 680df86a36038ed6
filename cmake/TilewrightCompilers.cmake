# Included before project(): the compilers, linker and cache that the project is built with when none were chosen. All ways
# to build (make, pip, cmake by hand) share them, and so share one build folder. Under pip CXX is no choice: scikit-build-core
# sets it to the compiler that Python was built with; --config-settings=cmake.define.CMAKE_CXX_COMPILER=... chooses.
if(NOT DEFINED CMAKE_CXX_COMPILER AND (SKBUILD OR NOT DEFINED ENV{CXX}))
  find_program(TILEWRIGHT_CLANG clang-22 PATHS /usr/lib/llvm-22/bin)
  find_program(TILEWRIGHT_CLANGXX clang++-22 PATHS /usr/lib/llvm-22/bin)
  if(TILEWRIGHT_CLANG AND TILEWRIGHT_CLANGXX)
    set(CMAKE_C_COMPILER ${TILEWRIGHT_CLANG} CACHE FILEPATH "C compiler")
    set(CMAKE_CXX_COMPILER ${TILEWRIGHT_CLANGXX} CACHE FILEPATH "C++ compiler")
    find_program(TILEWRIGHT_LLD ld.lld-22)
    if(TILEWRIGHT_LLD)
      foreach(_kind EXE SHARED MODULE)
        set(CMAKE_${_kind}_LINKER_FLAGS -fuse-ld=lld CACHE STRING "linker flags")
      endforeach()
    endif()
  endif()
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "flags of a release build")

# Depend mode and these sloppiness settings are what lets ccache take files that use the precompiled header; the base folder
# makes another clone hit.
find_program(TILEWRIGHT_CCACHE ccache)
if(TILEWRIGHT_CCACHE)
  set(_launcher env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
                ${TILEWRIGHT_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER "${_launcher}" CACHE STRING "compiler cache")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${_launcher}" CACHE STRING "compiler cache")
endif()
