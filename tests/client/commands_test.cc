#include "client/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/json.h"
#include "tests/client/fake_server.h"

namespace dragoman {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// A file name with the process id, because the same tests may run in another tree at the same time.
std::string PathOf(const std::string& name) {
  return ::testing::TempDir() + "/" + std::to_string(getpid()) + "_" + name;
}

class CommandsTest : public ::testing::Test {
 protected:
  // Runs `dragoman ARGUMENTS` with `input` on its standard input.
  ExitCode Run(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), "dragoman");
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    std::FILE* file = std::tmpfile();
    std::fwrite(input.data(), 1, input.size(), file);
    std::fflush(file);
    std::rewind(file);
    out_.str("");
    err_.str("");
    const ExitCode code = RunCommandLine(static_cast<int>(argv.size()), argv.data(),
                                         Console{fileno(file), out_, err_});
    std::fclose(file);
    return code;
  }
  // Run with --server.
  ExitCode RunWithServer(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin() + 1, {"--server", server_.address()});
    return Run(arguments, input);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  FakeServer server_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(CommandsTest, TranslatesItsArguments) {
  EXPECT_EQ(RunWithServer({"translate", "one text", "another"}), kExitOk);
  EXPECT_EQ(out(), "ONE TEXT\nANOTHER\n");
  EXPECT_EQ(err(), "");
}

