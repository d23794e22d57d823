# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""From a program of the corpus to an executable."""

import re
import subprocess
from pathlib import Path

import sources_c
import sources_fortran
from axes import OPENMP, Spec

ENDINGS = {"C": "c", "C++": "cpp", "Fortran": "f90"}
COMPILERS = {"C": ("gcc",), "C++": ("g++", "-std=c++20"), "Fortran": ("gfortran",)}
DEBUG = {"-g": ("-g",), "none": (), "stripped": ("-s",)}


def source_of(spec: Spec) -> str:
    return sources_fortran.source(spec) if spec.language == "Fortran" else sources_c.source(spec)


def build(spec: Spec, folder: Path, name: str) -> Path:
    """The executable FOLDER/NAME, whose source lies beside it."""
    file = folder / f"{name}.{ENDINGS[spec.language]}"
    file.write_text(source_of(spec))
    with_openmp = spec.work in OPENMP or spec.work == "workshare"
    words = [*COMPILERS[spec.language], "-O2", *DEBUG[spec.debug], *(["-fopenmp"] if with_openmp else []),
             str(file), "-o", str(folder / name), "-lpthread", *(["-ltbb"] if spec.work == "oneTBB" else [])]
    subprocess.run(words, check=True, capture_output=True, text=True, cwd=folder)
    return folder / name


def marked_lines(source: Path, *words: str) -> set[str]:
    """ "NAME:LINE" of the lines whose mark has one of the words."""
    found = set()
    for number, line in enumerate(source.read_text().splitlines(), 1):
        mark = re.search(r"(?://|!) ((?:made|touch|use)(?:, (?:made|touch|use))*)$", line)
        if mark and set(mark[1].split(", ")) & set(words):
            found.add(f"{source.name}:{number}")
    return found
