// Measures the check of literals and numbers (engine/text/literal_check.h) on human translations:
// how often it complains about a pair, and how often it notices a fault that is put into one.
//
//   xzcat pairs.tsv.xz | literal_check_bench --language de          source, tab, target: in each
//   line xzcat pairs.tsv.xz | literal_check_bench --language en --swap   the other way round
//   ... --show 50                                                   the first pairs that it
//   complains of

#include <cstdio>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "engine/text/literal_check.h"
#include "engine/text/numbers.h"

namespace dragoman {
namespace {

struct Flags {
  std::string language;
  bool swap = false;
  int show = 0;
};

struct Rate {
  int noticed = 0, of = 0;
  double percent() const { return of == 0 ? 0 : 100.0 * noticed / of; }
};

struct Report {
  int pairs = 0, numbers = 0, faults = 0;
  Rate complaints;  // pairs with numbers
  Rate changed, dropped;
};

void Show(const std::string& source, const std::string& target,
          const std::vector<LiteralFault>& faults) {
  std::cout << source << "\n  " << target << "\n ";
  for (const LiteralFault& fault : faults) {
    std::cout << " [" << fault.text << " -> " << fault.found << "]";
  }
  std::cout << "\n";
}

// Changes a digit of one of the target's numbers, and leaves out one of them.
void PutInFaults(const std::string& source, const std::string& target, const Flags& flags,
                 std::mt19937* random, Report* report) {
  const std::vector<Number> numbers = FindNumbers(target);
  if (numbers.empty()) return;
  const auto pick = [&] { return numbers[(*random)() % numbers.size()].span; };
  const auto notices = [&](const std::string& text, Rate* rate) {
    ++rate->of;
    rate->noticed += CheckLiterals(source, text, flags.language).empty() ? 0 : 1;
  };
  std::string changed = target, dropped = target;
  TextSpan span = pick();
  char& digit = changed[span.begin + (*random)() % span.size()];
  if (digit >= '0' && digit <= '9') {
    digit = static_cast<char>('0' + (digit - '0' + 1 + (*random)() % 9) % 10);
    notices(changed, &report->changed);
  }
  span = pick();
  dropped.erase(span.begin, span.size());
  notices(dropped, &report->dropped);
}

void Measure(const Flags& flags) {
  Report report;
  std::mt19937 random(7);
  for (std::string line; std::getline(std::cin, line);) {
    const size_t tab = line.find('\t');
    if (tab == line.npos) continue;
    std::string source = line.substr(0, tab), target = line.substr(tab + 1);
    if (flags.swap) std::swap(source, target);
    ++report.pairs;
    const std::vector<Number> numbers = FindNumbers(source);
    if (numbers.empty()) continue;
    report.numbers += static_cast<int>(numbers.size());
    const std::vector<LiteralFault> faults = CheckLiterals(source, target, flags.language);
    ++report.complaints.of;
    report.faults += static_cast<int>(faults.size());
    if (faults.empty()) {
      PutInFaults(source, target, flags, &random, &report);
    } else if (++report.complaints.noticed <= flags.show) {
      Show(source, target, faults);
    }
  }
  std::printf("%d pairs, %d with %d numbers\n", report.pairs, report.complaints.of, report.numbers);
  std::printf(
      "complaints about %d pairs, %.2f %% of those with numbers, and %.2f %% of the numbers\n",
      report.complaints.noticed, report.complaints.percent(),
      100.0 * report.faults / std::max(1, report.numbers));
  std::printf("noticed: a changed digit %.1f %%, a number left out %.1f %%\n",
              report.changed.percent(), report.dropped.percent());
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) {
  CLI::App app("Measures the check of literals and numbers on pairs of texts.");
  dragoman::Flags flags;
  app.add_option("--language", flags.language, "of the target")->required();
  app.add_flag("--swap", flags.swap, "the target is the first of each pair");
  app.add_option("--show", flags.show, "how many pairs with complaints to print");
  CLI11_PARSE(app, argc, argv);
  dragoman::Measure(flags);
}
