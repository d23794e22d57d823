# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The guest's kernel: unpacks it and its modules from the distribution's package into the cache."""

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import bzimage, cache, modules, packages
from .errors import LabError, Reporter

# Directories of the module tree with the modules that the guest may need, and their dependencies.
_MODULE_FILES = re.compile(
    r"lib/modules/[^/]+/kernel/(?:(?:drivers/(?:virtio|char)|net/9p|fs/(?:9p|netfs|fscache|overlayfs|ext4|jbd2))/.*"
    r"|drivers/net/(?:virtio_net|net_failover)|net/core/failover|drivers/block/virtio_blk|fs/mbcache"
    r"|lib/(?:crc16|libcrc32c)|crypto/(?:crc32c_generic|crc16))\.ko[.a-z]*"
)
_BUILTIN_LIST = re.compile(r"lib/modules/[^/]+/modules\.builtin")
_IMAGE = re.compile(r"boot/vmlinuz-.*")

# Returns the files whose paths match a pattern, from packages or from the system.
_Read = Callable[[re.Pattern[str]], dict[str, bytes]]


@dataclass(frozen=True)
class Kernel:
    entry: cache.Entry
    image: Path  # an ELF vmlinux; the bzImage if it could not be unpacked
    modules: tuple[Path, ...]  # in loading order
    for_disk: tuple[Path, ...]  # of these, what only a guest with a disk needs


def _from_entry(entry: cache.Entry) -> Kernel | None:
    about = entry.about()
    if about.get("wanted") != [*modules.WANTED, *modules.FOR_DISK]:  # of an older version, without all modules
        return None
    files = tuple(entry.path / name for name in about["modules"])
    return Kernel(entry, entry.path / about["image"], files, tuple(entry.path / name for name in about["for_disk"]))


def ensure(reporter: Reporter) -> Kernel:
    """The kernel that the environment names, else the newest in the cache, else the distribution's current one."""
    if chosen := os.environ.get("NODEWISE_KERNEL_DEB"):
        return _from_files([Path(name).absolute() for name in chosen.split(":")], reporter)
    if chosen := os.environ.get("NODEWISE_KERNEL"):
        return _from_installed(Path(chosen), reporter)
    cached = [entry for entry in cache.entries() if entry.kind == "kernel" and entry.about().get("from") == "apt"]
    for entry in sorted(cached, key=lambda entry: entry.about()["made"], reverse=True):
        if kernel := _from_entry(entry):
            return kernel
    return fetch(reporter)


def fetch(reporter: Reporter) -> Kernel:
    """Downloads the distribution's current kernel, unless the cache has it."""
    cache.require_writable()
    try:
        names = packages.current_packages()
        entry = cache.entry("kernel", names[0].removeprefix("linux-image-"))
        return _from_entry(entry) or _made(entry, "apt", partial(_download, names, reporter), reporter)
    except LabError as error:
        installed = _readable_installed()
        if installed is None:
            raise
        reporter.warning(f"using the installed kernel {installed}: {error}")
        return _from_installed(installed, reporter)


def _download(names: list[str], reporter: Reporter, wanted: re.Pattern[str]) -> dict[str, bytes]:
    reporter.note(f"downloading {', '.join(names)} for the virtual machines (once; nothing is installed)")
    return packages.read_downloaded(names, wanted)


def _from_files(files: list[Path], reporter: Reporter) -> Kernel:
    for file in files:
        if not file.is_file():
            asked = f"cannot read the kernel package {file} (NODEWISE_KERNEL_DEB)"
            hint = "correct NODEWISE_KERNEL_DEB, or unset it to use the distribution's kernel"
            raise LabError(asked, "there is no such file", hint)
    entry = _entry_of(files[0].stem.split("_")[0].removeprefix("linux-image-"), files)
    return _made(entry, "deb", partial(packages.read, files), reporter)


