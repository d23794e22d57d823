# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Unpacks the kernel inside a bzImage, which saves seconds of emulated decompression."""

import lzma
import shutil
import struct
import subprocess
import zlib

_SETUP_SECTORS = 0x1F1
_MAGIC = 0x202
_VERSION = 0x206
_PAYLOAD = 0x248
_FIRST_VERSION_WITH_PAYLOAD = 0x0208

_NOTE_SEGMENT = 4
_XEN_PHYS32_ENTRY = 18  # the note by which QEMU finds the entry of an ELF kernel (PVH)


class NotExtractable(Exception):
    """QEMU must start the bzImage itself; the text is the reason."""


def vmlinux(image: bytes) -> bytes:
    """The ELF kernel; raises NotExtractable if QEMU cannot start it."""
    elf = _decompress(_payload(image))
    if not elf.startswith(b"\x7fELF"):
        raise NotExtractable("its content is not an ELF file")
    if not _has_pvh_entry(elf):
        raise NotExtractable("it was built without CONFIG_PVH")
    return elf


def _payload(image: bytes) -> bytes:
    if image[_MAGIC : _MAGIC + 4] != b"HdrS":
        raise NotExtractable("it is not a bzImage")
    (version,) = struct.unpack_from("<H", image, _VERSION)
    if version < _FIRST_VERSION_WITH_PAYLOAD:
        raise NotExtractable("its boot protocol is older than 2.08")
    offset, length = struct.unpack_from("<II", image, _PAYLOAD)
    start = (image[_SETUP_SECTORS] + 1) * 512 + offset
    return image[start : start + length]


def _decompress(payload: bytes) -> bytes:
    # In all formats but gzip the unpacked size follows in 4 bytes, which the tools reject.
    if payload.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31).decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        return _filter(payload[:-4], "zstd", "-dc")
    if payload.startswith(b"\x02\x21\x4c\x18"):
        return _filter(payload[:-4], "lz4", "-dc")
    raise NotExtractable(f"its compression is unknown (it starts with {payload[:4].hex()})")


def _filter(data: bytes, *command: str) -> bytes:
    if shutil.which(command[0]) is None:
        raise NotExtractable(f"the command {command[0]} is not installed")
    result = subprocess.run(command, input=data, capture_output=True)
    if result.returncode != 0:
        raise NotExtractable(f"{command[0]} reports: {result.stderr.decode(errors='replace').strip()}")
    return result.stdout


def _has_pvh_entry(elf: bytes) -> bool:
    (table,) = struct.unpack_from("<Q", elf, 0x20)
    size, count = struct.unpack_from("<HH", elf, 0x36)
    for index in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", elf, table + index * size)
        if kind == _NOTE_SEGMENT and _notes_name_entry(elf[offset : offset + length]):
            return True
    return False


def _notes_name_entry(notes: bytes) -> bool:
    position = 0
    while position + 12 <= len(notes):
        name_size, description_size, kind = struct.unpack_from("<III", notes, position)
        name = notes[position + 12 : position + 12 + name_size]
        if name == b"Xen\0" and kind == _XEN_PHYS32_ENTRY:
            return True
        position += 12 + (name_size + 3 & ~3) + (description_size + 3 & ~3)
    return False