TEST_F(CommandsTest, TranslatesALinePerTextFromStandardInput) {
  std::string input, want;
  for (int i = 0; i < 300; ++i) {
    input += "line " + std::to_string(i) + "\n";
    want += "LINE " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(RunWithServer({"translate"}, input + "\nlast"), kExitOk);
  EXPECT_EQ(out(), want + "\nLAST\n");
}

TEST_F(CommandsTest, PrintsAnObjectPerText) {
  EXPECT_EQ(RunWithServer({"translate", "--output", "json", "--num-hypotheses", "2", "a \"b\""}),
            kExitOk);
  EXPECT_EQ(json::parse(out()), json::parse(R"({"source": "a \"b\"", "hypotheses": [
                {"text": "A \"B\"", "score": -0.23, "tokens": ["A \"B\""], "token_ids": [7],
                 "finish_reason": "eos"},
                {"text": "A \"B\" 1", "score": -1.23, "tokens": ["A \"B\""], "token_ids": [7],
                 "finish_reason": "eos"}],
                "truncated": false, "divided": false, "source_tokens": 6, "model": "en-de"})"));
}

TEST(Json, TellsWhichNumbersDidNotComeThrough) {
  v1::Translation translation;
  v1::Quality* const quality = translation.add_hypotheses()->mutable_quality();
  v1::LiteralFault* fault = quality->add_literals();
  fault->set_kind(v1::LiteralFault::KIND_MISSING);
  fault->set_text("7");
  fault->set_source_begin(3);
  fault->set_source_end(4);
  fault = quality->add_literals();
  *fault = quality->literals(0);
  fault->set_kind(v1::LiteralFault::KIND_CHANGED);
  fault->set_found("8");
  fault->set_target_begin(5);
  fault->set_target_end(6);
  EXPECT_EQ(
      json::parse(ToLine(ToJson("a", translation, "m")))["hypotheses"][0]["quality"]["literals"],
      json::parse(R"([{"kind": "missing", "text": "7", "source": [3, 4]},
                            {"kind": "changed", "text": "7", "source": [3, 4],
                             "found": "8", "target": [5, 6]}])"));
}

TEST_F(CommandsTest, SendsEveryOptionThatIsGiven) {
  EXPECT_EQ(RunWithServer({"translate",
                           "--model",
                           "m",
                           "--source-language",
                           "en",
                           "--target-language",
                           "de",
                           "--beam-size",
                           "5",
                           "--num-hypotheses",
                           "2",
                           "--length-penalty",
                           "-0.5",
                           "--min-length",
                           "3",
                           "--max-length",
                           "40",
                           "--max-length-ratio",
                           "1.5",
                           "--no-repeat-ngram-size",
                           "4",
                           "--repetition-penalty",
                           "1.25",
                           "--early-stopping",
                           "never",
                           "--truncate",
                           "--split-sentences",
                           "x"}),
            kExitOk);
  ASSERT_EQ(server_.requests().size(), 1u);
  const v1::TranslateRequest request = server_.requests()[0];
  EXPECT_EQ(request.model(), "m");
  EXPECT_EQ(request.source_language(), "en");
  EXPECT_EQ(request.target_language(), "de");
  EXPECT_EQ(request.options().beam_size(), 5);
  EXPECT_EQ(request.options().num_hypotheses(), 2);
  EXPECT_EQ(request.options().length_penalty(), -0.5f);
  EXPECT_EQ(request.options().min_length(), 3);
  EXPECT_EQ(request.options().max_length(), 40);
  EXPECT_EQ(request.options().max_length_ratio(), 1.5f);
  EXPECT_EQ(request.options().no_repeat_ngram_size(), 4);
  EXPECT_EQ(request.options().repetition_penalty(), 1.25f);
  EXPECT_EQ(request.options().early_stopping(), v1::EARLY_STOPPING_NEVER);
  EXPECT_EQ(request.truncation(), v1::TRUNCATION_TRUNCATE);
  EXPECT_EQ(request.sentence_splitting(), v1::SENTENCE_SPLITTING_SENTENCES);
}

TEST_F(CommandsTest, MayAskForWholeTexts) {
  EXPECT_EQ(RunWithServer({"translate", "--no-split-sentences", "x"}), kExitOk);
  EXPECT_EQ(server_.requests()[0].sentence_splitting(), v1::SENTENCE_SPLITTING_NONE);
}

TEST_F(CommandsTest, LeavesUnsetOptionsToTheServer) {
  EXPECT_EQ(RunWithServer({"translate", "x"}), kExitOk);
  v1::TranslateRequest bare;
  bare.add_contents("x");
  bare.mutable_options();
  bare.mutable_output();
  EXPECT_EQ(server_.requests()[0].SerializeAsString(), bare.SerializeAsString());
}

TEST_F(CommandsTest, PrintsTheErrorOfTheServer) {
  EXPECT_EQ(RunWithServer({"translate"}, "one\ntwo\nbad\n"), kExitRefused);
  EXPECT_EQ(out(), "ONE\nTWO\n");  // each line has an answer of its own
  EXPECT_EQ(err(),
            "dragoman: INVALID_ARGUMENT: is bad\n"
            "  at line 3\n");
  EXPECT_EQ(RunWithServer({"translate", "bad"}), kExitRefused);
  EXPECT_EQ(err(), "dragoman: INVALID_ARGUMENT: is bad\n");
}

TEST_F(CommandsTest, RefusesInputThatIsNotUtf8) {
  EXPECT_EQ(RunWithServer({"translate"}, "good\nb\xFFse\n"), kExitRefused);
  EXPECT_THAT(err(), HasSubstr("INVALID_ARGUMENT: the text is not valid UTF-8\n  at line 2\n"));
}

TEST_F(CommandsTest, RefusesALineBeyondAllLimits) {
  EXPECT_EQ(RunWithServer({"translate"}, "good\n" + std::string(1 << 20, 'x')), kExitUsage);
  EXPECT_EQ(out(), "GOOD\n");
  EXPECT_THAT(err(), HasSubstr("line 2 has more than"));
}

TEST_F(CommandsTest, SkipsLinesThatFail) {
  EXPECT_EQ(RunWithServer({"translate", "--skip-errors"}, "one\nbad\nthree\n"), kExitRefused);
  EXPECT_EQ(out(), "ONE\n\nTHREE\n");
  EXPECT_EQ(err(), "dragoman: skipped line 2: INVALID_ARGUMENT: is bad\ndragoman: 1 skipped\n");
  EXPECT_EQ(RunWithServer({"translate", "--skip-errors", "--output", "json"}, "bad\n"),
            kExitRefused);
  EXPECT_EQ(json::parse(out()), json::parse(R"({"source": "bad", "error":
                {"code": "INVALID_ARGUMENT", "message": "is bad"}})"));
}

TEST_F(CommandsTest, SkipsALineThatIsNotUtf8) {
  const std::string input = "good\nb\xFFse\nthree\n";
  EXPECT_EQ(RunWithServer({"translate", "--skip-errors", "--output", "json"}, input), kExitRefused);
  EXPECT_THAT(out(), HasSubstr("{\"source\":\"b\uFFFDse\",\"error\":{"));
  EXPECT_THAT(out(), HasSubstr("\"THREE\""));
}

TEST_F(CommandsTest, SkipsLinesThatCannotBeSent) {
  const std::string input = "one\nb\xFF\n" + std::string(1 << 20, 'x') + "\nfour";
  EXPECT_EQ(RunWithServer({"translate", "--skip-errors"}, input), kExitRefused);
  EXPECT_EQ(out(), "ONE\n\n\nFOUR\n");
  EXPECT_EQ(err(),
            "dragoman: skipped line 2: INVALID_ARGUMENT: the text is not valid UTF-8\n"
            "dragoman: skipped line 3: INVALID_ARGUMENT: the line has more than 524288 bytes\n"
            "dragoman: 2 skipped\n");
  EXPECT_EQ(server_.requests().size(), 2u);
}

TEST_F(CommandsTest, ResumesWhereAnEarlierRunStopped) {
  const std::string input = PathOf("resume_input.txt");
  const std::string output = PathOf("resume_output.txt");
  std::string whole;
  {
    std::ofstream file(input);
    for (int i = 0; i < 200; ++i) {
      file << "line " << i << "\n";
      whole += "LINE " + std::to_string(i) + "\n";
    }
  }
  for (size_t kept = 0; kept <= whole.size(); kept += 333) {
    std::ofstream(output, std::ios::binary) << whole.substr(0, kept);
    EXPECT_EQ(RunWithServer({"translate", "--input", input, "--resume", output}), kExitOk);
    std::ifstream file(output, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), whole) << kept;
  }
  EXPECT_EQ(out(), "");
  std::ofstream(output, std::ios::app) << "one more\n";
  EXPECT_EQ(RunWithServer({"translate", "--input", input, "--resume", output}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("has 201 lines, more than the input (200)"));
  EXPECT_EQ(RunWithServer({"translate", "--resume", output, "--num-hypotheses", "2"}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("use --output json"));
}

TEST_F(CommandsTest, SaysThatThereIsNoServer) {
  EXPECT_EQ(Run({"translate", "--server", "127.0.0.1:1", "x"}), kExitUnreachable);
  EXPECT_THAT(err(), HasSubstr("cannot reach 127.0.0.1:1"));
}

TEST_F(CommandsTest, TakesTheServerFromTheEnvironment) {
  setenv("DRAGOMAN_SERVER", server_.address().c_str(), /*overwrite=*/1);
  EXPECT_EQ(Run({"translate", "x"}), kExitOk);
  unsetenv("DRAGOMAN_SERVER");
  EXPECT_EQ(out(), "X\n");
}

TEST_F(CommandsTest, RefusesAWrongCommandLine) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"dance"},
      {"translate", "--beam-size", "many"},
      {"translate", "--no-such-flag", "x"},
      {"translate", "--output", "xml", "x"},
      {"translate", "--early-stopping", "soon"},
      {"translate", "--deadline", "-1", "x"},
      {"load", "--rate", "5", "--concurrency", "2"},
      {"load", "--requests", "0"},
      {"translate", "--input", "/no/such/file"},
      {"translate", "--input", "file", "text"},
      {"translate", "--resume", "/no/such/directory/file"},
      {"load", "--input", "/no/such/file"}};
  for (const std::vector<std::string>& arguments : wrong) {
    EXPECT_EQ(Run(arguments), kExitUsage) << ::testing::PrintToString(arguments);
    EXPECT_EQ(out(), "");
    EXPECT_NE(err(), "");
  }
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(CommandsTest, GuessesWhatWasMeant) {
  EXPECT_EQ(Run({"transalte", "x"}), kExitUsage);
  EXPECT_EQ(err(),
            "dragoman: there is no command \"transalte\"; did you mean translate?\n"
            "See dragoman --help.\n");
  EXPECT_EQ(Run({"translate", "--beamsize", "4", "x"}), kExitUsage);
  EXPECT_EQ(err(),
            "dragoman translate: there is no option --beamsize; did you mean --beam-size?\n"
            "See dragoman translate --help.\n");
  EXPECT_EQ(Run({"models", "en-de", "now"}), kExitUsage);
  EXPECT_EQ(err(),
            "dragoman models: \"now\" is one argument too many\nSee dragoman models --help.\n");
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("dragoman: which command: translate, translate-file, score, "));
}

