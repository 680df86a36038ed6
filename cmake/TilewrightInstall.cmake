# Two installations of the same files. config/Resources.cpp finds share/tilewright beside the program or module in both.
#   cmake --install build --prefix P     P/bin/{compile-model,run-model}, P/share/tilewright
#   pip install . (component "python")   the package tilewright with _core, bin/ and share/tilewright inside
# share/tilewright has the configurations, the RTL and what builds its simulators, in the folders of the source tree.
function(_tilewright_install bin share)
  install(TARGETS compile-model run-model DESTINATION ${bin} ${ARGN})
  install(DIRECTORY configs DESTINATION ${share} ${ARGN} FILES_MATCHING PATTERN "*.toml")
  install(DIRECTORY sim/rtl DESTINATION ${share}/sim ${ARGN} FILES_MATCHING PATTERN "*.sv" PATTERN "*.svh")
  install(FILES sim/DramModel.h sim/SimulatorAbi.h sim/WriteDigest.h DESTINATION ${share}/sim ${ARGN})
  install(FILES sim/verilator/Harness.cpp sim/verilator/build_simulator.py DESTINATION ${share}/sim/verilator ${ARGN})
  install(FILES backends/systolic/isa/descriptors.toml backends/systolic/isa/generate_isa.py
    DESTINATION ${share}/backends/systolic/isa ${ARGN})
endfunction()

_tilewright_install(bin share/tilewright COMPONENT tilewright)
if(TARGET _core)
  install(TARGETS _core DESTINATION tilewright COMPONENT python EXCLUDE_FROM_ALL)
  _tilewright_install(tilewright/bin tilewright/share/tilewright COMPONENT python EXCLUDE_FROM_ALL)
endif()
