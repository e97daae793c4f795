"""What the programs that make a corpus of the package catalogue have in common."""

import argparse
import signal
import sys
from pathlib import Path

from apt_catalogue import CatalogueError


def say(text):
    """Prints progress and errors: standard output stays empty."""
    print(text, file=sys.stderr, flush=True)


def folder_parser(description, epilog, output_help, lists_help):
    """A parser that has --output and --lists."""
    parser = argparse.ArgumentParser(description=description, epilog=epilog,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, type=Path, metavar="DIR", help=output_help)
    parser.add_argument("--lists", type=Path, metavar="DIR", help=f"{lists_help} (default: OUTPUT.apt)")
    return parser


def run(parser, make_corpus):
    """Calls `make_corpus` with the options. Returns the exit code."""
    options = parser.parse_args()
    options.output = options.output.resolve()
    options.lists = options.lists or options.output.with_name(options.output.name + ".apt")
    # A terminated run cleans up like an interrupted one.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        make_corpus(options)
    except (CatalogueError, OSError) as error:
        say(f"{parser.prog}: {error}")
        return 1
    except KeyboardInterrupt:
        say(f"{parser.prog}: interrupted, nothing was written")
        return 1
    return 0


def fetch_lists(catalogue, folder):
    """Fetches the package lists into the catalogue's folder, and prints what apt says."""
    say(f"Package lists: fetching with apt-get into {folder} (about 16 MB; the machine's own apt is left alone) ...")
    for complaint in catalogue.fetch():
        say(f"  apt says: {complaint}")
