"""Simulated users: which results of a list they click.

Every model looks at results from the top and clicks one that it has looked at
with a probability that depends on whether the result answers the query. `eta`
says how fast attention falls: position k is looked at (1 / k)^eta as often as
position 1 unless a click changes that.

  position    results are looked at independently (the position-based model:
              Richardson, Dominowska and Ragno, WWW 2007)
  cascade     the user reads on until the first click (Craswell, Zoeter, Taylor
              and Ramsey, WSDM 2008)
  dependent   after a click the user reads on with a probability of 0.5
              (dependent click model: Guo, Liu and Wang, WSDM 2009)
  trust       as position, but users also click results that do not answer, at
              the top more often (Agarwal, Wang, Li, Bendersky and Najork,
              WWW 2019)
"""

from dataclasses import dataclass
from random import Random

NAMES = ("position", "cascade", "dependent", "trust")

# How often a user who looks at a result clicks it.
WANTED = 0.9
UNWANTED = 0.05
TRUSTED = 0.2  # an unwanted result at the top, with trust bias
READS_ON = 0.5  # after a click, in the dependent model


def examination(position: int, eta: float) -> float:
    """The probability that a user looks at `position`, from 1."""
    return position ** -eta


@dataclass(frozen=True)
class ClickModel:
    """Draws the clicks on one list."""

    name: str = "position"
    eta: float = 1.0
    unwanted: float = UNWANTED

    def click_probability(self, wanted: bool, position: int) -> float:
        """Of a result that the user looks at."""
        if wanted:
            return WANTED
        if self.name == "trust":
            return max(self.unwanted, TRUSTED * examination(position, 1.0))
        return self.unwanted

    def clicks(self, wanted: list[bool], rng: Random) -> list[int]:
        """The positions, from 1, that one user clicks in a list whose results
        are wanted or not."""
        return self.visit(wanted, rng)[1]

    def visit(self, wanted: list[bool], rng: Random) -> tuple[list[int], list[int]]:
        """The positions that one user looks at, and those of them that are
        clicked."""
        looked_at, clicked = [], []
        reads = True
        for position, is_wanted in enumerate(wanted, start=1):
            if self.name in ("cascade", "dependent"):
                if position > 1:
                    reads &= rng.random() < (examination(position, self.eta)
                                             / examination(position - 1, self.eta))
                if not reads:
                    break
            elif rng.random() >= examination(position, self.eta):
                continue
            looked_at.append(position)
            if rng.random() >= self.click_probability(is_wanted, position):
                continue
            clicked.append(position)
            if self.name == "cascade":
                break
            if self.name == "dependent":
                reads = rng.random() < READS_ON
        return looked_at, clicked
