"""Benchmark networks by name. Each builder's parameters also make smaller relatives, for tests."""

from benchmarks.builders import (
    bert_base,
    densenet121,
    inception_v3,
    mobilenet_v1,
    mobilenet_v2,
    resnet50,
    squeezenet,
    vgg16,
    vit_b16,
)

BUILDERS = {
    "resnet50": resnet50.build,
    "vgg16": vgg16.build,
    "mobilenet_v1": mobilenet_v1.build,
    "mobilenet_v2": mobilenet_v2.build,
    "squeezenet": squeezenet.build,
    "inception_v3": inception_v3.build,
    "densenet121": densenet121.build,
    "bert_base": bert_base.build,
    "vit_b16": vit_b16.build,
}
