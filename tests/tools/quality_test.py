"""The computations of tools/quality, and that the weights in the engine are those it writes."""

import os
import random
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "quality"))

import faults
import logistic


class LogisticTest(unittest.TestCase):

    def test_a_fit_finds_the_weights_that_made_the_labels(self):
        chance = random.Random(1)
        rows = [[chance.gauss(0, 1), chance.gauss(3, 2)] for _ in range(4000)]
        labels = [int(chance.random() < logistic.logistic(1.5 * x - 0.5 * y + 1)) for x, y in rows]
        found = logistic.fit(rows, labels, [1.0] * len(rows), ridge=0.01)
        for value, want in zip(found, (1.5, -0.5, 1)):
            self.assertAlmostEqual(value, want, delta=0.15)
        self.assertEqual(found, logistic.fit(rows, labels, [1.0] * len(rows), ridge=0.01))

    def test_a_column_that_never_changes_gets_no_weight(self):
        found = logistic.fit([[0.0, 7.0], [1.0, 7.0]] * 20, [0, 1] * 20, [1.0] * 40)
        self.assertGreater(found[0], 1)
        self.assertEqual(found[1], 0)

    def test_the_area_under_the_curve_counts_pairs(self):
        self.assertEqual(logistic.auroc([3, 2], [1, 0]), 1)
        self.assertEqual(logistic.auroc([1], [1]), 0.5)
        self.assertEqual(logistic.auroc([0, 2], [1, 1]), 0.5)
        self.assertEqual(logistic.auroc([1, 2, 3], [1, 2]), (0.5 + 1.5 + 2) / 6)

    def test_calibration_is_a_table_of_bins(self):
        table = logistic.calibration([0.05, 0.95, 1.0, 0.96], [0, 1, 1, 0], [1, 1, 1, 2])
        self.assertEqual(len(table), 10)
        self.assertEqual(table[0], (0.05, 0.0, 1, 1))
        self.assertEqual(table[9][1:], (0.5, 4, 3))


class FaultsTest(unittest.TestCase):

    POOL = faults.Pool(["Wir gehen heute in die Stadt."], {})
    HARD = {"changed number", "swapped name", "negation lost"}  # not every pair has a place for them

    def of(self, source, target, language="de", seed="1"):
        return faults.faults_of(source, target, language, self.POOL, seed)

    def test_every_kind_of_fault_changes_what_its_name_says(self):
        made = self.of("Tom has 24 cats, but he does not have a dog.",
                       "Tom hat 24 Katzen, aber er hat keinen Hund.")
        self.assertEqual(set(made), set(faults.KINDS))
        self.assertNotIn("24", made["changed number"])
        self.assertRegex(made["changed number"], r"^Tom hat \d\d Katzen, aber er hat keinen Hund\.$")
        self.assertNotIn("Tom", made["swapped name"])
        self.assertLess(len(made["dropped clause"].split()), 9)
        self.assertIn(len(made["added phrase"].split()), (12, 13, 14))
        self.assertEqual(len(made["changed word"].split()), 9)
        self.assertEqual(made["negation lost"], "Tom hat 24 Katzen, aber er hat einen Hund.")
        self.assertEqual(made["wrong language"], "Tom has 24 cats, but he does not have a dog.")

    def test_negation_is_lost_in_every_language(self):
        for language, target, want in (("fr", "Il n'est pas là.", "Il est là."),
                                       ("es", "Tom no está aquí.", "Tom está aquí."),
                                       ("en", "He does not know.", "He know."),
                                       ("de", "Ich weiß es nicht.", "Ich weiß es.")):
            self.assertEqual(faults.lose_negation("Tom is not here.", target, language), want)

    def test_a_pair_without_a_place_has_no_such_fault(self):
        self.assertFalse(set(self.of("Hello.", "Hallo.")) & self.HARD)
        self.assertEqual(set(self.of("Hm.", "Hm.")), {"added phrase"})
        self.assertEqual(self.of("Hello, you!", "Hallo, du!")["repeated phrase"], "Hallo, du Hallo, du!")

    def test_the_same_seed_makes_the_same_faults(self):
        pair = ("Tom has 24 cats.", "Tom hat 24 Katzen.")
        self.assertEqual(self.of(*pair), self.of(*pair))


class WeightsTest(unittest.TestCase):

    def test_the_engine_has_a_weight_for_each_of_its_features(self):
        with open(os.path.join(ROOT, "engine/request/quality_weights.inc"), encoding="utf-8") as file:
            names = re.findall(r'^    \{"(\w+)", -?[\d.]+f, -?[\d.]+f\}', file.read(), re.M)
        with open(os.path.join(ROOT, "engine/request/quality.h"), encoding="utf-8") as file:
            features = re.findall(r"^  k(\w+),", file.read(), re.M)[:-1]
        self.assertEqual([re.sub(r"(?<!^)([A-Z])", r"_\1", each).lower() for each in features], names)


if __name__ == "__main__":
    unittest.main()
