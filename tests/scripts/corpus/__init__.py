"""Tests of scripts/corpus. Run from the project's root with

    python3 -m unittest discover -s tests/scripts -p "*_test.py"
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts" / "corpus"))
