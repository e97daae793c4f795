"""Generates the messages and stubs from proto/ with protoc and grpc_python_plugin
(Debian: protobuf-compiler, protobuf-compiler-grpc), straight into the wheel."""
import pathlib
import re
import shutil
import subprocess
import tempfile

import setuptools
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTO = ROOT / "proto"


class BuildWithStubs(build_py):
    def run(self) -> None:
        super().run()
        package = pathlib.Path(self.build_lib) / "semrank"
        with tempfile.TemporaryDirectory() as generated:
            self.generate(pathlib.Path(generated))
            for path in sorted(pathlib.Path(generated).rglob("*.py*")):
                to = package / ("_google_rpc" if path.parts[-2] == "rpc" else "v1") / path.name
                to.write_text(self.with_our_google_rpc(path.read_text()))

    @staticmethod
    def generate(folder: pathlib.Path) -> None:
        plugin = shutil.which("grpc_python_plugin")
        if plugin is None:
            raise SystemExit("no grpc_python_plugin on the PATH (Debian: protobuf-compiler-grpc)")
        protos = [path.relative_to(PROTO) for path in sorted(PROTO.glob("semrank/v1/*.proto"))]
        subprocess.run(["protoc", f"-I{PROTO}", f"--plugin=protoc-gen-grpc_python={plugin}", f"--python_out={folder}",
                        f"--pyi_out={folder}", f"--grpc_python_out={folder}", *protos], check=True)
        subprocess.run(["protoc", f"-I{PROTO}", f"--python_out={folder}", f"--pyi_out={folder}",
                        "google/rpc/status.proto", "google/rpc/error_details.proto"], check=True)

    @staticmethod
    def with_our_google_rpc(source: str) -> str:
        # A package of our own named google.rpc would hide that of
        # googleapis-common-protos: semrank._google_rpc decides which is used.
        return re.sub(r"^from google\.rpc import (\w+)_pb2", r"from semrank._google_rpc import \1", source, flags=re.MULTILINE)


def version() -> str:
    return re.search(r"project\(semrank VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


setuptools.setup(version=version(), cmdclass={"build_py": BuildWithStubs})
