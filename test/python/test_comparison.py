"""Networks at full size against onnxruntime: benchmarks/comparison.py, whose table has them all, on those that are quick."""

import pytest

from benchmarks import comparison

LAYERS = ["mobilenet_v2", "squeezenet", "text_direction", "subpixel", "micro_kws_qdq", "micro_kws_qoperator_softmax"]
FLOAT = [*LAYERS, "mobilenet_v1", "open_nsfw", "onet", "mnist_conv"]


def rows(capsys, *arguments):
    """The exit code, and the table's cells by network."""
    code = comparison.main(list(arguments))
    captured = capsys.readouterr()
    if "cannot fetch" in captured.err:
        pytest.skip("not run: no registry is reachable")
    lines = [line.strip("| ").split(" | ") for line in captured.out.splitlines() if line.startswith("| ")]
    return code, {cells[0]: cells[1:] for cells in lines}, captured.err


def test_every_layer_on_the_array(capsys):
    code, table, progress = rows(capsys, *LAYERS, "--table=layers")
    assert code == 0, progress
    for name in LAYERS:
        compared, on_array = map(int, table[name][0].split(" of "))
        assert compared == on_array > 0
        assert table[name][2:4] == ["0", "0"]
    assert table["mobilenet_v2"][0] == "54 of 54"


def test_the_cpu_target_in_float(capsys):
    code, table, progress = rows(capsys, *FLOAT, "--table=float")
    assert code == 0, progress
    assert all(float(table[name][2]) <= comparison.FLOAT_TOLERANCE for name in FLOAT)


def test_a_layer_left_out_or_different_fails(capsys, monkeypatch):
    genuine = comparison.compare_layers.compare

    def one_missing(*arguments):
        result = genuine(*arguments)
        result.compared -= 1
        return result

    monkeypatch.setattr(comparison.compare_layers, "compare", one_missing)
    code, _, progress = rows(capsys, "subpixel", "--table=layers")
    assert code == 1
    assert "3 layers compared of 4 on the array" in progress
