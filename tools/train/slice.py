#!/usr/bin/python3
"""Trains in slices of some minutes, for a machine that is lent for so long at a time.

    slice.py --minutes 8 --out DIR FLAGS...          # begins a run, or goes on where DIR's one stopped
    slice.py --minutes 8 --last --out DIR FLAGS...   # the learning rate falls to zero: the model to use

FLAGS are those of train.py, the same each time.  Every slice leaves a model in DIR/model.  It also
reads the text, validates and exports, which takes a minute or two more.
"""

import argparse
import os
import sys

import train


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Trains for some minutes with train.py, and goes "
                                     "on from there the next time.", allow_abbrev=False)
    parser.add_argument("--minutes", type=float, required=True, help="of training in this slice")
    parser.add_argument("--last", action="store_true",
                        help="let the learning rate fall to zero in these minutes")
    parser.add_argument("--out", required=True, metavar="DIR", help="as for train.py")
    flags, of_train = parser.parse_known_args(arguments)
    begun = os.path.exists(os.path.join(flags.out, "checkpoint.pt"))
    return train.main(of_train + ["--out", flags.out] + ["--resume"] * begun + [
        "--cool-down-minutes" if flags.last else "--max-minutes", str(flags.minutes)])


if __name__ == "__main__":
    sys.exit(main())