TEST_F(CommandsTest, TakesTheServerBeforeTheCommand) {
  EXPECT_EQ(Run({"--server", server_.address(), "translate", "x"}), kExitOk);
  EXPECT_EQ(Run({"--server=http://" + server_.address(), "translate", "x"}), kExitOk);
  EXPECT_EQ(out(), "X\n");
  EXPECT_EQ(Run({"--server"}), kExitUsage);
  EXPECT_EQ(Run({"translate", "--server", "http://x/y", "x"}), kExitUsage);
}

TEST_F(CommandsTest, PrintsHelpAndVersion) {
  EXPECT_EQ(Run({"--help"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("Exit codes"));
  EXPECT_EQ(Run({"translate", "--help"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("--length-penalty"));
  EXPECT_EQ(Run({"--version"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("dragoman 0."));
}

TEST_F(CommandsTest, ListsModels) {
  EXPECT_EQ(RunWithServer({"models"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("en-de *"));
  EXPECT_THAT(out(), HasSubstr("MarianMTModel"));
  EXPECT_EQ(RunWithServer({"models", "--output", "json", "en-de"}), kExitOk);
  const json model = json::parse(out());
  EXPECT_EQ(model["language_pairs"], json::parse(R"([{"source": "en", "target": "de"}])"));
  EXPECT_EQ(model["state"], "ready");
  EXPECT_EQ(RunWithServer({"models", "fr-de"}), kExitRefused);
  EXPECT_THAT(err(), HasSubstr("NOT_FOUND: no model \"fr-de\""));
}

TEST_F(CommandsTest, TheTableOfModelsFits) {
  EXPECT_EQ(RunWithServer({"models"}), kExitOk);
  std::istringstream lines(out());
  std::string heading, row;
  std::getline(lines, heading);
  std::getline(lines, row);
  for (const std::string& line : {heading, row}) {
    EXPECT_LE(line.size(), 80u) << line;
    EXPECT_NE(line.back(), ' ');
  }
  // The columns are aligned.
  EXPECT_EQ(heading.find("LANGUAGES"), row.find("en-de", 5));
  EXPECT_EQ(heading.find("ARCHITECTURE"), row.find("MarianMTModel"));
  EXPECT_EQ(heading.find("STATE"), row.find("ready"));
}

TEST_F(CommandsTest, ListsLanguages) {
  EXPECT_EQ(RunWithServer({"languages"}), kExitOk);
  EXPECT_EQ(out(), "en: de\n");
  EXPECT_EQ(RunWithServer({"languages", "-o", "json", "en"}), kExitOk);
  EXPECT_EQ(json::parse(out()), json::parse(R"({"source": "en", "targets": ["de"]})"));
  EXPECT_EQ(RunWithServer({"languages", "fi"}), kExitUsage);
  EXPECT_EQ(err(), "dragoman: no model translates from \"fi\"\n");
}

TEST_F(CommandsTest, OffersToolsToALanguageModel) {
  ASSERT_EQ(RunWithServer({"mcp"}, R"({"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"translate","arguments":{"text":"two\nlines","source_language":"en","target_language":"de","model":"en-de"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"languages"}}
)"),
            kExitOk);
  std::istringstream lines(out());
  std::string tools, translated, languages;
  ASSERT_TRUE(std::getline(lines, tools) && std::getline(lines, translated) &&
              std::getline(lines, languages));
  const json translate = json::parse(tools)["result"]["tools"][0];
  EXPECT_EQ(translate["name"], "translate");
  EXPECT_EQ(translate["inputSchema"]["required"], json::parse(R"(["text"])"));
  EXPECT_EQ(translate["inputSchema"]["properties"]["target_language"]["type"], "string");
  EXPECT_EQ(json::parse(translated), json::parse(R"({"jsonrpc": "2.0", "id": "b", "result": {
      "content": [{"type": "text", "text": "TWO\nLINES"}], "isError": false,
      "structuredContent": {"translation": "TWO\nLINES", "model": "en-de"}}})"));
  EXPECT_EQ(server_.requests()[0].source_language() + server_.requests()[0].target_language() +
                server_.requests()[0].model(),
            "endeen-de");
  EXPECT_EQ(json::parse(languages)["result"]["structuredContent"]["models"][0]["language_pairs"],
            json::parse(R"([{"source": "en", "target": "de"}])"));
}

TEST_F(CommandsTest, AgreesOnAVersionOfTheModelContextProtocol) {
  const auto agreed = [this](const std::string& version) {
    RunWithServer({"mcp"},
                  R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" +
                      version + R"("}})");
    return json::parse(out())["result"]["protocolVersion"];
  };
  for (const char* const known : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    EXPECT_EQ(agreed(known), known);
  }
  EXPECT_EQ(agreed("2026-07-28"), "2025-11-25");  // it has no `initialize`
  EXPECT_EQ(agreed("1999-01-01"), "2025-11-25");

  // Since 2026-07-28 every request names the version.
  const auto discovered = [this](const std::string& version) {
    RunWithServer(
        {"mcp"},
        R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":)" +
            version + "}}}");
    return json::parse(out());
  };
  EXPECT_EQ(discovered(R"("2026-07-28")")["result"]["resultType"], "complete");
  EXPECT_EQ(discovered(R"("2026-07-28")")["result"]["supportedVersions"][0], "2026-07-28");
  EXPECT_EQ(discovered(R"("2031-01-01")")["error"]["code"], -32022);
  EXPECT_EQ(discovered("[1]")["error"]["data"]["requested"], json::parse("[1]"));
}

TEST_F(CommandsTest, ALanguageModelReadsWhatWentWrong) {
  const auto said = [this](const std::string& params) {
    RunWithServer({"mcp"},
                  R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + params + "}");
    const json result = json::parse(out())["result"];
    return (result["isError"] ? "error: " : "") + std::string(result["content"][0]["text"]);
  };
  EXPECT_EQ(said(R"({"name": "translate"})"), "error: INVALID_ARGUMENT: text: is missing\n");
  EXPECT_EQ(said(R"({"name": "translate", "arguments": {"text": 7}})"),
            "error: INVALID_ARGUMENT: text: is a number, want a string\n");
  EXPECT_EQ(said(R"({"name": "detect", "arguments": {"text": "a", "txt": "b"}})"),
            "error: INVALID_ARGUMENT: txt: is no argument of detect\n");
  EXPECT_EQ(said(R"({"name": "translate", "arguments": {"text": "bad"}})"),
            "error: INVALID_ARGUMENT: the request is bad\n  contents[0]: is bad\n");
  EXPECT_THAT(said(R"({"name": "translate", "arguments": {"text": "busy"}})"),
              HasSubstr("try again in 0.25 s"));
}

TEST_F(CommandsTest, WhateverALanguageModelSendsIsAnswered) {
  const std::string call = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)";
  const struct {
    std::string line;
    int code;
  } kLines[] = {{"", -32700},
                {"Good morning.", -32700},
                {"\xff\xfe", -32700},
                {R"({"jsonrpc":"2.0","id":1,"method":"ping")", -32700},
                {std::string("{\0}", 3), -32700},
                {std::string(7 << 20, 'a'), -32700},
                {"7", -32600},
                {"[]", -32600},
                {"[7]", -32600},
                {std::string(1000, '[') + std::string(1000, ']'), -32600},
                {R"({"id":1,"id":2})", -32600},
                {R"({"jsonrpc":"2.0","id":1})", -32600},
                {R"({"jsonrpc":2,"id":1,"method":"ping"})", -32600},
                {R"({"jsonrpc":"2.0","id":1,"method":["ping"]})", -32600},
                {R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600},
                {R"({"jsonrpc":"2.0","id":1,"method":"pong"})", -32601},
                {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})", -32602},
                {R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})", -32602},
                {call + "{}}", -32602},
                {call + R"({"name":["translate"]}})", -32602},
                {call + R"({"name":"sing"}})", -32602},
                {call + R"({"name":"detect","arguments":"text"}})", -32602}};
  std::string input;
  for (const auto& [line, code] : kLines) {
    // Neither a notification nor an answer has an answer.
    input += line + "\n" + R"({"jsonrpc":"2.0","method":"notifications/cancelled"})" + "\n" +
             R"({"jsonrpc":"2.0","id":1,"result":{}})" + "\n";
  }
  ASSERT_EQ(RunWithServer({"mcp"}, input + R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"),
            kExitOk);
  std::istringstream answers(out());
  std::string answer;
  for (const auto& [line, code] : kLines) {
    ASSERT_TRUE(std::getline(answers, answer)) << line;
    const json parsed = json::parse(answer);
    EXPECT_EQ((parsed.is_array() ? parsed[0] : parsed)["error"]["code"], code) << answer;
  }
  ASSERT_TRUE(std::getline(answers, answer));
  EXPECT_EQ(answer, R"([{"jsonrpc":"2.0","id":1,"result":{}}])");
  EXPECT_FALSE(std::getline(answers, answer)) << answer;
}

TEST_F(CommandsTest, TakesShortOptions) {
  EXPECT_EQ(RunWithServer({"translate", "-m", "m", "-s", "en", "-t", "de", "-o", "json", "x"}),
            kExitOk);
  const v1::TranslateRequest request = server_.requests()[0];
  EXPECT_EQ(request.model(), "m");
  EXPECT_EQ(request.source_language(), "en");
  EXPECT_EQ(request.target_language(), "de");
  EXPECT_EQ(json::parse(out())["source"], "x");
}

TEST_F(CommandsTest, SuggestsTheWholeNameOfAnOption) {
  EXPECT_EQ(Run({"translate", "--target", "de", "x"}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("there is no option --target; did you mean --target-language?"));
  EXPECT_EQ(Run({"translate", "--source=en", "x"}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("did you mean --source-language?"));
}

TEST_F(CommandsTest, TheLinesOfAnArgumentSurvive) {
  EXPECT_EQ(RunWithServer({"translate", "one\ntwo", "three"}), kExitOk);
  EXPECT_EQ(out(), "ONE\nTWO\nTHREE\n");
}

TEST_F(CommandsTest, PrintsTheCompletionOfEachShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(Run({"completion", shell}), kExitOk);
    EXPECT_THAT(out(), HasSubstr("_dragoman"));
    EXPECT_THAT(out(), HasSubstr("dragoman-server"));
  }
  EXPECT_EQ(Run({"completion", "csh"}), kExitUsage);
}

TEST_F(CommandsTest, PrintsHealth) {
  EXPECT_EQ(RunWithServer({"health"}), kExitOk);
  EXPECT_EQ(out(), "SERVING\n");
  server_.SetServing(false);
  EXPECT_EQ(RunWithServer({"health"}), kExitRefused);
  EXPECT_EQ(out(), "NOT_SERVING\n");
  // Only a server that is serving translates; this one can be reached, but is draining.
  EXPECT_EQ(RunWithServer({"translate", "x"}), kExitRefused);
  EXPECT_THAT(err(), HasSubstr("UNAVAILABLE: " + server_.address() + " is not serving"));
  EXPECT_EQ(Run({"health", "--server", "127.0.0.1:1"}), kExitUnreachable);
}

TEST_F(CommandsTest, MeasuresUnderLoad) {
  const std::string path = PathOf("load_input.txt");
  std::ofstream(path) << "one\ntwo\n";
  EXPECT_EQ(RunWithServer({"load", "--requests", "20", "--concurrency", "3", "--input", path,
                           "--beam-size", "4", "--output", "json"}),
            kExitOk);
  const json report = json::parse(out());
  EXPECT_EQ(report["requests"], 20);
  EXPECT_EQ(report["texts"], 20);
  EXPECT_EQ(report["codes"], json::parse(R"({"OK": 20})"));
  EXPECT_GT(report["latency_seconds"]["p99.9"], 0.0);
  EXPECT_GT(report["requests_per_second"], 0.0);
  EXPECT_EQ(server_.requests().back().options().beam_size(), 4);
  EXPECT_EQ(RunWithServer({"load", "--requests", "5"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("codes       OK 5"));
}

TEST_F(CommandsTest, SweepsLeaveACurve) {
  const std::string name = PathOf("curve");
  EXPECT_EQ(RunWithServer({"load", "--sweep", "50,100", "--requests", "10", "--write", name}),
            kExitOk);
  EXPECT_THAT(out(), HasSubstr("== 100"));
  for (const char* end : {".json", ".csv", ".svg"}) {
    std::ifstream file(name + end);
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}), HasSubstr("100")) << end;
    std::remove((name + end).c_str());
  }
}

TEST_F(CommandsTest, ASweepFailsIfARateHasNoAnswer) {
  const std::string input = PathOf("sweep_input.txt"), name = PathOf("failing_curve");
  std::ofstream(input) << "broken after eleven\n";  // one request before the sweep, ten at 50
  EXPECT_EQ(RunWithServer({"load", "--sweep", "50,100,150", "--requests", "10", "--input", input,
                           "--write", name}),
            kExitRefused);
  EXPECT_THAT(out(), HasSubstr("OK 10"));
  EXPECT_THAT(err(), HasSubstr("dragoman: no answer was OK at 100, 150 requests/s\n"));
  std::ifstream file(name + ".csv");
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}), HasSubstr("\n150,10,"));
  for (const char* end : {".json", ".csv", ".svg"}) std::remove((name + end).c_str());
}

TEST_F(CommandsTest, ASweepThatCannotBeWrittenDoesNotBegin) {
  EXPECT_EQ(RunWithServer({"load", "--sweep", "50,100", "--write", "/no/such/directory/curve"}),
            kExitUsage);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(err(), "dragoman: cannot write /no/such/directory/curve.json\n");
  EXPECT_TRUE(server_.requests().empty());
}

}  // namespace
}  // namespace dragoman
