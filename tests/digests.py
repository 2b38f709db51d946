"""Digests of what every estimator learns: two versions that write the same file learn the same models, bit for bit.

    python tests/digests.py OUT.json            all groups
    python tests/digests.py OUT.json PREFIX …   those whose names begin so

OUT.json maps "group/label" to {"w": sha256 of the weights, "value": repr of the objective in the certificate or null,
"predict": sha256 of the repr of some predictions}, or to {"error": …} where a training failed. Nothing is read but the
library itself and the data beside this file.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from functools import partial

from digest_groups.fits import GROUPS, Fits, failed
from threadpoolctl import threadpool_limits


def main(out, *prefixes):
    warnings.simplefilter("ignore")
    results = {}
    for name, function in GROUPS.items():
        if name.startswith(prefixes or ""):
            found, start = {}, time.perf_counter()
            try:
                function(partial(Fits, found))
            except Exception as error:
                found["all"] = failed(error)
            print(f"{name}: {len(found)} models, {time.perf_counter() - start:.1f} s", flush=True)
            results |= {f"{name}/{label}": each for label, each in found.items()}
    for name, each in results.items():
        if "error" in each:
            print(f"{name}: {each['error']}")
    with open(out, "w") as file:
        json.dump(results, file, indent=1, sort_keys=True)


if __name__ == "__main__":
    with threadpool_limits(1):  # so that sums of BLAS and OpenMP have one order
        main(*sys.argv[1:])
