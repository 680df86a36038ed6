"""The demo's first half: the face is found by int8 networks on the array's RTL, and every run agrees with the reference."""


def test_finds_the_face_on_the_array(model, tmp_path):
    from benchmarks.demo.faces import find_faces

    for name in ("pnet", "rnet", "onet"):
        model(name)  # skips where no registry is reachable
    lines = []
    assert find_faces(tmp_path / "faces.png", lines.append), "\n".join(lines)
    assert (tmp_path / "faces.png").stat().st_size > 100_000
    totals = [line for line in lines if "compared with the reference" in line]
    assert len(totals) == 3
    assert all(line.endswith(", 0 differ") for line in totals)
