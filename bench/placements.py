# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What placements that know nothing of a program make of the examples: the remote share of the use phase,
counted in the lab on lab:4x2. As it is; with pages in turn over all nodes; with arrays in blocks; with the
kernel's NUMA balancing; by the plan that `nodewise profile` makes of the run as it is; and fixed in the source.
Of the kernels and of the sparse matrix that one thread builds also the time that the model predicts for what was
counted, on a machine of as many nodes whose figures are published. A count of a virtual machine, so the host matters
little."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from machine import describe_machine

MACHINE = "4x2"
PRICED_ON = "lab:opteron-4x2"
PRICED_TOO = {"sparse-matrix"}  # beside the kernels
# Programs in one virtual machine: what stops one stops at most so many.
AT_ONCE = 12
BOUND = ("--bind", "close")
# Name -> options of `nodewise run`, options of the lab.
VARIANTS = {
    "plain": (BOUND, ()),
    "unbound": ((), ()),
    "interleave": ((*BOUND, "-i", "all"), ()),
    "blocked": ((*BOUND, "--memory", "blocked"), ()),
    "balancing": (BOUND, ("--on-numa-balancing", "1")),
}
COLUMNS = [*VARIANTS, "plan", "cured"]


def counted_alone(run_batch, nodewise, form, options, lab_options):
    """The remote share of one form, and its predicted time in seconds; None where it failed."""
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as name:
        os.chmod(name, 0o777)
        (each,) = run_batch(MACHINE, [form.words()], pathlib.Path(name), run=options, lab_options=lab_options,
                            timeout=1800)
        if each.status != 0:
            return None, None
        priced = subprocess.run([nodewise, "model", "-i", PRICED_ON, "--json", "counts.json"], cwd=name,
                                capture_output=True, text=True, check=True)
    return round(each.use.share, 4), json.loads(priced.stdout)["predicted"]["seconds"]


def shares(run_batch, forms, options, lab_options):
    """The remote share of each form; None where it failed."""
    found = {}
    for first in range(0, len(forms), AT_ONCE):
        some = forms[first : first + AT_ONCE]
        with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as name:
            os.chmod(name, 0o777)
            counted = run_batch(MACHINE, [form.words() for form in some], pathlib.Path(name), run=options,
                                lab_options=lab_options, timeout=1800)
        for form, each in zip(some, counted, strict=True):
            print(f"{form.name} {' '.join([*options, *lab_options])}: {percent(each.use.share)}", file=sys.stderr)
            found[form] = round(each.use.share, 4) if each.status == 0 else None
    return found


def plan_of(nodewise, form, directory):
    """The file of the plan for the form as it is, or None where the profiler has none to offer."""
    file = directory / f"{form.name}.plan.json"
    subprocess.run([nodewise, "profile", "--quiet", "--on", f"lab:{MACHINE}", "--on-timeout", "1800", *BOUND,
                    "--write-plan", str(file), "--", *form.words()],
                   cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return file if file.exists() else None


def measure(run_batch, nodewise, program, is_priced, results):
    """The columns `plan` of a program, and of one with times all others once more, alone."""
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as name:
        os.chmod(name, 0o777)
        plan = plan_of(nodewise, program.usual, pathlib.Path(name))
        planned = ("--plan", str(plan)) if plan else BOUND
        variants = {"plan": (program.usual, planned, ())}
        if is_priced:
            variants |= {variant: (program.usual, *how) for variant, how in VARIANTS.items()}
            variants["cured"] = (program.cured, BOUND, ())
        seconds = {}
        for variant, how in variants.items():
            results[variant], seconds[variant] = counted_alone(run_batch, nodewise, *how)
            print(f"{program.name} {variant}: {percent(results[variant])}", file=sys.stderr)
        if is_priced:
            results["predicted_s"] = {column: seconds[column] for column in COLUMNS}


def percent(share):
    return f"{100 * share:.1f} %" if share is not None else "-"


def milliseconds(seconds):
    return f"{1e3 * seconds:.3g}" if seconds is not None else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodewise", required=True, help="build/PRESET/bin/nodewise")
    parser.add_argument("--only", nargs="+", help="these programs; the output file's other results are kept")
    parser.add_argument("--output", help="its earlier results are kept where --only or --plans leaves them out")
    parser.add_argument("--plans", action="store_true", help="only the column of the plans, and the kernels")
    arguments = parser.parse_args()
    nodewise = pathlib.Path(arguments.nodewise).resolve()
    os.environ["NODEWISE_BUILD"] = str(nodewise.parents[1])
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/lab"))
    from batch import run_batch
    from patterns import EARLIER, KERNELS, PROGRAMS, UNPINNED

    every = (*PROGRAMS, UNPINNED, *KERNELS, *EARLIER)
    programs = [each for each in every if arguments.only is None or each.name in arguments.only]
    kept = {}
    if arguments.output and (arguments.only or arguments.plans):
        kept = json.loads(pathlib.Path(arguments.output).read_text())["results"]
    results = {each.name: kept.get(each.name, {}) | {"pattern": each.pattern, "command": each.usual.command}
               for each in programs}
    others = [each for each in programs if each not in KERNELS]
    for variant, (options, lab_options) in VARIANTS.items() if not arguments.plans else ():
        found = shares(run_batch, [each.usual for each in others], options, lab_options)
        for each in others:
            results[each.name][variant] = found[each.usual]
    if not arguments.plans:
        found = shares(run_batch, [each.cured for each in others], BOUND, ())
        for each in others:
            results[each.name]["cured"] = found[each.cured]
    for each in programs:
        measure(run_batch, nodewise, each, each in KERNELS or each.name in PRICED_TOO, results[each.name])

    print(f"{'remote share in use':22}" + "".join(f"{column:>12}" for column in COLUMNS))
    for name, result in results.items():
        print(f"{name:22}" + "".join(f"{percent(result.get(column)):>12}" for column in COLUMNS))
    print("predicted time, ms")
    for name, result in results.items():
        if seconds := result.get("predicted_s"):
            print(f"{name:22}" + "".join(f"{milliseconds(seconds[column]):>12}" for column in COLUMNS))
    if arguments.output:
        results = {each.name: results.get(each.name) or kept[each.name] for each in every
                   if each.name in results or each.name in kept}
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-placements/1", "machine": describe_machine(),
                       "lab": MACHINE, "priced_on": PRICED_ON, "results": results}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
