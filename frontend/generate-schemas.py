#!/usr/bin/env python3
"""Writes OnnxSchemas.inc, the operator schemas the front end checks models against, from the onnx and onnxruntime packages.

    python frontend/generate-schemas.py > frontend/OnnxSchemas.inc

One line per (domain, operator, since_version): which inputs, outputs and attributes it has and which element types they may
take. Run it again to take over a newer onnx release.
"""

import onnx
from onnx import defs

# The operators of other domains that the compiler knows.
MICROSOFT = [
    "DynamicQuantizeMatMul",
    "FastGelu",
    "FusedConv",
    "FusedGemm",
    "FusedMatMul",
    "Gelu",
    "MatMulIntegerToFloat",
    "QGemm",
    "QLinearAdd",
    "QLinearAveragePool",
    "QLinearConcat",
    "QLinearConv",
    "QLinearGlobalAveragePool",
    "QLinearLeakyRelu",
    "QLinearMul",
    "QLinearReduceMean",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QLinearWhere",
    "QuantizeLinear",
    "DequantizeLinear",
    "BiasGelu",
    "LayerNormalization",
    "SkipLayerNormalization",
    "QuickGelu",
    "Attention",
    "MultiHeadAttention",
    "RotaryEmbedding",
]

SHORT = {
    "float16": "f16",
    "float": "f32",
    "double": "f64",
    "bfloat16": "bf16",
    "bool": "i1",
    "string": "str",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "complex64": "c64",
    "complex128": "c128",
    "float8e4m3fn": "f8e4m3fn",
    "float8e4m3fnuz": "f8e4m3fnuz",
    "float8e5m2": "f8e5m2",
    "float8e5m2fnuz": "f8e5m2fnuz",
    "int4": "i4",
    "uint4": "u4",
}
KIND = {
    "FLOAT": "f",
    "INT": "i",
    "STRING": "s",
    "TENSOR": "t",
    "GRAPH": "g",
    "FLOATS": "F",
    "INTS": "I",
    "STRINGS": "S",
    "TENSORS": "T",
    "GRAPHS": "G",
    "SPARSE_TENSOR": "p",
    "TYPE_PROTO": "y",
    "SPARSE_TENSORS": "P",
    "TYPE_PROTOS": "Y",
}


def element_type(spelled):
    """f32 of tensor(float); other for sequences, maps, optionals and types that the compiler does not know."""
    if spelled.startswith("tensor(") and spelled[7:-1] in SHORT:
        return SHORT[spelled[7:-1]]
    return "other"


def formal(parameter):
    """A parameter's type variable or type, then ? when optional, * when it repeats, *! when it repeats with mixed types."""
    spelled = getattr(parameter, "type_str", None) or getattr(parameter, "typeStr", None)
    variable = element_type(spelled) if "(" in spelled else spelled
    homogeneous = getattr(
        parameter, "is_homogeneous", False
    )  # onnxruntime does not say: its variadic inputs may be mixed
    name = getattr(parameter.option, "name", str(parameter.option)).split(".")[-1]
    return variable + {"Optional": "?", "Variadic": "*" if homogeneous else "*!"}.get(name, "")


def line(schema):
    attributes = " ".join(
        f"{name}:{KIND[a.type.name]}{'!' if a.required else ''}" for name, a in sorted(schema.attributes.items())
    )
    types = " ".join(
        f"{c.type_param_str}=" + ",".join(sorted({element_type(t) for t in c.allowed_type_strs}))
        for c in schema.type_constraints
    )
    many = 2**31 - 1
    bound = [schema.min_input, schema.max_input, schema.min_output, schema.max_output]
    numbers = ", ".join(str(-1 if b >= many else b) for b in bound)
    domain = "" if schema.domain == "ai.onnx" else schema.domain
    return (
        f'{{"{domain}", "{schema.name}", {schema.since_version}, {int(schema.deprecated)}, {numbers}, '
        f'"{" ".join(map(formal, schema.inputs))}", "{" ".join(map(formal, schema.outputs))}",\n '
        f'"{attributes}",\n "{types}"}},'
    )


def main():
    import onnxruntime
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

    schemas = [s for s in defs.get_all_schemas_with_history() if s.domain == ""]
    contributed = [s for s in get_all_operator_schema() if s.domain == "com.microsoft" and s.name in MICROSOFT]
    print(f"// Written by generate-schemas.py from onnx {onnx.__version__} and onnxruntime {onnxruntime.__version__}.")
    print("// clang-format off")
    print(f"static constexpr int kNewestOpset = {defs.onnx_opset_version()};")
    print("static constexpr RawSchema kSchemas[] = {")
    seen = set()
    for schema in sorted(schemas + contributed, key=lambda s: (s.domain, s.name, s.since_version)):
        key = (schema.domain, schema.name, schema.since_version)
        if key not in seen:
            seen.add(key)
            print(line(schema))
    print("};\n// clang-format on")


main()
