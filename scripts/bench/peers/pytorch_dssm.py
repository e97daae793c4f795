#!/usr/bin/python3
"""DSSM training in PyTorch on the CPU, to measure semrank-train against.

The same model, loss and step as

    semrank-train --noshared_towers --optimizer=sgd --valid_fraction=0

Letter trigrams -> 300 tanh -> 300 tanh -> 128 tanh for each side, cosine,
softmax over gamma x cosine of the clicked title and J others. Bags are made
before the clock starts, as semrank-train makes them. Needs python3-torch.

Prints a JSON object an epoch, with the fields of training.jsonl:
    {"epoch": 1, "pairs": 20480, "seconds": 1.2, "pairs_per_second": 17000.0,
     "train_loss": 1.6}
"""
import argparse
import collections
import json
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

# The paper's network. Its vocabulary sets the number of rows of the first
# layer, whatever the data: dense gradients of few rows would be cheap.
NUM_FEATURES = 30621
HIDDEN_DIM = 300
EMBEDDING_DIM = 128


def letter_trigrams(text):
    for word in text.split():
        marked = f"#{word}#"
        for i in range(len(marked) - 2):
            yield marked[i:i + 3]


class TextBags:
    """Feature numbers of texts, one bag after another."""

    def __init__(self, texts, vocabulary):
        bags = [[vocabulary[g] for g in letter_trigrams(t)] for t in texts]
        self.sizes = np.array([len(bag) for bag in bags], np.int64)
        self.ends = np.cumsum(self.sizes)
        self.features = np.concatenate(bags).astype(np.int64)

    def select(self, ids):
        """The bags of texts `ids` as nn.EmbeddingBag takes them."""
        sizes = self.sizes[ids]
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1]) + np.repeat(self.ends[ids] - ends, sizes)
        return (torch.from_numpy(self.features[places]),
                torch.from_numpy(ends - sizes))


class Tower(nn.Module):
    def __init__(self, num_features, sparse):
        super().__init__()
        self.bags = nn.EmbeddingBag(num_features, HIDDEN_DIM, mode="sum",
                                    sparse=sparse)
        nn.init.xavier_uniform_(self.bags.weight)
        self.bias = nn.Parameter(torch.zeros(HIDDEN_DIM))
        self.hidden = nn.Linear(HIDDEN_DIM, HIDDEN_DIM)
        self.output = nn.Linear(HIDDEN_DIM, EMBEDDING_DIM)
        for layer in (self.hidden, self.output):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, features, offsets):
        values = torch.tanh(self.bags(features, offsets) + self.bias)
        values = torch.tanh(self.output(torch.tanh(self.hidden(values))))
        return functional.normalize(values, dim=-1)


class Trainer:
    def __init__(self, pairs, options, make_bags, make_tower):
        torch.manual_seed(options.seed)
        torch.set_num_threads(options.threads)
        self.options = options
        self.rng = np.random.default_rng(options.seed)
        counts = collections.Counter(
            g for pair in pairs for text in pair for g in letter_trigrams(text))
        vocabulary = {g: i for i, g in enumerate(counts)}
        self.queries = make_bags([pair[0] for pair in pairs], vocabulary)
        self.titles = make_bags([pair[1] for pair in pairs], vocabulary)
        num_features = len(vocabulary)
        if not options.data_vocabulary:
            num_features = max(num_features, NUM_FEATURES)
        self.query_tower = make_tower(num_features)
        self.title_tower = make_tower(num_features)
        weights = [*self.query_tower.parameters(),
                   *self.title_tower.parameters()]
        self.optimizer = torch.optim.SGD(weights, lr=options.learning_rate)
        self.num_pairs = len(pairs)

    def cosines(self, ids):
        """[pairs, candidates], and the column of the clicked title of each."""
        queries = self.query_tower(*self.queries.select(ids))
        negatives, size = self.options.negatives, len(ids)
        if self.options.negative_sampling == "uniform":
            drawn = self.rng.integers(self.num_pairs, size=size * negatives)
            titles = self.title_tower(
                *self.titles.select(np.concatenate((ids, drawn))))
            clicked = (queries * titles[:size]).sum(-1, keepdim=True)
            others = torch.einsum("pd,pjd->pj", queries,
                                  titles[size:].view(size, negatives, -1))
            return torch.cat((clicked, others), 1), torch.zeros(size).long()
        titles = self.title_tower(*self.titles.select(ids))
        if negatives == 0:
            return queries @ titles.t(), torch.arange(size)
        shifts = self.rng.choice(np.arange(1, size), negatives, replace=False)
        columns = [(queries * torch.roll(titles, int(shift), 0)).sum(-1)
                   for shift in (0, *shifts)]
        return torch.stack(columns, 1), torch.zeros(size).long()

    def step(self, ids):
        cosines, clicked = self.cosines(ids)
        loss = functional.cross_entropy(self.options.gamma * cosines, clicked)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run_epoch(self):
        order = self.rng.permutation(self.num_pairs)
        num_batches = -(-self.num_pairs // self.options.batch_size)
        return np.mean([self.step(ids)
                        for ids in np.array_split(order, num_batches)])


def read_pairs(path):
    with open(path, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t")[:2] for line in lines]


def argument_parser(description):
    parser = argparse.ArgumentParser(
        description=description.split("\n", 1)[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("pairs", help="file of lines: query TAB title")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch_size", type=int, default=1024)
    parser.add_argument("--negatives", type=int, default=4,
                        help="J; 0 with in_batch = all others of the batch")
    parser.add_argument("--negative_sampling", default="in_batch",
                        choices=("in_batch", "uniform"))
    parser.add_argument("--gamma", type=float, default=10)
    parser.add_argument("--learning_rate", type=float, default=0.05)
    parser.add_argument("--dense_gradients", action="store_true",
                        help="of the first layer, instead of sparse ones")
    parser.add_argument("--data_vocabulary", action="store_true",
                        help="rows for the features that occur, not for the "
                        "paper's 30,621")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def train(options, make_bags, make_tower):
    trainer = Trainer(read_pairs(options.pairs), options, make_bags, make_tower)
    for epoch in range(1, options.epochs + 1):
        start = time.perf_counter()
        loss = trainer.run_epoch()
        seconds = time.perf_counter() - start
        print(json.dumps({
            "epoch": epoch, "pairs": trainer.num_pairs, "seconds": seconds,
            "pairs_per_second": trainer.num_pairs / seconds,
            "train_loss": loss}), flush=True)


if __name__ == "__main__":
    chosen = argument_parser(__doc__).parse_args()
    train(chosen, TextBags,
          lambda size: Tower(size, sparse=not chosen.dense_gradients))
