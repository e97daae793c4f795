#!/usr/bin/env python3
"""Writes three tiny model directories and the vectors of some texts.

Written from model/format/FORMAT.md alone, with the standard library alone and in
double precision, so that it shares no code and no mistakes with the C++ side.
The result is committed beside this file; reference_model_test compares both.

    make_reference_model.py OUTPUT_DIR
"""
import hashlib
import json
import math
import pathlib
import struct
import sys
import unicodedata

NGRAM_LENGTH = 3

# Index = place in the list. Not every n-gram of the texts is here.
NGRAMS = (
    "#go goo ood od# #a# #ca cat at# car ar# #do dog og# #mc mcd cdo don ona nal "
    "ald lds ds# #st str tra ras ass sse se# #üb übe ber er# caf afé fé# 日本語 "
    "#日本 本語# οδο δοσ οσ# x2# #vi vii iii ii# i\u0307s abc"
).split()
PADDING = "<s>"
WORDS = "cat dog strasse über 日本語 price".split()

TEXTS = [
    "good",
    "Good good GOOD",
    "a",
    "cat, car & dog!",
    "McDonald's",
    "McDonald\u2019s dogs' 'cat'",
    "Straße STRASSE",
    "ÜBER u\u0308ber",
    "cafe\u0301 CAFÉ",
    "日本語 ＡＢＣ",
    "ΟΔΟΣ οδος",
    "x² Ⅷ ½ price",
    "İstanbul",
    "dog-cat_car.cat/dog",
    "\U0001F600 cat\u00A0dog\u200Bcar\tat",
    "한국''어 a''b",
    "zzz qqq",
    "",
    " .,; ",
]


def fold(text):
    text = unicodedata.normalize("NFKC", text)
    while True:
        folded = unicodedata.normalize("NFKC", text.casefold())
        if folded == text:
            return text
        text = folded


def normalize(text):
    """The words of a text."""
    text = fold(text)
    kept = [unicodedata.category(c)[0] in "LMN" for c in text]
    result = ""
    for i, c in enumerate(text):
        if kept[i]:
            result += c
        elif (c in "'\u2019" and i > 0 and kept[i - 1] and i + 1 < len(text)
              and unicodedata.category(text[i + 1])[0] in "LN"):
            pass
        else:
            result += " "
    return fold(result).split()


def letter_ngrams(word):
    marked = "#" + word + "#"
    if len(marked) < NGRAM_LENGTH:
        return [marked]
    return [marked[i:i + NGRAM_LENGTH] for i in range(len(marked) - NGRAM_LENGTH + 1)]


def features(text_words, ngrams, words):
    """Counts by feature number."""
    counts = {}
    for word in text_words:
        found = [ngrams.index(n) for n in letter_ngrams(word) if n in ngrams]
        if word in words:
            found.append(len(ngrams) + words.index(word))
        for feature in found:
            counts[feature] = counts.get(feature, 0) + 1
    return counts


