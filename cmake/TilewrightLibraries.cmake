# tilewright_library(NAME sources... [LINK libs...])       a static library without MLIR
# tilewright_mlir_library(NAME sources... [LINK libs...])  a static library that includes MLIR's headers
# tilewright_tool(NAME sources... [LINK libs...])          an executable in build/bin; MLIR via its libraries
# tilewright_unit_test(NAME sources... [LINK libs...])     a GoogleTest executable in build/test/unit, run by ctest and make test

function(_tilewright_use_mlir target)
  target_include_directories(${target} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  if(TILEWRIGHT_MLIR_PCH)
    add_dependencies(${target} tilewright_mlir_pch)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch ${TILEWRIGHT_MLIR_PCH} -Xclang -fno-pch-timestamp>")
    get_target_property(_sources ${target} SOURCES)
    set_property(SOURCE ${_sources} TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS ${TILEWRIGHT_MLIR_PCH})
  endif()
endfunction()

function(tilewright_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

function(tilewright_mlir_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  # The two shared libraries; a static MLIR library beside them would register everything twice.
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  _tilewright_use_mlir(${name})
endfunction()

function(tilewright_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(ARG_MLIR)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
    _tilewright_use_mlir(${name})
  endif()
endfunction()

function(tilewright_unit_test name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/unit)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  if(ARG_MLIR)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
    _tilewright_use_mlir(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
endfunction()
