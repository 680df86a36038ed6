# Finds MLIR 22 (Debian's /usr/lib/llvm-22, or what MLIR_DIR points at).
find_package(MLIR 22.1 CONFIG PATHS /usr/lib/llvm-22)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR
    "MLIR 22.1 was not found. On Debian 12: apt-get install libmlir-22-dev mlir-22-tools llvm-22-dev; "
    "elsewhere pass -DMLIR_DIR=<prefix>/lib/cmake/mlir of an LLVM 22.1 built with MLIR.")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
set(LLVM_EXTERNAL_LIT ${LLVM_TOOLS_BINARY_DIR}/lit CACHE PATH "lit" FORCE)

# One precompiled header for everything that includes MLIR: parsing MLIR's headers is 85 % of such a file's compile
# time. It is an own command rather than target_precompile_headers so that it holds no path of the checkout and ccache
# hits from any other clone.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  string(TOUPPER "${CMAKE_BUILD_TYPE}" _build_type)
  set(TILEWRIGHT_MLIR_PCH ${CMAKE_BINARY_DIR}/mlir-${LLVM_PACKAGE_VERSION}.pch)
  set(_pch_list ${PROJECT_SOURCE_DIR}/cmake/pch-headers.txt)
  file(STRINGS ${_pch_list} _pch_headers REGEX "^[^#]")
  list(TRANSFORM _pch_headers PREPEND "-include;")
  separate_arguments(_pch_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${_build_type}}")
  add_custom_command(OUTPUT ${TILEWRIGHT_MLIR_PCH} WORKING_DIRECTORY / VERBATIM
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${CMAKE_CXX_COMPILER} -c ${_pch_flags} -fPIC -std=c++20 -Wall -Wextra
      -Wno-unused-parameter -isystem ${MLIR_INCLUDE_DIRS} -Xclang -fno-pch-timestamp -fpch-instantiate-templates
      ${_pch_headers} -x c++-header ${MLIR_INCLUDE_DIRS}/mlir/Transforms/DialectConversion.h -o ${TILEWRIGHT_MLIR_PCH}
    DEPENDS ${_pch_list})
  add_custom_target(tilewright_mlir_pch DEPENDS ${TILEWRIGHT_MLIR_PCH})
endif()