def convolve(text_words, layer, window, ngrams, words):
    """Max pooling over windows, and tanh."""
    weight, bias = layer
    padding = [PADDING] * (window // 2)
    bags = [features([word], ngrams, words) for word in [*padding, *text_words, *padding]]
    h = [[math.fsum(count * weight[f * window + p][j]
                    for p in range(window) for f, count in bags[t + p].items())
          for j in range(len(bias))] for t in range(len(text_words))]
    return [math.tanh(max(row[j] for row in h) + bias[j]) for j in range(len(bias))]


def embed(text, layers, use_tanh, window, ngrams, words):
    text_words = normalize(text)
    counts = features(text_words, ngrams, words)
    width = len(layers[-1][1])
    if not counts:
        return [0.0] * width
    x = [counts.get(f, 0) for f in range(len(ngrams) + len(words))]
    if window:
        x = convolve(text_words, layers[0], window, ngrams, words)
        layers = layers[1:]
    for weight, bias in layers:
        x = [math.fsum([bias[j]] + [x[i] * weight[i][j] for i in range(len(x))])
             for j in range(len(bias))]
        if use_tanh:
            x = [math.tanh(v) for v in x]
    norm = math.sqrt(math.fsum(v * v for v in x))
    if norm < 1e-12:
        return [0.0] * width
    return [v / norm for v in x]


class Numbers:
    """Multiples of 1/1024 in (-1, 1), exact in float32; the same in every run."""

    def __init__(self):
        self.state = 1

    def next(self):
        self.state = (self.state * 1103515245 + 12345) % 2**31
        return (self.state // 2**16 % 2047 - 1023) / 1024

    def layers(self, widths):
        return [([[self.next() for _ in range(n)] for _ in range(m)],
                 [self.next() for _ in range(n)])
                for m, n in zip(widths, widths[1:])]


def safetensors(tensors):
    """Bytes of a file of (name, shape, values)."""
    header, data = {}, b""
    for name, shape, values in tensors:
        raw = struct.pack("<%df" % len(values), *values)
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return struct.pack("<Q", len(text)) + text + data


def tensors_of(prefix, layers):
    for i, (weight, bias) in enumerate(layers):
        yield ("%s.%d.weight" % (prefix, i), [len(weight), len(bias)],
               [v for row in weight for v in row])
        yield "%s.%d.bias" % (prefix, i), [len(bias)], bias


def write_version(folder, config, towers, ngrams, words):
    files = {
        "config.json": (json.dumps(config, indent=1) + "\n").encode(),
        "ngrams.txt": "".join(n + "\n" for n in ngrams).encode(),
        "words.txt": "".join(w + "\n" for w in words).encode(),
        "weights.safetensors": safetensors(
            [t for prefix, layers in towers.items() for t in tensors_of(prefix, layers)]),
    }
    if not words:
        del files["words.txt"]
    manifest = {name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
                for name, content in files.items()}
    manifest["format_version"] = 1
    files["MANIFEST.json"] = (json.dumps(manifest, indent=1) + "\n").encode()
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def write_model(folder, config, ngrams, words):
    config["features"] = {
        "normalizer_version": 1,
        "kind": "FEATURE_KIND_LETTERS_AND_WORDS" if words else "FEATURE_KIND_LETTERS",
        "ngram_length": NGRAM_LENGTH, "num_ngrams": len(ngrams), "num_words": len(words)}
    window = config.get("clsm_window", 0)
    inputs = (len(ngrams) + len(words)) * max(1, window)
    widths = [inputs, *config["hidden_dims"], config["embedding_dim"]]
    numbers = Numbers()
    towers = {"query": numbers.layers(widths)}
    if not config["shared_towers"]:
        towers["document"] = numbers.layers(widths)
    write_version(folder / "1", config, towers, ngrams, words)

    vectors = {"texts": TEXTS, "normalized": [" ".join(normalize(t)) for t in TEXTS]}
    for side in ["query", "document"]:
        layers = towers.get(side, towers["query"])
        use_tanh = config["activation"] == "ACTIVATION_TANH"
        # Nine digits: an ulp of another libm's tanh does not show.
        vectors[side] = [[round(v, 9) for v in embed(t, layers, use_tanh, window, ngrams, words)]
                         for t in TEXTS]
    (folder / "vectors.json").write_text(
        json.dumps(vectors, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    output = pathlib.Path(sys.argv[1])
    common = {"format_version": 1, "embedding_dim": 4, "gamma": 10,
              "score_kind": "SCORE_KIND_COSINE"}
    write_model(output / "dssm",
                {**common, "tower": "TOWER_KIND_DSSM", "hidden_dims": [6, 5],
                 "activation": "ACTIVATION_TANH", "shared_towers": False},
                NGRAMS, WORDS)
    write_model(output / "clsm",
                {**common, "tower": "TOWER_KIND_CLSM", "hidden_dims": [6], "clsm_window": 3,
                 "activation": "ACTIVATION_TANH", "shared_towers": False},
                [*NGRAMS, "#<s", "<s>", "s>#"], [*WORDS, PADDING])
    write_model(output / "linear",
                {**common, "tower": "TOWER_KIND_LINEAR", "hidden_dims": [],
                 "activation": "ACTIVATION_IDENTITY", "shared_towers": True},
                NGRAMS, [])


if __name__ == "__main__":
    main()
