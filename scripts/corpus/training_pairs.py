"""Training pairs (query, title) of the packages that train."""

from boilerplate import is_content_word
from words import stable_hash, stable_sample, words_of

# A sentence of many packages (one a language, say) trains with this many.
MAX_TITLES_PER_SENTENCE = 4
# Drawing twice teaches more than training twice as long on one draw.
KEYWORD_DRAWS = 2


class TrainingPairs:
    """Makes the pairs. `titles` maps package names to titles; `keywords` is a
    KeywordDrawer; `seed` decides every draw."""

    def __init__(self, titles, keywords, seed):
        self._titles = titles
        self._keywords = keywords
        self._seed = seed

    def make(self, packages, sentences):
        """(pairs, counts by sort): pairs without repetition, in an order that
        a hash decides. All packages and sentences must be of the train part."""
        pairs, counts = {}, {}
        for sort, made in (("sentence", self._of_sentences(sentences)),
                           ("keywords", self._of_keywords(sentences)),
                           ("synopsis_keywords", self._of_synopses(packages))):
            before = len(pairs)
            pairs.update(dict.fromkeys(made))
            counts[sort] = len(pairs) - before
        order = sorted(pairs, key=lambda pair: (stable_hash("order", self._seed, *pair), pair))
        return order, counts

    def _of_sentences(self, sentences):
        for sentence in sentences:
            for title in self._titles_of(sentence):
                yield sentence.text, title

    def _of_keywords(self, sentences):
        for sentence in sentences:
            titles = self._titles_of(sentence)
            for attempt in range(KEYWORD_DRAWS):
                query = self._keywords.draw(sentence, attempt)
                if query:
                    yield from ((query, title) for title in titles)

    def _of_synopses(self, packages):
        """Two or three words of the synopsis: what a person types who knows
        what the thing is for."""
        for package in packages:
            words = list(dict.fromkeys(filter(is_content_word, words_of(package.synopsis))))
            if len(words) >= 2:
                count = 2 + stable_hash("synopsis length", self._seed, package.name) % 2
                query = stable_sample(words, count, "synopsis", self._seed, package.name)
                yield " ".join(query), self._titles[package.name]

    def _titles_of(self, sentence):
        names = stable_sample(sentence.packages, MAX_TITLES_PER_SENTENCE, "titles", self._seed)
        return [self._titles[name] for name in names]
