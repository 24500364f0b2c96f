"""Converts text to token ids and back, exactly as Hugging Face's MarianTokenizer and the server do.

Both sides share one SentencePiece model.  Its ids are not the model's: those are in vocab.json, in
the order of OPUS-MT: </s> is 0, <unk> is 1, then come the pieces, then a tag such as `>>deu<<` for each
target language of a many-to-many model, and last <pad>, which is also the decoder start.
"""

import os
from collections.abc import Iterable, Sequence

import sentencepiece

EOS, UNKNOWN = 0, 1
_SPECIAL = ("</s>", "<unk>")
# More sentences than this make SentencePiece slow and not better.
_MOST_SENTENCES = 500_000


def tag_of(language: str) -> str:
    return f">>{language}<<"


def train_sentencepiece(sentences: Sequence[str], size: int, path: str) -> None:
    """Writes a unigram model of about `size` pieces; the same sentences give the same file."""
    stride = -(-len(sentences) // _MOST_SENTENCES)
    temporary = path + ".new"
    with open(temporary, "wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences[::stride]), model_writer=file, vocab_size=size,
            model_type="unigram", character_coverage=0.9999, hard_vocab_limit=False,
            num_threads=1, minloglevel=1)
    os.replace(temporary, path)


class Vocabulary:
    """The pieces of a SentencePiece file, and the tags of the languages that need one."""

    def __init__(self, path: str, languages: Iterable[str] = ()):
        self.path = path
        self._processor = sentencepiece.SentencePieceProcessor(model_file=path)
        self.languages = list(languages)
        self.pieces = list(_SPECIAL)  # by id
        self._id_of: list[int] = []  # by SentencePiece's id
        for i in range(len(self._processor)):
            special = self._processor.is_control(i) or self._processor.is_unknown(i)
            self._id_of.append(UNKNOWN if special else len(self.pieces))
            if not special:
                self.pieces.append(self._processor.id_to_piece(i))
        self.tags = {}
        for language in self.languages:
            self.tags[language] = len(self.pieces)
            self.pieces.append(tag_of(language))
        self.pad = len(self.pieces)
        self.pieces.append("<pad>")

    def __len__(self) -> int:
        return len(self.pieces)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, without a tag and without eos."""
        return [[self._id_of[i] for i in ids] for ids in self._processor.encode(list(texts))]

    def encode_source(self, text: str, target_language: str) -> list[int]:
        """The input of the encoder: the tag, if the model has tags, the text and eos."""
        tag = [self.tags[target_language]] if self.tags else []
        return tag + self.encode([text])[0] + [EOS]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; special tokens are skipped."""
        pieces = [self.pieces[i] for i in ids if i not in (EOS, UNKNOWN, self.pad)]
        return self._processor.decode_pieces(pieces).strip()
