"""Whole networks on the array's RTL: cycles, utilization, what took the rest; every word written compared with golden's.

    python -m benchmarks.utilization                      # all convolutional networks of benchmarks/builders
    python -m benchmarks.utilization resnet50 --config=16x16x1

The networks have seeded random weights and are quantized with made-up data: cycles do not depend on either. Needs
`make build`; prints a Markdown table, one row as soon as it is known.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "build" / "python"))

import tilewright

from benchmarks.build_model import NETWORKS

CONVOLUTIONAL = ["resnet50", "vgg16", "mobilenet_v1", "mobilenet_v2", "squeezenet", "inception_v3", "densenet121"]


def measure(name: str, config: str, check: bool) -> str:
    """One row of the table."""
    model = tilewright.compile(NETWORKS[name](), config=config, quantize="int8", calibration="random:1")
    generator = np.random.default_rng(1)
    feed = {info.name: generator.standard_normal(info.shape).astype(info.dtype) for info in model.inputs}
    modelled = model.profile(feed, executor="model").total["cycles"]
    total = model.profile(feed, executor="rtl", check=check).total
    slots = total["slots"]
    shares = {cause: cycles / total["cycles"] for cause, cycles in total["stalls"].items()}
    shares["mapping"] = slots["mapping"] / slots["all"]
    rest = ", ".join(f"{cause} {share:.1%}" for cause, share in sorted(shares.items(), key=lambda s: -s[1])[:4])
    return (
        f"| {name} | {total['macs'] / 1e6:,.0f} | {total['cycles']:,} | {total['utilization']:.1%} | {rest} | "
        f"{modelled / total['cycles'] - 1:+.2%} | {total['cycles'] / total['simulation_s'] / 1e6:.2f} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)}")
    parser.add_argument("--config", default="4x16x4", help="the array (default: 4x16x4)")
    parser.add_argument("--no-check", action="store_true", help="RTL alone, without golden beside it")
    options = parser.parse_args()
    if unknown := [name for name in options.networks if name not in NETWORKS]:
        parser.error(f"no network {', '.join(unknown)}; there are {', '.join(NETWORKS)}")
    print("| network | MMAC | cycles (RTL) | utilization | what took the rest | cycle model | simulated Mcycles/s |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in options.networks or CONVOLUTIONAL:
        print(measure(name, options.config, not options.no_check), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
