"""Writing: the whole folder or nothing."""

import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import corpus_writer
from corpus_builder import Corpus
from corpus_writer import FILES, OutputError, write_corpus
from held_out import HeldOutQuery

CORPUS = Corpus(
    docs=[("gimp", "gimp: image editor"), ("vlc", "vlc: player")],
    train=[("edit photos", "gimp: image editor")],
    held_out={"dev": [HeldOutQuery("dev-s0001", "plays films", ("vlc", "vlc-bin"))],
              "test": [HeldOutQuery("test-k0001", "streaming", ("vlc",))]},
    counts={})


class CorpusWriterTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name) / "corpus"

    def test_writes_each_file_in_its_format(self):
        write_corpus(CORPUS, {"seed": 1}, self.folder)
        text = {path.name: path.read_text() for path in self.folder.iterdir()}
        self.assertEqual(set(text), set(FILES))
        self.assertEqual(text["docs.tsv"], "gimp\tgimp: image editor\nvlc\tvlc: player\n")
        self.assertEqual(text["train.tsv"], "edit photos\tgimp: image editor\n")
        self.assertEqual(text["dev.queries.tsv"], "dev-s0001\tplays films\n")
        self.assertEqual(text["dev.qrels.txt"], "dev-s0001 0 vlc 1\ndev-s0001 0 vlc-bin 1\n")
        self.assertEqual(text["dev.slices.tsv"], "dev-s0001\tsentence\n")
        self.assertEqual(text["test.slices.tsv"], "test-k0001\tshort\n")
        self.assertEqual(json.loads(text["corpus.json"]), {"seed": 1})

    def test_replaces_an_older_corpus_and_leaves_nothing_beside_it(self):
        write_corpus(CORPUS, {"seed": 1}, self.folder)
        write_corpus(CORPUS, {"seed": 2}, self.folder)
        self.assertEqual(json.loads((self.folder / "corpus.json").read_text()), {"seed": 2})
        self.assertEqual([path.name for path in self.folder.parent.iterdir()], ["corpus"])

    def test_failure_on_the_way_keeps_the_older_corpus(self):
        write_corpus(CORPUS, {"seed": 1}, self.folder)
        with mock.patch.object(corpus_writer.json, "dumps", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                write_corpus(CORPUS, {"seed": 2}, self.folder)
        self.assertEqual(json.loads((self.folder / "corpus.json").read_text()), {"seed": 1})
        self.assertEqual([path.name for path in self.folder.parent.iterdir()], ["corpus"])

    def test_refuses_a_folder_with_other_files(self):
        self.folder.mkdir()
        (self.folder / "thesis.txt").write_text("years of work")
        with self.assertRaisesRegex(OutputError, "thesis.txt"):
            write_corpus(CORPUS, {}, self.folder)
        self.assertTrue((self.folder / "thesis.txt").exists())


if __name__ == "__main__":
    unittest.main()
