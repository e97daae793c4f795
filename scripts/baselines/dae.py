#!/usr/bin/python3
"""DAE, the deep auto-encoder (semantic hashing).

Row 6 of table 2 of the DSSM paper, which describes it in sections 2.2 and 4.2;
Salakhutdinov and Hinton, IJAR 50(7), 2009. Layers words - 300 - 300 - 128 - 300 -
300 - words, at most 40,000 words; a stack of restricted Boltzmann machines, each
learned by contrastive divergence on the layer below, is unrolled and fine-tuned
with the cross-entropy of the reconstruction; titles alone are learned from.

    score(Q, D) = cos(code of Q, code of D), code = the 128 linear units

Left open by the DSSM paper: the machines' details. Here, after Salakhutdinov and
Hinton: the lowest machine sees a title's word counts as one softmax repeated
for each word (replicated softmax); hidden units are sigmoids, the 128 linear;
CD-1, learning rate 0.01 for 20 epochs each; encoder and decoder start as
transposes and are then separate; Adam, rate 0.001, 20 epochs, batches of 256.
"""
import torch
from torch import nn

from collection import Vocabulary, parser, read_pairs, read_texts, unit_rows, write_run

SIZES = (300, 300, 128)


def dense(counts, rows):
    return torch.from_numpy(counts[rows].toarray()).float()


class Machine:
    """A restricted Boltzmann machine learned by CD-1. `softmax`: the visible
    units are word counts. `linear`: the hidden units are Gaussian."""

    def __init__(self, num_visible, num_hidden, softmax, linear):
        self.weights = 0.01 * torch.randn(num_visible, num_hidden)
        self.visible_bias = torch.zeros(num_visible)
        self.hidden_bias = torch.zeros(num_hidden)
        self.softmax, self.linear = softmax, linear

    def hidden(self, visible):
        # With replicated softmax the hidden bias counts once for each word.
        scale = visible.sum(dim=1, keepdim=True).clamp(min=1) if self.softmax else 1
        total = visible @ self.weights + scale * self.hidden_bias
        return total if self.linear else torch.sigmoid(total)

    def reconstruct(self, hidden, visible):
        total = hidden @ self.weights.T + self.visible_bias
        if self.softmax:
            return visible.sum(dim=1, keepdim=True) * torch.softmax(total, dim=1)
        return torch.sigmoid(total)

    def learn(self, visible, rate):
        positive = self.hidden(visible)
        sample = positive + torch.randn_like(positive) if self.linear else torch.bernoulli(positive)
        again = self.reconstruct(sample, visible)
        negative = self.hidden(again)
        self.weights += rate / len(visible) * (visible.T @ positive - again.T @ negative)
        self.visible_bias += rate * (visible - again).mean(dim=0)
        self.hidden_bias += rate * (positive - negative).mean(dim=0)


def batches(num_texts, size):
    return torch.split(torch.randperm(num_texts), size)


def learn_machines(counts, epochs, rate, batch):
    machines, visible_size = [], counts.shape[1]
    for level, hidden_size in enumerate(SIZES):
        machine = Machine(visible_size, hidden_size, level == 0, level == len(SIZES) - 1)
        for _ in range(epochs):
            for rows in batches(counts.shape[0], batch):
                visible = dense(counts, rows.numpy())
                for below in machines:
                    visible = below.hidden(visible)
                machine.learn(visible, rate)
        machines.append(machine)
        visible_size = hidden_size
    return machines


class AutoEncoder(nn.Module):
    def __init__(self, machines):
        super().__init__()
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        for machine in machines:
            self.encoder.append(self._layer(machine.weights.T, machine.hidden_bias))
            self.decoder.insert(0, self._layer(machine.weights, machine.visible_bias))

    @staticmethod
    def _layer(weights, bias):
        layer = nn.Linear(weights.shape[1], weights.shape[0])
        layer.weight.data, layer.bias.data = weights.clone(), bias.clone()
        return layer

    def encode(self, x):
        for layer in self.encoder[:-1]:
            x = torch.sigmoid(layer(x))
        return self.encoder[-1](x)

    def loss(self, x):
        """Cross-entropy, in nats a word, of the title given its own code."""
        y = self.encode(x)
        for layer in self.decoder[:-1]:
            y = torch.sigmoid(layer(y))
        log_probabilities = torch.log_softmax(self.decoder[-1](y), dim=1)
        return -(x * log_probabilities).sum() / x.sum().clamp(min=1)


def learn(counts, machine_epochs, epochs, batch=256, machine_rate=0.01, rate=0.001, seed=1):
    """The network, and the mean loss of each epoch of fine-tuning."""
    torch.manual_seed(seed)
    with torch.no_grad():
        network = AutoEncoder(learn_machines(counts, machine_epochs, machine_rate, batch))
    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    losses = []
    for _ in range(epochs):
        total = 0.0
        for rows in batches(counts.shape[0], batch):
            loss = network.loss(dense(counts, rows.numpy()))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows) / counts.shape[0]
        losses.append(total)
    return network, losses


def main():
    flags = parser(__doc__)
    flags.add_argument("--machine_epochs", type=int, default=20)
    flags.add_argument("--epochs", type=int, default=20)
    flags.add_argument("--threads", type=int, default=1)
    options = flags.parse_args()
    torch.set_num_threads(options.threads)
    doc_ids, docs = read_texts(options.docs)
    query_ids, queries = read_texts(options.queries)
    titles = [text for text in docs if text]
    if options.train:
        titles += [list(title) for title in
                   sorted({tuple(pair[1]) for pair in read_pairs(options.train)})]
    vocabulary = Vocabulary(titles)
    network, _ = learn(vocabulary.counts(titles), options.machine_epochs, options.epochs,
                       seed=options.seed)
    with torch.no_grad():
        d_codes, q_codes = (
            unit_rows(network.encode(dense(vocabulary.counts(texts), slice(None))).numpy())
            for texts in (docs, queries))
    write_run(options, "dae", query_ids, doc_ids, lambda i: d_codes @ q_codes[i])


if __name__ == "__main__":
    main()
