"""The cases on the CPU target, and those with quantized operators on the array: none wrong, none crashed, and refused exactly those that expected/cases-cpu.txt lists.

A case that starts to pass fails the run until it is taken out of the list; so does a listed case that is gone.
"""

from collections import Counter
from pathlib import Path

import pytest
from case_runner import ROOT, Outcome, find_cases, generate, run_all

EXPECTED = Path(__file__).with_name("expected") / "cases-cpu.txt"
# Fewer cases than this means that something was not found.
FEWEST = 600


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory) -> dict[str, Outcome]:
    source = find_cases()
    if source is None:
        pytest.skip("not run: no shared/cases beside or above this checkout, and TILEWRIGHT_CASES is not set")
    tools = ROOT / "build" / "bin"
    folders = generate(source, tmp_path_factory.mktemp("cases"))
    assert len(folders) >= FEWEST
    return run_all(folders, tools, tmp_path_factory.mktemp("runs"), ["--target=cpu"])


def listed(outcomes: dict[str, Outcome], kind: str) -> list[str]:
    return [f"{name}: {outcome.detail}" for name, outcome in outcomes.items() if outcome.kind == kind]


def test_nothing_is_wrong(outcomes):
    print(dict(Counter(outcome.kind for outcome in outcomes.values())))
    assert listed(outcomes, "wrong") == []


def test_nothing_crashes(outcomes):
    assert listed(outcomes, "crashed") == []


def test_exactly_the_expected_cases_are_refused(outcomes):
    expected = {line.strip() for line in EXPECTED.read_text().splitlines() if line.strip() and not line.startswith("#")}
    refused = {name for name, outcome in outcomes.items() if outcome.kind == "refused"}
    assert sorted(refused - expected) == [], "refused, but not listed"
    assert sorted(expected - refused) == [], "listed as refused, but not refused any more"


# Themes with models that are quantized; the others have nothing for the array unless calibration data is given.
QUANTIZED_THEMES = {"qlinear_conv", "quantization", "quantized_chains", "pooling", "fusion", "gemm_matmul"}


def test_nothing_is_wrong_on_the_array(tmp_path):
    source = find_cases()
    if source is None:
        pytest.skip("not run: no shared/cases beside or above this checkout, and TILEWRIGHT_CASES is not set")
    folders = [folder for folder in generate(source, tmp_path / "cases") if folder.parent.name in QUANTIZED_THEMES]
    assert len(folders) >= 150
    outcomes = run_all(folders, ROOT / "build" / "bin", tmp_path / "runs", ["--target=systolic"])
    print(dict(Counter(outcome.kind for outcome in outcomes.values())))
    assert listed(outcomes, "wrong") == []
    assert listed(outcomes, "crashed") == []
