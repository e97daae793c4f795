"""A model's vectors and scores, computed plainly: by the code that wrote testdata/reference_model,
which shares nothing with the C++ side. Linear and DSSM towers over letter n-grams (and words).
"""
import json
import pathlib
import struct
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "testdata"))
from make_reference_model import letter_ngrams, normalize  # noqa: E402


def read_tensors(path: pathlib.Path) -> dict[str, numpy.ndarray]:
    data = path.read_bytes()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    return {name: numpy.frombuffer(data[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]], "<f4").reshape(entry["shape"])
            for name, entry in json.loads(data[8:begin]).items() if name != "__metadata__"}


class PlainModel:
    def __init__(self, version: pathlib.Path):
        """`version` is a version folder. Raises ValueError if the model is of another kind."""
        config = json.loads((version / "config.json").read_text())
        if config["tower"] not in ("TOWER_KIND_LINEAR", "TOWER_KIND_DSSM") or config["score_kind"] != "SCORE_KIND_COSINE":
            raise ValueError(f"{version}: neither a linear nor a DSSM model with cosine")
        self.config, self.tensors = config, read_tensors(version / "weights.safetensors")
        files = [version / name for name in ("ngrams.txt", "words.txt") if (version / name).exists()]
        names = [line for path in files for line in path.read_text().split("\n")[:-1]]
        self.num_ngrams = config["features"]["num_ngrams"]
        self.ngrams = {name: i for i, name in enumerate(names[:self.num_ngrams])}
        self.words = {name: i for i, name in enumerate(names[self.num_ngrams:], self.num_ngrams)}
        self.layers = {side: self.layers_of("query" if config["shared_towers"] else side) for side in ("query", "document")}

    def layers_of(self, prefix: str) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
        count = sum(name.startswith(f"{prefix}.") and name.endswith(".weight") for name in self.tensors)
        return [tuple(self.tensors[f"{prefix}.{i}.{part}"].astype(float) for part in ("weight", "bias")) for i in range(count)]

    def embed(self, side: str, text: str) -> numpy.ndarray:
        words = normalize(text)
        found = [self.ngrams[ngram] for word in words for ngram in letter_ngrams(word) if ngram in self.ngrams]
        found += [self.words[word] for word in words if word in self.words]
        first, *others = self.layers[side]
        vector = first[0][found].sum(axis=0) + first[1]
        activate = numpy.tanh if self.config["activation"] == "ACTIVATION_TANH" else lambda x: x
        for weight, bias in others:
            vector = activate(vector) @ weight + bias
        vector = activate(vector)
        norm = numpy.linalg.norm(vector)
        return vector / norm if found and norm >= 1e-12 else numpy.zeros_like(vector)

    def scores(self, query: str, titles: list[str]) -> list[float]:
        vector = self.embed("query", query)
        return [float(vector @ self.embed("document", title)) for title in titles]
