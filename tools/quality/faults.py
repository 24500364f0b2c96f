"""Puts faults into translations, of the kinds that a score of quality has to find.

    faults_of("Tom has 24 cats.", "Tom hat 24 Katzen.", "de", pool, seed)
        {"changed number": "Tom hat 71 Katzen.", "swapped name": "Maria hat 24 Katzen.", ...}

A fault that a pair has no place for is left out.  The same seed makes the same faults.
"""

import dataclasses
import random
import re

KINDS = ("dropped clause", "changed number", "swapped name", "added phrase", "negation lost", "wrong language",
         "changed word", "repeated phrase")

NAMES = ("Tom", "Mary", "John", "Maria", "Peter", "Alice", "Bob", "Ken", "Jim", "Tony", "Emily", "Boston", "Paris",
         "London", "Tokyo", "Berlin", "Sami", "Layla", "Yanni", "Jack", "Linda", "Jane", "Bill", "George")

# Patterns of negation and what each becomes.
NEGATIONS = {
    "de": ((r"\bkein(e[nmrs]?)?\b", r"ein\1"), (r"\bKein(e[nmrs]?)?\b", r"Ein\1"), (r"\bnichts\b", "alles"),
           (r"\bniemand(en|em)?\b", r"jemand\1"), (r"\bNiemand\b", "Jemand"), (r"\b(nie|niemals)\b", "immer"),
           (r" nicht\b", "")),
    "fr": ((r"\b(?:ne |n['’])(\w+(?:[- ]\w+)?) (?:pas|plus)\b", r"\1"),
           (r"\b(?:ne |n['’])(\w+) jamais\b", r"\1 toujours"), (r"\b(?:ne |n['’])(\w+) rien\b", r"\1 tout"),
           (r"\bPersonne (?:ne |n['’])", "Tout le monde "), (r"\bsans\b", "avec")),
    "es": ((r"\b[Nn]o (?=\w)", ""), (r"\bnunca\b", "siempre"), (r"\bNunca\b", "Siempre"), (r"\bsin\b", "con"),
           (r"\bNadie\b", "Alguien")),
    "en": ((r"\b(do|does|did) not ", ""), (r"\b(is|are|was|were|will|would|can|could|should|has|have) not\b", r"\1"),
           (r"n['’]t\b", ""), (r"\bcannot\b", "can"), (r"\bnever\b", "always"), (r"\bno\b", "some"),
           (r"\bNobody\b", "Somebody"), (r"\bnothing\b", "everything"), (r"\bnot ", "")),
}
NO = re.compile(r"n['’]t\b|\b(not|no|never|nothing|nobody|none|cannot|without|nicht|kein\w*|nie|ne|pas|jamais|rien|no|"
                r"nunca|nada|nadie|sin|sans)\b", re.I)
CLAUSE = re.compile(r",\s+|;\s+|\s+(?=(?:und|oder|aber|weil|dass|and|or|but|because|that|et|ou|mais|parce|y|o|pero|"
                    r"porque)\s)")


@dataclasses.dataclass
class Pool:
    """What faults are made of: the targets of other pairs, and texts in other languages."""

    targets: list[str]
    elsewhere: dict[str, str]  # from a source to its translation into another language

    def words(self, chance: random.Random) -> list[str]:
        """Three to five adjacent words of a translation, without its end."""
        while True:
            words = chance.choice(self.targets).rstrip(".!?").split()
            count = chance.randint(3, 5)
            if len(words) >= count:
                begin = chance.randint(0, len(words) - count)
                return words[begin:begin + count]


def _end(text: str) -> tuple[str, str]:
    """The text, and the mark at its end."""
    stripped = text.rstrip(".!?…\"“”«» ")
    return stripped, text[len(stripped):]


def drop_clause(target: str, chance: random.Random) -> str | None:
    """Without its last or first clause, or without a third of its words."""
    body, end = _end(target)
    places = [match for match in CLAUSE.finditer(body)
              if len(body[:match.start()].split()) >= 3 and len(body[match.end():].split()) >= 3]
    if places:
        place = chance.choice(places)
        if chance.random() < 0.5:
            return body[:place.start()] + end
        rest = body[place.end():]
        return rest[0].upper() + rest[1:] + end
    words = body.split()
    if len(words) < 7:
        return None
    count = len(words) // 3
    begin = chance.randint(1, len(words) - count)
    return " ".join(words[:begin] + words[begin + count:]) + end


def change_number(source: str, target: str, chance: random.Random) -> str | None:
    """With another number in place of one that both texts have."""
    places = [match for match in re.finditer(r"\d+", target) if match[0] in re.findall(r"\d+", source)]
    if not places:
        return None
    place = chance.choice(places)
    while (other := str(chance.randint(1, 9)) + "".join(str(chance.randint(0, 9)) for _ in place[0][1:])) == place[0]:
        pass
    return target[:place.start()] + other + target[place.end():]


def swap_name(source: str, target: str, chance: random.Random) -> str | None:
    """With another name in place of one that both texts have."""
    names = set(re.findall(r"\b[A-Z][a-z]+\b", source)) & set(re.findall(r"\b[A-Z][a-z]+\b", target)) & set(NAMES)
    if not names:
        return None
    name = chance.choice(sorted(names))
    other = chance.choice([each for each in NAMES if each not in names])
    return re.sub(rf"\b{name}\b", other, target)


def add_phrase(target: str, pool: Pool, chance: random.Random) -> str:
    """With three to five words of another translation."""
    body, end = _end(target)
    words = body.split()
    place = chance.randint(1, len(words)) if words else 0
    return " ".join(words[:place] + pool.words(chance) + words[place:]) + end


def change_word(target: str, pool: Pool, chance: random.Random) -> str | None:
    """With another word in place of one of four letters or more, both capitalized or neither."""
    places = list(re.finditer(r"\b[^\W\d_]{4,}\b", target))
    if not places:
        return None
    place = chance.choice(places)
    for _ in range(20):
        words = [word for word in re.findall(r"\b[^\W\d_]{4,}\b", chance.choice(pool.targets))
                 if word[0].isupper() == place[0][0].isupper() and word not in target]
        if words:
            return target[:place.start()] + chance.choice(words) + target[place.end():]
    return None


def repeat_phrase(target: str, chance: random.Random) -> str | None:
    """With two to four of its words twice."""
    body, end = _end(target)
    words = body.split()
    count = min(chance.randint(2, 4), len(words))
    if count < 2:
        return None
    place = chance.randint(count, len(words))
    return " ".join(words[:place] + words[place - count:]) + end


def lose_negation(source: str, target: str, language: str) -> str | None:
    """Without its negation, if both texts have one."""
    if not NO.search(source):
        return None
    for pattern, becomes in NEGATIONS[language]:
        changed, count = re.subn(pattern, becomes, target, count=1)
        if count:
            return (changed[0].upper() + changed[1:]).replace("  ", " ")
    return None


def faults_of(source: str, target: str, language: str, pool: Pool, seed: str) -> dict[str, str]:
    """The kinds of faults that this pair can have, each with the translation that has it."""
    chance = random.Random(seed)
    other = source if chance.random() < 0.5 else pool.elsewhere.get(source, source)
    made = {"dropped clause": drop_clause(target, chance),
            "changed number": change_number(source, target, chance),
            "swapped name": swap_name(source, target, chance),
            "added phrase": add_phrase(target, pool, chance),
            "negation lost": lose_negation(source, target, language),
            "wrong language": other,
            "changed word": change_word(target, pool, chance),
            "repeated phrase": repeat_phrase(target, chance)}
    return {kind: text for kind, text in made.items() if text and text != target}
