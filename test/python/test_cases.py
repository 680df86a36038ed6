"""The cases on the CPU target, those with quantized operators on the array, and each in one of the other forms and targets: none
wrong, none crashed, and refused on the CPU exactly those that expected/cases-cpu.txt lists.

A case that starts to pass fails the run until it is taken out of the list; so does a listed case that is gone.
"""

from collections import Counter
from pathlib import Path

import pytest
from case_runner import FORMS, ROOT, TARGETS, Outcome, find_cases, generate, run_all

EXPECTED = Path(__file__).with_name("expected") / "cases-cpu.txt"
# Fewer cases than this means that something was not found.
FEWEST = 600


@pytest.fixture(scope="session")
def source() -> Path:
    found = find_cases()
    if found is None:
        pytest.skip("not run: no shared/cases beside or above this checkout, and TILEWRIGHT_CASES is not set")
    return found


@pytest.fixture(scope="session")
def outcomes(source, tmp_path_factory) -> dict[str, Outcome]:
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


def test_nothing_is_wrong_on_the_array(source, tmp_path):
    folders = [folder for folder in generate(source, tmp_path / "cases") if folder.parent.name in QUANTIZED_THEMES]
    assert len(folders) >= 150
    outcomes = run_all(folders, ROOT / "build" / "bin", tmp_path / "runs", ["--target=systolic"])
    print(dict(Counter(outcome.kind for outcome in outcomes.values())))
    assert listed(outcomes, "wrong") == []
    assert listed(outcomes, "crashed") == []


# All cases in all of them take half an hour: `python test/python/case_runner.py`. Here every case is in one.
OTHERS = [(target, form) for target in TARGETS for form in FORMS if form != "plain"]


@pytest.mark.parametrize("target, form", OTHERS)
def test_nothing_is_wrong_in_other_forms(target, form, source, tmp_path):
    first = OTHERS.index((target, form))
    folders = generate(source, tmp_path / "cases")[first :: len(OTHERS)]
    assert len(folders) >= FEWEST // len(OTHERS)
    outcomes = run_all(folders, ROOT / "build" / "bin", tmp_path / "runs", [f"--target={target}"], form)
    print(dict(Counter(outcome.kind for outcome in outcomes.values())))
    assert listed(outcomes, "wrong") == []
    assert listed(outcomes, "crashed") == []
    assert len(listed(outcomes, "right")) > 0.8 * len(folders)
