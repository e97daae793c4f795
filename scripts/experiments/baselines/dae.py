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
for each word (replicated softmax), and its reconstruction is as many words drawn
from it; hidden units are sigmoids, the 128 linear; CD-1, 20 epochs a machine,
visible biases start at the frequencies; encoder and decoder start as transposes
and are then separate, for 20 epochs; batches of 256. All steps are Adam's, rate
0.01 on the gradient of CD-1 and 0.001 after: with one rate for all the weights of
rare words, which are most of the words of titles, stay where they began.
"""
import numpy as np
import torch
from torch import nn

from collection import Vocabulary, clicked_titles, parser, read_texts, unit_rows, write_run

SIZES = (300, 300, 128)


class Words:
    """Texts as the numbers of their words: word `i` is of text `texts[i]`."""

    def __init__(self, words, texts, num_texts):
        self.words, self.texts, self.num_texts = words, texts, num_texts

    @classmethod
    def of_counts(cls, counts):
        texts = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        repeats = counts.data.astype(int)
        return cls(torch.from_numpy(np.repeat(counts.indices, repeats)).long(),
                   torch.from_numpy(np.repeat(texts, repeats)).long(), counts.shape[0])

    def sums(self, vectors):
        """The sum over the words of each text; `vectors` has a row a word."""
        found = nn.functional.embedding(self.words, vectors, sparse=True)
        return torch.zeros(self.num_texts, vectors.shape[1]).index_add(0, self.texts, found)

    def lengths(self):
        return torch.bincount(self.texts, minlength=self.num_texts)

    def word_counts(self, num_words):
        return torch.bincount(self.words, minlength=num_words).float()


class WordMachine:
    """The lowest restricted Boltzmann machine: its visible units are words."""

    def __init__(self, word_counts, num_hidden, rate):
        self.weights = 0.01 * torch.randn(len(word_counts), num_hidden)
        self.visible_bias = torch.log((word_counts + 1) / (word_counts + 1).sum())
        self.hidden_bias = torch.zeros(num_hidden)
        self.optimizers = [torch.optim.SparseAdam([self.weights], lr=rate),
                           torch.optim.Adam([self.visible_bias, self.hidden_bias], lr=rate)]

    def hidden(self, visible):
        # With replicated softmax the hidden bias counts once for each word.
        lengths = visible.lengths().clamp(min=1)[:, None]
        return torch.sigmoid(visible.sums(self.weights) + lengths * self.hidden_bias)

    def reconstruct(self, hidden, visible):
        """As many words as each text has, drawn from the softmax."""
        logits = hidden @ self.weights.T + self.visible_bias
        lengths = visible.lengths()
        drawn = torch.multinomial(torch.softmax(logits, dim=1), max(1, int(lengths.max())),
                                  replacement=True)
        kept = torch.arange(drawn.shape[1]) < lengths[:, None]
        return Words(drawn[kept], torch.nonzero(kept)[:, 0], visible.num_texts)

    def learn(self, visible):
        positive = self.hidden(visible)
        again = self.reconstruct(torch.bernoulli(positive), visible)
        negative = self.hidden(again)
        words = torch.cat([visible.words, again.words])
        sides = torch.cat([-positive[visible.texts], negative[again.texts]])
        self.weights.grad = torch.sparse_coo_tensor(
            words[None], sides / visible.num_texts, self.weights.shape)
        num_words = len(self.visible_bias)
        self.visible_bias.grad = (again.word_counts(num_words)
                                  - visible.word_counts(num_words)) / visible.num_texts
        self.hidden_bias.grad = (negative - positive).mean(dim=0)
        for optimizer in self.optimizers:
            optimizer.step()


class Machine:
    """A machine above it. `linear`: the hidden units are Gaussian."""

    def __init__(self, inputs, num_hidden, linear, rate):
        self.weights = 0.01 * torch.randn(inputs.shape[1], num_hidden)
        self.visible_bias = torch.logit(inputs.mean(dim=0), eps=0.01)
        self.hidden_bias = torch.zeros(num_hidden)
        self.linear = linear
        self.optimizer = torch.optim.Adam([self.weights, self.visible_bias, self.hidden_bias],
                                          lr=rate)

    def hidden(self, visible):
        total = visible @ self.weights + self.hidden_bias
        return total if self.linear else torch.sigmoid(total)

    def learn(self, visible):
        positive = self.hidden(visible)
        sample = positive + torch.randn_like(positive) if self.linear else torch.bernoulli(positive)
        again = torch.sigmoid(sample @ self.weights.T + self.visible_bias)
        negative = self.hidden(again)
        self.weights.grad = (again.T @ negative - visible.T @ positive) / len(visible)
        self.visible_bias.grad = (again - visible).mean(dim=0)
        self.hidden_bias.grad = (negative - positive).mean(dim=0)
        self.optimizer.step()


def word_batches(counts, size):
    """The texts once, in random order."""
    for rows in torch.split(torch.randperm(counts.shape[0]), size):
        yield Words.of_counts(counts[rows.numpy()])


def learn_machines(counts, epochs, rate, batch):
    texts = Words.of_counts(counts)
    lowest = WordMachine(texts.word_counts(counts.shape[1]), SIZES[0], rate)
    for _ in range(epochs):
        for visible in word_batches(counts, batch):
            lowest.learn(visible)
    machines, inputs = [lowest], lowest.hidden(texts)
    for size in SIZES[1:]:
        machine = Machine(inputs, size, linear=size == SIZES[-1], rate=rate)
        for _ in range(epochs):
            for rows in torch.split(torch.randperm(len(inputs)), batch):
                machine.learn(inputs[rows])
        machines.append(machine)
        inputs = machine.hidden(inputs)
    return machines


class AutoEncoder(nn.Module):
    def __init__(self, machines):
        super().__init__()
        lowest = machines[0]
        self.word_weights = nn.Parameter(lowest.weights.clone())
        self.word_bias = nn.Parameter(lowest.hidden_bias.clone())
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        for machine in machines:
            if machine is not lowest:
                self.encoder.append(self._layer(machine.weights.T, machine.hidden_bias))
            self.decoder.insert(0, self._layer(machine.weights, machine.visible_bias))

    @staticmethod
    def _layer(weights, bias):
        layer = nn.Linear(weights.shape[1], weights.shape[0])
        layer.weight.data, layer.bias.data = weights.clone(), bias.clone()
        return layer

    def encode(self, words):
        x = words.sums(self.word_weights) + self.word_bias
        for layer in self.encoder:
            x = layer(torch.sigmoid(x))
        return x

    def loss(self, words):
        """Cross-entropy, in nats a word, of the titles given their own codes."""
        y = self.encode(words)
        for layer in self.decoder[:-1]:
            y = torch.sigmoid(layer(y))
        log_probabilities = torch.log_softmax(self.decoder[-1](y), dim=1)
        return -log_probabilities[words.texts, words.words].sum() / max(1, len(words.words))


def learn(counts, machine_epochs, epochs, batch=256, machine_rate=0.01, rate=0.001, seed=1):
    """The network, and the mean loss of each epoch of fine-tuning."""
    torch.manual_seed(seed)
    with torch.no_grad():
        network = AutoEncoder(learn_machines(counts, machine_epochs, machine_rate, batch))
    dense = [values for values in network.parameters() if values is not network.word_weights]
    optimizers = [torch.optim.SparseAdam([network.word_weights], lr=rate),
                  torch.optim.Adam(dense, lr=rate)]
    losses = []
    for _ in range(epochs):
        total = 0.0
        for words in word_batches(counts, batch):
            loss = network.loss(words)
            network.zero_grad()
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            total += loss.item() * words.num_texts / counts.shape[0]
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
    titles = [text for text in docs if text] + clicked_titles(options.train)
    vocabulary = Vocabulary(titles)
    network, _ = learn(vocabulary.counts(titles), options.machine_epochs, options.epochs,
                       seed=options.seed)
    with torch.no_grad():
        d_codes, q_codes = (
            unit_rows(network.encode(Words.of_counts(vocabulary.counts(texts))).numpy())
            for texts in (docs, queries))
    write_run(options, "dae", query_ids, doc_ids, lambda i: d_codes @ q_codes[i])


if __name__ == "__main__":
    main()
