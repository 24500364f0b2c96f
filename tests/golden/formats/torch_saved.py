"""Files of torch.save with all weights of tests/golden/models/marian-trained, without PyTorch.

torch_saved.zip holds what torch.save wrote of each file besides the weights, which are cut out: the pickles, the
headers and the checksums.  `saved` puts the weights of the model back, and has the bytes that torch.save wrote.

    python3 tests/golden/formats/torch_saved.py      # writes torch_saved.zip; needs PyTorch (it was 2.15)
"""

import array
import hashlib
import io
import json
import math
import os
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ARCHIVE = os.path.join(HERE, "torch_saved.zip")
MODEL = os.path.join(HERE, "..", "models", "marian-trained")
TABLE = "model.shared.weight"
# The names under which transformers writes the tied table in a .bin.
TABLES = (TABLE, "lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
# Which of the tensors, and how; "old" is the format of before PyTorch 1.6.
FILES = {
    "bin": {"tables": TABLES},
    "bin-old": {"old": True},
    "bin-1": {"part": slice(0, None, 2)},
    "bin-2": {"part": slice(1, None, 2)},
    "bin-old-1": {"part": slice(0, None, 2), "old": True},
    "bin-old-2": {"part": slice(1, None, 2), "old": True},
    "bin-columns": {"columns": True},
}


def read_safetensors(path):
    """Reads a safetensors file in float32 as {name: (shape, bytes)}, by the definition of the format."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    assert all(entry["dtype"] == "F32" for entry in header.values())
    return {name: (entry["shape"], data[slice(*entry["data_offsets"])]) for name, entry in header.items()}


def by_columns(shape, data):
    """The bytes of a matrix, column by column."""
    if len(shape) != 2:
        return data
    numbers = array.array("f", data)
    return b"".join(numbers[column::shape[1]].tobytes() for column in range(shape[1]))


def storages(name, tensors):
    """The bytes of each tensor as they are in a file."""
    columns = FILES[name].get("columns")
    return {tensor: by_columns(shape, data) if columns else data for tensor, (shape, data) in tensors.items()}


def saved(name, tensors):
    """The file of that name."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        rest = archive.read(name)
        cuts = json.loads(archive.read("cuts.json"))[name]
    weights = storages(name, tensors)
    parts, at = [], 0
    for begin, tensor in cuts["cuts"]:
        parts += [rest[at:begin], weights[tensor]]
        at = begin
    file = b"".join([*parts, rest[at:]])
    assert hashlib.sha256(file).hexdigest() == cuts["sha256"], f"{name} is not what torch.save wrote"
    return file


def save_now(name, tensors):
    """The file of that name, as the PyTorch that is installed writes it."""
    import torch  # pylint: disable=import-outside-toplevel

    how = FILES[name]
    chosen = {}
    for tensor in list(tensors)[how.get("part", slice(None))]:
        shape, data = tensors[tensor]
        value = torch.frombuffer(bytearray(data), dtype=torch.float32).reshape(shape)
        chosen[tensor] = value.t().contiguous().t() if how.get("columns") and len(shape) == 2 else value
    if "tables" in how:
        chosen |= {table: chosen[TABLE] for table in how["tables"]}
    file = io.BytesIO()
    torch.save(chosen, file, _use_new_zipfile_serialization=not how.get("old"))
    return file.getvalue()


def cut(file, weights):
    """What is left of a file without these weights, and where in it each was."""
    found = []  # (begin, end, tensor)
    for tensor, data in sorted(weights.items(), key=lambda item: -len(item[1])):
        begin = file.find(data)
        while begin >= 0 and (over := [end for other, end, _ in found if begin < end and other < begin + len(data)]):
            begin = file.find(data, max(over))
        if begin >= 0:
            found.append((begin, begin + len(data), tensor))
    rest, cuts, at = b"", [], 0
    for begin, end, tensor in sorted(found):
        rest += file[at:begin]
        cuts.append((len(rest), tensor))
        at = end
    return rest + file[at:], cuts


def main():
    tensors = read_safetensors(os.path.join(MODEL, "model.safetensors"))
    assert all(len(data) == 4 * math.prod(shape) for shape, data in tensors.values())
    every = {}
    with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        def write(name, data):
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)
        for name in FILES:
            file = save_now(name, tensors)
            rest, cuts = cut(file, storages(name, tensors))
            every[name] = {"sha256": hashlib.sha256(file).hexdigest(), "cuts": cuts}
            write(name, rest)
        write("cuts.json", json.dumps(every))
    for name in FILES:
        print(name, len(saved(name, tensors)))


if __name__ == "__main__":
    main()
