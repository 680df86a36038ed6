"""Models that cannot be compiled: exit code 1, one message that names file and culprit, and nothing written."""

import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
COMPILE = Path(os.environ.get("TILEWRIGHT_BUILD", ROOT / "build")) / "bin" / "compile-model"


def tensor(name, shape, element=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def model(nodes, *, inputs=None, outputs=("y",), constants=None, opset=17, domains=(), ir=8):
    graph = helper.make_graph(
        nodes,
        "g",
        inputs or [tensor("x", [2, 3])],
        [tensor(name, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()],
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir).SerializeToString()


def node(op, inputs, outputs, **rest):
    return helper.make_node(op, inputs, outputs, **rest)


def external(location):
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3, 2], data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value=location)
    proto = onnx.ModelProto.FromString(model([node("MatMul", ["x", "w"], ["y"])]))
    proto.graph.initializer.append(weights)
    return proto.SerializeToString()


def calling(count, callees):
    """Functions F0 to F<count - 1>, each of which calls those of `callees(i)` one after the other."""
    domain, functions = "local", []
    for i in range(count):
        names = ["a", *(f"t{k}" for k in range(len(callees(i)))), "b"]
        nodes = [node(f"F{j}", [names[k]], [names[k + 1]], domain=domain) for k, j in enumerate(callees(i))]
        nodes.append(node("Relu", [names[-2]], ["b"]))
        imports = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
        functions.append(helper.make_function(domain, f"F{i}", ["a"], ["b"], nodes, imports))
    proto = onnx.ModelProto.FromString(model([node("F0", ["x"], ["y"], domain=domain)], domains=[domain]))
    proto.functions.extend(functions)
    return proto.SerializeToString()


def ranged(start, limit, step):
    constants = {"a": np.float32(start), "b": np.float32(limit), "d": np.float32(step)}
    return model([node("Range", ["a", "b", "d"], ["y"], name="steps")], constants=constants)


GOOD = model([node("MatMul", ["x", "w"], ["y"])], constants={"w": np.ones((3, 2), np.float32)})
SCALES = {"s": np.float32(np.nan), "z": np.uint8(0)}

# What the file holds, and words of the message.
REFUSED = {
    "empty": (b"", "empty"),
    "random bytes": (np.random.default_rng(0).bytes(4000), "not an ONNX model"),
    "truncated": (GOOD[: len(GOOD) // 2], "cut short"),
    "functions that multiply": (calling(40, lambda i: [i + 1] * 2 if i < 39 else []), "expand to more than 10000000"),
    "functions too deep": (calling(300, lambda i: [i + 1] if i < 299 else []), "more than 64 calls deep"),
    "functions in a ring": (calling(3, lambda i: [(i + 1) % 3]), "F0 calls itself"),
    "a range to nowhere": (ranged(0, np.nan, 1), ("Range(11) 'steps'", "to nan")),
    "an endless range": (ranged(0, 3e38, 1e-30), ("Range(11) 'steps'", "no length")),
    "a range that stands": (ranged(0, 3, 0), ("Range(11) 'steps'", "no length")),
    "an ellipsis": (
        model([node("Einsum", ["x", "x"], ["y"], equation="...i,...i->...")]),
        "Einsum(12) giving 'y': an ellipsis in the equation",
    ),
    "unsupported operators": (
        model(
            [
                node("Relu", ["x"], ["a"]),
                node("Frobnicate", ["a"], ["b"], name="first"),
                node("Neg", ["b"], ["c"]),
                node("Quant", ["c"], ["y"], domain="acme", name="second"),
            ],
            domains=["acme"],
        ),
        ("2 nodes", "Frobnicate", "'first'", "acme::Quant", "'second'"),
    ),
    "operator newer than its opset": (model([node("Gelu", ["x"], ["y"])]), ("Gelu", "opset 20", "17")),
    "opset from the future": (model([node("Neg", ["x"], ["y"])], opset=9999), "9999"),
    "cycle": (model([node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"])], outputs=["a"]), "cycle"),
    "missing tensor": (model([node("Add", ["x", "ghost"], ["y"])]), "ghost"),
    "missing output": (model([node("Neg", ["x"], ["y"])], outputs=["phantom"]), "phantom"),
    "value defined twice": (model([node("Neg", ["x"], ["y"]), node("Abs", ["x"], ["y"])]), ("'y'", "twice")),
    "unknown attribute": (model([node("Relu", ["x"], ["y"], slope=2.0)]), ("Relu", "slope")),
    "attribute of a wrong kind": (model([node("Elu", ["x"], ["y"], alpha="much")]), ("Elu", "alpha", "float")),
    "types": (model([node("Add", ["x", "k"], ["y"])], constants={"k": [1, 2, 3]}), ("Add", "int64", "float")),
    "shapes": (
        model([node("MatMul", ["x", "k"], ["y"])], constants={"k": np.ones((2, 3), np.float32)}),
        ("MatMul", "3 and 2"),
    ),
    "NaN scale": (model([node("QuantizeLinear", ["x", "s", "z"], ["y"])], constants=SCALES), ("scale", "nan")),
    "absurd dimensions": (
        model([node("Neg", ["x"], ["y"])], inputs=[tensor("x", [1 << 40, 1 << 40])]),
        ("'x'", "1099511627776"),
    ),
    "data that does not fill its tensor": (
        GOOD.replace(np.ones((3, 2), np.float32).tobytes(), np.ones((3, 2), np.float32).tobytes()[:-4] + b"\0\0\0"),
        "",
    ),
    "external data outside": (external("../w.bin"), ("'../w.bin'", "..")),
    "external data at an absolute path": (external("/etc/hostname"), ("/etc/hostname", "relative")),
    "external data that is missing": (external("w.bin"), "w.bin"),
    "external data in a pipe": (external("pipe"), ("pipe", "is not a regular file")),
    "external data behind a link": (external("link.bin"), ("link.bin", "outside")),
}


def compile_model(path, *arguments):
    return subprocess.run(
        [COMPILE, path, "-o", path.with_suffix(".twp"), "--target=cpu", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_one_message(name, tmp_path):
    data, words = REFUSED[name]
    outside = tmp_path / "outside.bin"
    outside.write_bytes(bytes(24))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.bin").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    path = folder / "model.onnx"
    path.write_bytes(data)
    done = compile_model(path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("error:") == 1, done.stderr
    assert "model.onnx" in done.stderr
    for word in [words] if isinstance(words, str) else words:
        assert word in done.stderr
    assert sorted(file.name for file in folder.iterdir()) == ["link.bin", "model.onnx", "pipe"]


def test_shapes_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(GOOD)
    for argument, words in {
        "--input-shape=z:2x3": ("no input 'z'", "x"),
        "--input-shape=x:2x3x1": ("'x'", "2x3", "2x3x1"),
        "--input-shape=x:7x3": ("'x'", "shape 2x3, where 2 is fixed", "7x3"),
        "--batch=4": ("batch of 4", "no input"),
    }.items():
        done = compile_model(path, argument)
        assert done.returncode == 1
        for word in words:
            assert word in done.stderr
        assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_the_good_model_compiles(tmp_path):
    """So that the others are refused for what is wrong with them."""
    path = tmp_path / "model.onnx"
    path.write_bytes(GOOD)
    done = compile_model(path)
    assert done.returncode == 0, done.stderr
    assert path.with_suffix(".twp").exists()
