"""The Python package as a user installs it: built as a wheel, without network."""
import pathlib
import shutil
import subprocess


def install_package(project: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Python of a virtual environment that has the wheel."""
    for name in ("client/python", "proto"):
        shutil.copytree(project / name, folder / name, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    shutil.copy(project / "CMakeLists.txt", folder)
    python = folder / "venv/bin/python"
    for command in (
            ["/usr/bin/python3", "-m", "build", "--wheel", "--no-isolation", f"--outdir={folder}", folder / "client/python"],
            ["/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", folder / "venv"],
            [python, "-m", "pip", "install", "--quiet", "--no-index", f"--find-links={folder}", "semrank"]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return python
