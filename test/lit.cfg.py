"""lit: every .mlir, .test and .py file below test/ with a RUN line is a test."""

import os

import lit.formats

config.name = "tilewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_dir, "test")
config.excludes = [
    "lit.cfg.py",
    "lit.site.cfg.py",
    "lint.py",
    "run_all.py",
    "unit",
    "python",
    "reference",
    "rtl",
    "Inputs",
]
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.build_dir, "bin"), config.llvm_tools_dir, os.environ["PATH"]]
)
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%source_dir", config.source_dir))
