# Every way in which a TensorProto can hold its elements.
# RUN: %python %s %t.onnx
# RUN: tilewright-opt --import-onnx=%t.onnx | FileCheck %s
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def typed(name, element, values, dims=None):
    """Elements in a typed field: float_data, int32_data, int64_data, double_data, uint64_data or string_data."""
    return helper.make_tensor(name, element, dims or [len(values)], values)


large = np.arange(100, dtype=np.float32)
tensors = [
    typed("float", TensorProto.FLOAT, [1.5, -0.0]),
    typed("double", TensorProto.DOUBLE, [0.1]),
    typed("int8", TensorProto.INT8, [-128, 127]),
    typed("uint8", TensorProto.UINT8, [0, 255]),
    typed("int16", TensorProto.INT16, [-32768]),
    typed("uint16", TensorProto.UINT16, [65535]),
    typed("int32", TensorProto.INT32, [-1, 2147483647]),
    typed("uint32", TensorProto.UINT32, [4294967295]),
    typed("int64", TensorProto.INT64, [-(2**63), 7]),
    typed("uint64", TensorProto.UINT64, [2**64 - 1]),
    typed("bool", TensorProto.BOOL, [True, False, True]),
    typed("float16", TensorProto.FLOAT16, [1.5, 65504.0]),
    typed("bfloat16", TensorProto.BFLOAT16, [2.0]),
    typed("complex64", TensorProto.COMPLEX64, [1 + 2j]),
    typed("string", TensorProto.STRING, [b"a", b"\xff"]),
    typed("scalar", TensorProto.FLOAT, [4.0], dims=[1]),
    typed("nothing", TensorProto.FLOAT, [], dims=[0, 3]),
    numpy_helper.from_array(np.float32([3, 4]), "raw"),
    numpy_helper.from_array(np.full((64, 64), 2.5, np.float32), "equal"),
    numpy_helper.from_array(large, "large"),
]
tensors[15].dims[:] = []
# Unpacked, as the first exporters wrote it: one field per element.
unpacked = TensorProto(name="unpacked", data_type=TensorProto.FLOAT, dims=[2])
unpacked.MergeFromString(b"\x25" + np.float32(5).tobytes() + b"\x25" + np.float32(6).tobytes())
tensors.append(unpacked)
sparse = helper.make_sparse_tensor(
    numpy_helper.from_array(np.float32([5, 7]), "sparse"), numpy_helper.from_array(np.int64([[0, 1], [1, 2]])), [2, 3]
)
outputs = [helper.make_tensor_value_info(t.name, t.data_type, None) for t in tensors]
outputs.append(helper.make_tensor_value_info("sparse", TensorProto.FLOAT, None))
graph = helper.make_graph([], "g", [], outputs, tensors)
graph.sparse_initializer.append(sparse)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])

# CHECK: onnx.constant dense<[1.500000e+00, -0.000000e+00]> : tensor<2xf32>
# CHECK: onnx.constant dense<1.000000e-01> : tensor<1xf64>
# CHECK: onnx.constant dense<[-128, 127]> : tensor<2xi8>
# CHECK: onnx.constant dense<[0, 255]> : tensor<2xui8>
# CHECK: onnx.constant dense<-32768> : tensor<1xi16>
# CHECK: onnx.constant dense<65535> : tensor<1xui16>
# CHECK: onnx.constant dense<[-1, 2147483647]> : tensor<2xi32>
# CHECK: onnx.constant dense<4294967295> : tensor<1xui32>
# CHECK: onnx.constant dense<[-9223372036854775808, 7]> : tensor<2xi64>
# CHECK: onnx.constant dense<18446744073709551615> : tensor<1xui64>
# CHECK: onnx.constant dense<[true, false, true]> : tensor<3xi1>
# CHECK: onnx.constant dense<[1.500000e+00, 6.550400e+04]> : tensor<2xf16>
# CHECK: onnx.constant dense<2.000000e+00> : tensor<1xbf16>
# CHECK: onnx.constant dense<(1.000000e+00,2.000000e+00)> : tensor<1xcomplex<f32>>
# CHECK: onnx.constant dense<["a", "\FF"]> : tensor<2x!onnx.string>
# CHECK: onnx.constant dense<4.000000e+00> : tensor<f32>
# CHECK: onnx.constant dense<> : tensor<0x3xf32>
# CHECK: onnx.constant dense<[3.000000e+00, 4.000000e+00]> : tensor<2xf32>
# Equal elements are stored once; what is large stays in the file.
# CHECK: onnx.constant dense<2.500000e+00> : tensor<64x64xf32>
# CHECK: onnx.constant dense_resource<[[LARGE:.*]]> : tensor<100xf32>
# CHECK: onnx.constant dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>
# CHECK{LITERAL}: onnx.constant dense<[[0.000000e+00, 5.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 7.000000e+00]]> : tensor<2x3xf32>
# CHECK: [[LARGE]]: "0x01000000000000000000803F00000040
