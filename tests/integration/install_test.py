#!/usr/bin/env python3
"""Installs the client library, builds client/example against it with
find_package(semrank), and ranks with a real server.

usage: install_test.py PROJECT_DIR BUILD_DIR BINARY_DIR COMPILER COMPILER_FLAGS
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROJECT, BUILD, BINARIES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
COMPILER, FLAGS = sys.argv[4:6]
MODEL = PROJECT / "tests/testdata/reference_model/dssm"


def run(*command) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command}\nexit {done.returncode}\n{done.stdout}")
    return done.stdout


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--component", "client", "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def build(self, project: pathlib.Path) -> None:
        out = self.folder / project.name
        run("cmake", "-G", "Ninja", "-S", project, "-B", out, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_CXX_FLAGS={FLAGS}")
        run("cmake", "--build", out)

    def test_the_example_ranks_titles(self):
        self.build(PROJECT / "client/example")
        server = subprocess.Popen(
            [BINARIES / "semrank-server", f"--model_dir={MODEL}", "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = re.search(r" grpc=(\S+)", server.stdout.readline())[1]
            printed = run(self.folder / "example/rank_titles", address, "edit photos", "mail reader", "photo editor")
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()
        lines = printed.splitlines()
        self.assertEqual(sorted(line.split(maxsplit=1)[1] for line in lines), ["mail reader", "photo editor"])
        scores = [float(line.split()[0]) for line in lines]
        self.assertEqual(scores, sorted(scores, reverse=True))

    def test_every_public_header_finds_what_it_includes(self):
        names = {str(path.relative_to(self.prefix / "include/semrank")) for path in self.prefix.rglob("*.h")}
        self.assertIn("client/lib/semrank_client.h", names)
        for name in names:
            text = (self.prefix / "include/semrank" / name).read_text()
            for include in re.findall(r'#include "((?:client|model|semrank|grpc/health|google/rpc)/[^"]+)"', text):
                self.assertIn(include, names, name)

    def test_proto_files_are_there_for_other_languages(self):
        run("protoc", f"-I{self.prefix}/share/semrank/proto", "--descriptor_set_out=/dev/null",
            *self.prefix.glob("share/semrank/proto/semrank/v1/*.proto"))

    def test_another_minor_version_is_not_found(self):
        project = self.folder / "wants_newer"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(wants_newer NONE)\nfind_package(semrank 99.0 QUIET)\n"
            'if(semrank_FOUND OR NOT semrank_CONSIDERED_VERSIONS)\n  message(FATAL_ERROR "found")\nendif()\n')
        run("cmake", "-S", project, "-B", self.folder / "out", f"-DCMAKE_PREFIX_PATH={self.prefix}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
