"""Makes the wheel of the package beside this file. pip calls it (PEP 517, PEP 660); it needs nothing but Python, so that
`pip install ./python` works without a network too. The wheel has no program in it: that one tools/portable.py makes."""

import base64
import hashlib
import pathlib
import re
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TOML = (HERE / "pyproject.toml").read_text()
PROJECT = dict(re.findall(r'^([\w-]+) = "(.*)"$', TOML[TOML.index("[project]"):], re.M))
NAME, VERSION = PROJECT["name"], PROJECT["version"]
NEEDS = re.findall(r'"(.+?)"', re.findall(r"^dependencies = \[(.*)\]$", TOML, re.M)[0])
METADATA = "".join(f"{line}\n" for line in (
    "Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {VERSION}", f"Summary: {PROJECT['description']}", "License: MIT",
    f"Requires-Python: {PROJECT['requires-python']}", *(f"Requires-Dist: {need}" for need in NEEDS)))
ANY = "py3-none-any"


def write(folder, files, tag=ANY):
    """A wheel of {name: bytes}; its name."""
    info = f"{NAME}-{VERSION}.dist-info"
    about = f"Wheel-Version: 1.0\nGenerator: build_backend\nRoot-Is-Purelib: {str(tag == ANY).lower()}\nTag: {tag}\n"
    files = {**files, f"{info}/METADATA": METADATA.encode(), f"{info}/WHEEL": about.encode()}
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{NAME}-{VERSION}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))  # the same files, the same bytes
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return wheel


def package_files():
    return {f"{NAME}/{path.name}": path.read_bytes() for path in sorted((HERE / NAME).iterdir()) if path.suffix in (".py", ".typed", ".html")}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write(wheel_directory, package_files())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write(wheel_directory, {f"{NAME}.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("attnscope is installed from the folder of its source")
