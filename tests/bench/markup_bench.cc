// Times what markup costs.
//
//   markup_bench                        the stages of a sentence and of documents, without a model
//   markup_bench --model models/en-de   and whole translations, one text at a time: plain, with a
//                                       literal, and as HTML, in turns
//
// Without a model, a translation is its source with the identity as its alignment
// (tests/request/scripted_translation.h).

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/time/clock.h"
#include "engine/request/translator.h"
#include "engine/text/html_reader.h"
#include "engine/text/literal_check.h"
#include "engine/text/literal_marks.h"
#include "engine/text/splitter.h"
#include "tests/request/scripted_translation.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman {
namespace {

constexpr const char* kSentences[] = {
    "The <b>old</b> teacher sees a small <i>house</i> today.",
    "Where is the <a href=\"/station?from=here\">next station</a>, and when does it open?",
    "My sister <b>works</b> every day, but she <em>never</em> has any money &amp; time.",
    "Thank you for <span class=\"name\">your letter</span>, which I read with pleasure yesterday.",
    "The price of the <b>new car</b> is <i>too high</i> for us, and we will not buy it.",
    "<strong>Please</strong> close the window, because it is <u>cold</u> in the room.",
    "I would like a cup of <a href='#tea'>tea</a> without sugar.",
    "They said that the <b>bridge</b> was closed, so we went home by <code>train</code>.",
};

std::string WithoutTags(std::string text) {
  for (size_t begin = text.find('<'); begin != text.npos; begin = text.find('<', begin)) {
    text.erase(begin, text.find('>', begin) + 1 - begin);
  }
  if (const size_t amp = text.find("&amp;"); amp != text.npos) text.replace(amp, 5, "and");
  return text;
}

// The microseconds that `run` takes, the best of several rounds.
double Best(int rounds, int times, const std::function<void()>& run) {
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    const absl::Time start = absl::Now();
    for (int i = 0; i < times; ++i) run();
    best = std::min(best, absl::ToDoubleMicroseconds(absl::Now() - start) / times);
  }
  return best;
}

void MarkAll(MarkedText* text) {
  MarkLiterals([](std::string_view) { return true; }, text);
}

void TimeStages(int rounds) {
  constexpr int kTimes = 200, kCount = std::size(kSentences);
  std::vector<std::string> html(std::begin(kSentences), std::end(kSentences)), plain;
  for (const std::string& sentence : html) plain.push_back(WithoutTags(sentence));
  const auto time = [&](const char* what, const std::function<void(int)>& run) {
    const double all = Best(rounds, kTimes, [&] {
      for (int i = 0; i < kCount; ++i) run(i);
    });
    std::printf("%-58s %8.2f us a sentence\n", what, all / kCount);
  };
  time("plain: split into sentences", [&](int i) { SplitSentences(plain[i]); });
  time("plain: look for literals", [&](int i) {
    MarkedText text = ReadPlain(plain[i], /*join_lines=*/false);
    MarkAll(&text);
  });
  time("plain: check literals and numbers",
       [&](int i) { CheckLiterals(plain[i], plain[i], "de"); });
  time("HTML: read", [&](int i) { ReadHtml(html[i], {}); });
  time("HTML: read, look for literals, divide, place tags, render", [&](int i) {
    MarkedText text = ReadHtml(html[i], {});
    MarkAll(&text);
    TranslateByScript(std::move(text), Script::kIdentity);
  });
}

void TimeDocuments(int rounds) {
  for (const size_t bytes : {size_t{1} << 18, size_t{1} << 19, size_t{1} << 20}) {
    std::string document = "<!DOCTYPE html><html><body>";
    for (size_t i = 0; document.size() < bytes; ++i) {
      document += "<p class=\"text\">";
      document += kSentences[i % std::size(kSentences)];
      document += "</p>\n";
    }
    const double read = Best(rounds, 1, [&] { ReadHtml(document, {}); });
    const double all = Best(rounds, 1, [&] {
      MarkedText text = ReadHtml(document, {});
      MarkAll(&text);
      TranslateByScript(std::move(text), Script::kIdentity);
    });
    std::printf("HTML of %4zu KB: read %6.1f ms, all stages %6.1f ms\n", bytes >> 10, read / 1000,
                all / 1000);
  }
}

absl::Status TimeTranslations(const std::string& directory, int rounds) {
  absl::StatusOr<std::shared_ptr<const Model>> model = Model::Load("bench", directory, {});
  if (!model.ok()) return model.status();
  Observer observer;
  WorkerPool pool({.workers = 1}, &observer);
  const Translator translator(*model, &pool, {});
  struct Form {
    const char* name;
    Markup markup;
    bool keep_literals;
    std::function<std::string(const std::string&)> write;
    double best = 1e30;
  };
  const auto as_it_is = [](const std::string& sentence) { return sentence; };
  std::vector<Form> forms = {
      {"plain, literals off", Markup::kNone, false, WithoutTags},
      {"plain", Markup::kNone, true, WithoutTags},
      {"HTML without tags", Markup::kHtml, true, WithoutTags},
      {"HTML", Markup::kHtml, true, as_it_is},
  };
  for (int round = 0; round < rounds; ++round) {
    for (Form& form : forms) {
      const absl::Time start = absl::Now();
      for (const char* const sentence : kSentences) {
        const TranslateResponse response =
            TranslateAndWait(translator, {.texts = {form.write(sentence)},
                                          .options = {.beam_size = 1},
                                          .splitting = Splitting::kSentences,
                                          .markup = form.markup,
                                          .keep_literals = form.keep_literals});
        if (!response.status.ok()) return response.status;
      }
      form.best = std::min(form.best, absl::ToDoubleMicroseconds(absl::Now() - start));
    }
  }
  for (const Form& form : forms) {
    std::printf("translated, %-20s %8.0f us a sentence, %+5.1f %%\n", form.name,
                form.best / std::size(kSentences), 100 * (form.best / forms[0].best - 1));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) {
  CLI::App app("Times what markup costs.");
  std::string model;
  int rounds = 10;
  app.add_option("--model", model, "a model, to time whole translations with greedy search");
  app.add_option("--rounds", rounds, "of which the best counts");
  CLI11_PARSE(app, argc, argv);
  dragoman::TimeStages(rounds);
  dragoman::TimeDocuments(rounds);
  if (model.empty()) return 0;
  const absl::Status status = dragoman::TimeTranslations(model, rounds);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