def _from_installed(image: Path, reporter: Reporter) -> Kernel:
    release = image.name.removeprefix("vmlinuz-")
    tree = Path("/lib/modules") / release
    if not os.access(image, os.R_OK) or not tree.is_dir():
        asked = f"cannot use the kernel {image} with the modules in {tree}"
        hint = "use the distribution's package instead: unset NODEWISE_KERNEL"
        raise LabError(asked, "one of them is missing or not readable", hint)

    def read(wanted: re.Pattern[str]) -> dict[str, bytes]:
        paths = {str(path)[1:]: path for path in (image, *tree.rglob("*"))}
        return {name: path.read_bytes() for name, path in paths.items() if wanted.fullmatch(name) and path.is_file()}

    return _made(_entry_of(release, [image]), "installed", read, reporter)


def _readable_installed() -> Path | None:
    images = sorted(Path("/boot").glob("vmlinuz-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    usable = (
        i for i in images if os.access(i, os.R_OK) and (Path("/lib/modules") / i.name[8:] / "kernel/fs/9p").is_dir()
    )
    return next(usable, None)


def _entry_of(name: str, files: list[Path]) -> cache.Entry:
    """Its key changes when the user's files change."""
    stamps = [f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]
    return cache.entry("kernel", f"{name}-{hashlib.sha256(' '.join(stamps).encode()).hexdigest()[:8]}")


def _made(entry: cache.Entry, origin: str, read: _Read, reporter: Reporter) -> Kernel:
    with cache.locked(f"kernel-{entry.key}", patience_seconds=120):
        return _from_entry(entry) or _unpack(entry, origin, read, reporter)


def _unpack(entry: cache.Entry, origin: str, read: _Read, reporter: Reporter) -> Kernel:
    files = read(re.compile("|".join(p.pattern for p in (_MODULE_FILES, _BUILTIN_LIST, _IMAGE))))
    image_path = next((path for path in files if _IMAGE.fullmatch(path)), None)
    if image_path is None:
        hint = "use the distribution's package: unset NODEWISE_KERNEL_DEB"
        raise LabError("cannot find a kernel image in the packages", "they contain no file boot/vmlinuz-*", hint)
    ordered = _needed_modules(files)
    try:
        image_name, image = "vmlinux", bzimage.vmlinux(files[image_path])
    except bzimage.NotExtractable as error:
        reporter.warning(f"cannot unpack the kernel, so the first start takes longer: {error}")
        image_name, image = "vmlinuz", files[image_path]
    plain = modules.without_disk(list(ordered), ordered.__getitem__)
    about = {
        "from": origin,
        "release": image_path.removeprefix("boot/vmlinuz-"),
        "image": image_name,
        "modules": [f"{name}.ko" for name in ordered],
        "for_disk": [f"{name}.ko" for name in ordered if name not in plain],
        "wanted": [*modules.WANTED, *modules.FOR_DISK],
        "made": cache.now(),
    }
    return _store(entry, about, {image_name: image} | {f"{name}.ko": content for name, content in ordered.items()})


def _needed_modules(files: dict[str, bytes]) -> dict[str, bytes]:
    by_name = {name: path for path in files if (name := modules.name_of(path))}
    builtin = "".join(content.decode() for path, content in files.items() if _BUILTIN_LIST.fullmatch(path))

    def content(name: str) -> bytes | None:
        path = by_name.get(name)
        return modules.decompress(path, files[path]) if path else None

    try:
        return modules.load_order(content, modules.builtin_names(builtin))
    except KeyError as error:
        answered = "this kernel has it neither as a module nor built in"
        hint = "use a generic kernel, not a cloud kernel: unset NODEWISE_KERNEL NODEWISE_KERNEL_DEB"
        raise LabError(f"cannot find the kernel module {error.args[0]}", answered, hint) from error
    except OSError as error:
        hint = "install zstd: sudo apt-get install zstd"
        raise LabError("cannot unpack the kernel's modules", str(error), hint) from error


def _store(entry: cache.Entry, about: dict, files: dict[str, bytes]) -> Kernel:
    try:
        with cache.creating(entry, about) as directory:
            for name, content in files.items():
                (directory / name).write_bytes(content)
    except OSError as error:
        raise cache.failure("cannot store the kernel in the cache", error) from error
    kernel = _from_entry(entry)
    assert kernel is not None
    return kernel
