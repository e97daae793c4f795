#!/usr/bin/python3
"""CLSM training in PyTorch on the CPU, to measure semrank-train against.

The same model, loss and step as

    semrank-train --tower=clsm --window=3 --noshared_towers --optimizer=sgd \\
        --valid_fraction=0

Windows of words as letter trigrams -> 300, max pooling over the text, tanh ->
128 tanh for each side; else as pytorch_dssm.py, with its flags and output. The
convolution takes each distinct word of a mini-batch once, for all places of the
window, and a window is the sum of three such rows. That, and segment_reduce for
the pooling, are the fastest forms that were found: a bag of trigrams for each
window has three times the entries, and padding texts to the length of the
longest, for amax or max, costs more than all else.
"""
import numpy as np
import torch
from torch import nn
from torch.nn import functional

import pytorch_dssm as dssm

CONVOLUTION_DIM = 300
PADDING = "<s>"


class TextWords:
    """Texts as sequences of numbers of distinct words; 0 is the padding."""

    def __init__(self, texts, vocabulary, window):
        for trigram in dssm.letter_trigrams(PADDING):
            vocabulary.setdefault(trigram, len(vocabulary))
        self.window = window
        numbers = {PADDING: 0}
        margin = [0] * (window // 2)
        padded = [margin + [numbers.setdefault(word, len(numbers))
                            for word in text.split()] + margin
                  for text in texts]
        self.bags = dssm.TextBags(list(numbers), vocabulary)
        self.sizes = np.array([len(words) for words in padded], np.int64)
        self.ends = np.cumsum(self.sizes)
        self.words = np.concatenate(padded).astype(np.int64)

    def select(self, ids):
        """Bags of the distinct words of texts `ids`; for each window of all
        texts the rows [word, place] that it sums; and windows a text."""
        sizes = self.sizes[ids]
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1]) + np.repeat(self.ends[ids] - ends, sizes)
        distinct, words = np.unique(self.words[places], return_inverse=True)
        lengths = sizes - (self.window - 1)
        length_ends = np.cumsum(lengths)
        starts = np.arange(length_ends[-1]) + np.repeat(
            ends - sizes - (length_ends - lengths), lengths)
        place = np.arange(self.window)
        rows = words[starts[:, None] + place] * self.window + place
        features, offsets = self.bags.select(distinct)
        return (features, offsets, torch.from_numpy(rows),
                torch.from_numpy(lengths))


class Tower(nn.Module):
    def __init__(self, num_features, window, sparse):
        super().__init__()
        self.convolution = nn.EmbeddingBag(
            num_features, window * CONVOLUTION_DIM, mode="sum", sparse=sparse)
        limit = (6 / (window * num_features + CONVOLUTION_DIM)) ** 0.5
        nn.init.uniform_(self.convolution.weight, -limit, limit)
        self.bias = nn.Parameter(torch.zeros(CONVOLUTION_DIM))
        self.output = nn.Linear(CONVOLUTION_DIM, dssm.EMBEDDING_DIM)
        nn.init.xavier_uniform_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(self, features, offsets, rows, lengths):
        sums = self.convolution(features, offsets).view(-1, CONVOLUTION_DIM)
        convolved = functional.embedding_bag(rows, sums, mode="sum")
        pooled = torch.segment_reduce(convolved, "max", lengths=lengths, axis=0)
        values = torch.tanh(self.output(torch.tanh(pooled + self.bias)))
        return functional.normalize(values, dim=-1)


if __name__ == "__main__":
    parser = dssm.argument_parser(__doc__)
    parser.add_argument("--window", type=int, default=3)
    chosen = parser.parse_args()
    dssm.train(
        chosen,
        lambda texts, vocabulary: TextWords(texts, vocabulary, chosen.window),
        lambda size: Tower(size, chosen.window,
                           sparse=not chosen.dense_gradients))
