#!/usr/bin/env python3
"""`semrank embed --output=FILE` through a real server: NumPy and FAISS read its files, and killed runs resume.

usage: embed_file_test.py PROJECT_DIR BINARY_DIR
"""
import gzip
import json
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import faiss  # must precede its contrib
import numpy
from faiss.contrib.vecs_io import fvecs_read

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
MODEL = PROJECT / "tests/testdata/reference_model/dssm"
WORDS = ["cat", "dog", "car", "good", "cats", "dogs", "cars"]  # known to the model
NUM_TEXTS = 50_000  # several checkpoints


def text(i: int) -> str:
    return " ".join(WORDS[(i // 7**k) % 7] for k in range(4))


class EmbedFileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.temporary.name)
        cls.texts = folder / "docs.tsv.gz"
        with gzip.open(cls.texts, "wt", compresslevel=1) as file:
            file.writelines(f"doc{i}\t{text(i)}\n" for i in range(NUM_TEXTS))
        cls.models = folder / "dssm"
        shutil.copytree(MODEL, cls.models)
        cls.server, cls.address = cls.serve(cls.models)
        cls.whole = folder / "whole.npy"
        cls.embed_well(cls.whole)

    @classmethod
    def tearDownClass(cls):
        cls.stop(cls.server)
        cls.temporary.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @classmethod
    def serve(cls, models: pathlib.Path) -> tuple[subprocess.Popen, str]:
        server = subprocess.Popen(
            [BINARIES / "semrank-server", f"--model_dir={models}", "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return server, re.search(r" grpc=(\S+)", server.stdout.readline())[1]

    @classmethod
    def stop(cls, server: subprocess.Popen) -> None:
        server.terminate()
        server.wait()
        server.stdout.close()

    @classmethod
    def command(cls, output: pathlib.Path, *flags: str) -> list:
        return [BINARIES / "semrank", f"--address={cls.address}", "embed", "--side=document", f"--texts={cls.texts}",
                f"--output={output}", *flags]

    @classmethod
    def embed(cls, output: pathlib.Path, *flags: str, **options) -> subprocess.CompletedProcess:
        return subprocess.run(cls.command(output, *flags), capture_output=True, text=True, **options)

    @classmethod
    def embed_well(cls, output: pathlib.Path, *flags: str) -> str:
        run = cls.embed(output, *flags)
        if run.returncode != 0:
            raise AssertionError(run.stderr)
        return run.stderr

    def assert_fails(self, run: subprocess.CompletedProcess, code: int, *words: str) -> None:
        self.assertEqual(run.returncode, code, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)

    def assert_whole(self, output: pathlib.Path) -> None:
        self.assertEqual(output.read_bytes(), self.whole.read_bytes())
        ids = output.with_name(output.name + ".ids").read_text().split()
        self.assertEqual(ids, [f"doc{i}" for i in range(NUM_TEXTS)])
        self.assertEqual(sorted(self.folder.iterdir()), [output, output.with_name(output.name + ".ids")])

    def test_a_model_directory_gives_the_same_bytes_without_a_server(self):
        local = self.folder / "local.npy"
        done = self.embed(local, f"--model_dir={self.models}", "--address=127.0.0.1:1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(local.read_bytes(), self.whole.read_bytes())

    def test_a_model_directory_refuses_bad_texts_and_other_names(self):
        texts = self.folder / "texts.tsv"
        texts.write_bytes(b"a\tcat\nb\t\xff\xfe\n")
        command = [BINARIES / "semrank", "embed", "--side=query", f"--model_dir={self.models}"]
        printed = subprocess.run([*command, f"--texts={texts}", "--max_bad_lines=1"], capture_output=True)
        self.assertEqual(printed.stdout.count(b"\n"), 1)
        self.assertIn(b"UTF-8", printed.stderr)
        other = subprocess.run([*command, "--model=another", "cat"], capture_output=True, text=True)
        self.assertEqual(other.returncode, 1)
        self.assertIn("no model another", other.stderr)
        missing = subprocess.run([*command[:-1], f"--model_dir={self.folder}/none", "cat"], capture_output=True, text=True)
        self.assertEqual(missing.returncode, 1)
        self.assertIn(f"{self.folder}/none", missing.stderr)

    def test_the_longest_text_is_the_same_with_and_without_a_server(self):
        command = [BINARIES / "semrank", f"--address={self.address}", "embed", "--side=query"]
        local = f"--model_dir={self.models}"
        for length, more, refused in ((4096, [], False), (4096, [local], False), (4097, [], True), (4097, [local], True),
                                      (4097, [local, "--max_text_bytes=5000"], False)):
            run = subprocess.run([*command, *more, "cat", "x" * length], capture_output=True, text=True)
            self.assertEqual("4097 bytes, over the limit of 4096 (--max_text_bytes)" in run.stderr, refused, run.stderr)

    def test_numpy_opens_npy_with_the_vectors_of_the_program_without_a_file(self):
        vectors = numpy.load(self.whole, mmap_mode="r")
        self.assertEqual((vectors.shape, vectors.dtype), ((NUM_TEXTS, 4), numpy.dtype("<f4")))
        self.assertGreater(len(numpy.unique(vectors, axis=0)), 50)
        printed = subprocess.run([BINARIES / "semrank", f"--address={self.address}", "embed", "--side=document",
                                  "--output=json", *[text(i) for i in range(50)]], capture_output=True, check=True)
        expected = [json.loads(line)["vector"] for line in printed.stdout.splitlines()]
        self.assertTrue(numpy.array_equal(vectors[:50], numpy.array(expected, "<f4")))

    def test_every_form_has_the_same_vectors(self):
        vectors = numpy.load(self.whole)
        for form in ("fvecs", "safetensors", "jsonl", "tsv"):
            self.embed_well(self.folder / f"docs.{form}")
        self.assertTrue(numpy.array_equal(fvecs_read(str(self.folder / "docs.fvecs")), vectors))

        content = (self.folder / "docs.safetensors").read_bytes()
        length, = struct.unpack("<Q", content[:8])
        header = json.loads(content[8:8 + length])
        self.assertEqual(header["vectors"], {"dtype": "F32", "shape": [NUM_TEXTS, 4], "data_offsets": [0, vectors.nbytes]})
        self.assertEqual(header["__metadata__"], {"model": "dssm", "version": "1", "side": "document"})
        self.assertEqual(content[8 + length:], vectors.tobytes())

        lines = [json.loads(line) for line in (self.folder / "docs.jsonl").read_text().splitlines()]
        self.assertEqual([line["id"] for line in lines], [f"doc{i}" for i in range(NUM_TEXTS)])
        self.assertTrue(numpy.array_equal(numpy.array([line["vector"] for line in lines], "<f4"), vectors))

        rows = [line.split("\t") for line in (self.folder / "docs.tsv").read_text().splitlines()]
        self.assertEqual(rows[17][:2], ["doc17", text(17)])
        self.assertTrue(numpy.array_equal(numpy.array([row[2].split() for row in rows], "<f4"), vectors))

    def test_a_style_of_jsonl_stays_the_same_when_taken_up_again(self):
        output = self.folder / "docs.jsonl"
        self.begin(output, "--jsonl_style=qdrant", size=5_000_000)
        self.assert_fails(self.embed(output, "--jsonl_style=vespa"), 1, "started with lines like ")
        self.embed_well(output, "--jsonl_style=qdrant")
        self.assertEqual([json.loads(line)["payload"]["id"] for line in output.read_text().splitlines()],
                         [f"doc{i}" for i in range(NUM_TEXTS)])

    def test_faiss_finds_a_text_by_its_vector(self):
        vectors = numpy.load(self.whole)[:100]
        index = faiss.IndexFlatL2(4)
        index.add(vectors)
        self.assertEqual(index.search(vectors[40:41], 1)[0][0][0], 0)

    def test_shards_deal_the_lines_out(self):
        vectors = numpy.load(self.whole)
        for i in range(3):
            part = self.folder / f"{i}.npy"
            self.embed_well(part, f"--shard={i + 1}/3")
            self.assertTrue(numpy.array_equal(numpy.load(part), vectors[i::3]))
            self.assertEqual((self.folder / f"{i}.npy.ids").read_text().split()[:2], [f"doc{i}", f"doc{i + 3}"])

    def test_killed_in_the_middle_of_a_write_it_goes_on_to_the_same_bytes(self):
        # The kernel kills a process that writes beyond this size.
        for num_bytes in (1_000, 400_000, 700_000):
            output = self.folder / "docs.npy"
            killed = self.embed(output, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, num_bytes)))
            self.assertLess(killed.returncode, 0)
            self.assertFalse(output.exists())
        self.assertIn("continuing after line 40,000, 40,000 vectors", self.embed_well(output))
        self.assert_whole(output)

    def test_killed_with_sigkill_it_goes_on_to_the_same_bytes(self):
        output = self.folder / "docs.npy"
        state = self.folder / "docs.npy.state"
        with subprocess.Popen(self.command(output), stderr=subprocess.DEVNULL) as process:
            while not state.exists() and process.poll() is None:
                pass
            process.kill()
        self.assertEqual(process.returncode, -9)
        self.assertIn("continuing after line", self.embed_well(output))
        self.assert_whole(output)

    def begin(self, output: pathlib.Path, *flags: str, size: int = 400_000) -> None:
        """Leaves an incomplete file: the disk is full after `size` bytes."""
        run = self.embed(output, *flags, restore_signals=False,  # Python and its child ignore SIGXFSZ
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        self.assert_fails(run, 1, f"write {output}", "File too large")

    def test_what_no_longer_fits_on_the_disk_is_named_and_goes_on_later(self):
        output = self.folder / "docs.npy"
        self.begin(output)
        self.embed_well(output)
        self.assert_whole(output)

    def test_a_full_disk_has_the_hint_to_free_space(self):
        # In a namespace of its own, so that it ends with the command.
        prefix = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=400k tmpfs "$0" && exec "$@"', self.folder]
        if subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
            self.skipTest("cannot mount a tmpfs")
        run = subprocess.run([*prefix, *self.command(self.folder / "docs.npy")], capture_output=True, text=True)
        self.assert_fails(run, 1, ".partial: No space left on device; free some space, then the same command continues")
        self.assertNotIn("server", run.stderr)

    def test_other_options_or_texts_do_not_go_on(self):
        output = self.folder / "docs.npy"
        self.begin(output)
        self.assert_fails(self.embed(output, "--shard=1/2"), 1, "started with shard 1/1", "remove", "docs.npy.state")
        self.assert_fails(self.embed(output, "--format=fvecs"), 1, "started with format npy")
        self.assert_fails(self.embed(output, "--side=query"), 1, "started with side document")
        other = self.folder / "other.tsv"
        other.write_text("a\n")
        self.assert_fails(self.embed(output, f"--texts={other}"), 1, "started with texts ")
        (self.folder / "docs.npy.state").write_text("{}")
        self.assert_fails(self.embed(output), 1, "docs.npy.state is damaged")

    def test_vectors_of_two_models_do_not_meet_in_one_file(self):
        output = self.folder / "docs.npy"
        self.begin(output)
        models = self.folder / "models/dssm"
        shutil.copytree(MODEL / "1", models / "2")
        server, address = self.serve(models)
        try:
            run = self.embed(output, f"--address={address}")
            self.assert_fails(run, 1, "holds vectors of model dssm version 1", "no longer exists")
            self.assert_fails(self.embed(output, f"--address={address}", "--model_version=2"), 1, "started with version 1")
        finally:
            self.stop(server)

    def test_texts_without_ids_have_the_numbers_of_their_lines(self):
        texts = self.folder / "texts"
        texts.write_bytes(b"good dog\n\xff\nxyz\n\n")
        output = self.folder / "v.npy"
        self.assertIn("texts:2: not valid UTF-8", self.embed_well(output, f"--texts={texts}"))
        self.assertEqual((self.folder / "v.npy.ids").read_text(), "1\n3\n4\n")
        self.assertEqual(numpy.load(output).any(axis=1).tolist(), [True, False, False])

    def test_a_text_that_cannot_be_embedded_is_named_and_has_no_row(self):
        texts = self.folder / "texts"
        texts.write_text(f"a\tphoto editor\nb\t{'x' * 900_000}\nc\tmail reader\n")
        output = self.folder / "v.npy"
        self.assert_fails(self.embed(output, f"--texts={texts}"), 1, "texts:2: ",
                          "1 text could not be embedded", "vectors of the other 2")
        self.assertEqual((self.folder / "v.npy.ids").read_text(), "a\nc\n")
        self.assertEqual(len(numpy.load(output)), 2)

    def test_a_file_without_texts_is_a_failure_that_names_it(self):
        empty, output = self.folder / "empty", self.folder / "v.npy"
        empty.touch()
        output.write_text("as it was")
        self.assert_fails(self.embed(output, f"--texts={empty}"), 1, f"--texts={empty}: contains no texts")
        self.assert_fails(self.embed(output, "--texts=-", input=""), 1, "--texts=-: contains no texts")
        self.assertEqual(output.read_text(), "as it was")

    def test_an_empty_shard_of_a_short_file_is_a_file_without_rows(self):
        texts = self.folder / "texts"
        texts.write_text("cat\n")
        self.embed_well(self.folder / "v.npy", f"--texts={texts}", "--shard=2/2")
        self.assertEqual(numpy.load(self.folder / "v.npy").shape, (0, 4))

    def test_a_pipe_is_embedded_from_its_beginning(self):
        run = self.embed(self.folder / "v.npy", "--texts=-", input="7\tphoto editor\n")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual((self.folder / "v.npy.ids").read_text(), "7\n")

    def test_wrong_use_and_places_that_cannot_be_written_are_named(self):
        for flag in ("--jsonl_style=solr", "--vespa_type=doc", "--text_field=id", "--shard=0/4", "--shard=5/4", "--shard=1", "--shard=a/b", "--format=csv"):
            self.assert_fails(self.embed(self.folder / "v.npy", flag), 2, f"{flag}: must be ")
        self.assert_fails(self.embed(self.folder / "v.npy", "--jsonl_style=vespa"), 2, "--jsonl_style: the file is to be npy")
        self.assert_fails(self.embed(self.folder / "v.csv"), 2, "no format has this extension: give --format")
        self.assert_fails(self.embed(pathlib.Path("json"), "--format=npy"), 2, "--format and --shard need --output=FILE")
        self.assert_fails(self.embed(pathlib.Path("/dev/full"), "--format=npy"), 1, "/dev/full: not a regular file")
        self.assert_fails(self.embed(self.folder / "none/v.npy"), 1, "none/v.npy.partial: No such file")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
