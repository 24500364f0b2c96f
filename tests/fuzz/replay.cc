// Runs a fuzzer without libFuzzer: on each file of a corpus, and then on random mutations of them.
//
//   dragoman-fuzz config CORPUS    the same seed makes the same inputs
//   dragoman-fuzz config FILE      one input, for example one that a crash left behind
//
// DRAGOMAN_SEED sets the seed (1); DRAGOMAN_FUZZ_RUNS and DRAGOMAN_FUZZ_SECONDS (0.5) say when
// to stop. An input that crashes is saved as "crash" in the working directory.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzzer.h"

namespace {

using Bytes = std::string;
using Random = std::mt19937_64;

dragoman::Fuzzer* fuzzer = nullptr;
const Bytes* running = nullptr;  // the current input, for the signal handler

void LeaveInput(int signal) {
  const int fd = open("crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd >= 0 && running != nullptr && write(fd, running->data(), running->size()) >= 0) close(fd);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

void Run(const Bytes& input) {
  running = &input;
  fuzzer(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  running = nullptr;
}

std::vector<Bytes> ReadCorpus(const std::string& path) {
  std::vector<std::string> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      files.push_back(entry.path().string());
    }
  } else {
    files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> corpus;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return corpus;
}

size_t Below(size_t bound, Random* random) { return bound == 0 ? 0 : (*random)() % bound; }

// Applies one of the small mutations that find most bugs: of a byte, of the length, of the order.
void Change(const std::vector<Bytes>& corpus, Random* random, Bytes* input) {
  static constexpr char kOdd[] = {'\0', '\x01', '\x7f', '\x80', '\xff', '\n', '"', '{', '0', '-'};
  const size_t at = Below(input->size() + 1, random);
  const size_t size = Below(std::min<size_t>(input->size() - at + 1, 64), random);
  switch (Below(7, random)) {
    case 0:
      if (at < input->size()) (*input)[at] ^= static_cast<char>(1 << Below(8, random));
      break;
    case 1:
      if (at < input->size()) (*input)[at] = kOdd[Below(sizeof(kOdd), random)];
      break;
    case 2:
      input->insert(at, 1, static_cast<char>(Below(256, random)));
      break;
    case 3:
      input->erase(at, size);
      break;
    case 4:
      input->insert(at, input->substr(at, size));
      break;
    case 5: {  // a part of another input
      const Bytes& other = corpus[Below(corpus.size(), random)];
      const size_t from = Below(other.size() + 1, random);
      input->insert(at, other.substr(from, Below(64, random)));
      break;
    }
    case 6:
      input->resize(at);
      break;
  }
}

uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FUZZER CORPUS\n", argv[0]);
    return 1;
  }
  fuzzer = dragoman::FindFuzzer(argv[1]);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) ::signal(signal, LeaveInput);
  const std::vector<Bytes> corpus = ReadCorpus(argv[2]);
  for (const Bytes& input : corpus) Run(input);
  if (corpus.empty() || !std::filesystem::is_directory(argv[2])) return corpus.empty();

  const uint64_t seed = Setting("DRAGOMAN_SEED", 1);
  const uint64_t runs = Setting("DRAGOMAN_FUZZ_RUNS", 1'000'000'000);
  const char* const seconds = std::getenv("DRAGOMAN_FUZZ_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration<double>(seconds == nullptr ? 0.5 : std::atof(seconds));
  std::fprintf(stderr, "DRAGOMAN_SEED=%llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  uint64_t done = 0;
  for (; done < runs && std::chrono::steady_clock::now() < end; ++done) {
    Bytes input = corpus[Below(corpus.size(), &random)];
    for (size_t changes = 1 + Below(8, &random); changes > 0; --changes) {
      Change(corpus, &random, &input);
    }
    Run(input);
  }
  std::fprintf(stderr, "%zu files and %llu changes of them\n", corpus.size(),
               static_cast<unsigned long long>(done));
  return 0;
}
