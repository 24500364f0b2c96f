// Token files: whatever the file contains, a token of it identifies the principal beside it, and no
// other string identifies anybody.

#include <sstream>
#include <string>

#include "server/auth/token_file.h"
#include "tests/fuzz/fuzzer.h"

FUZZER(token_file) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<dragoman::TokenTable> table = dragoman::TokenTable::Parse(text);
  if (!table.ok()) {
    FUZZ_CHECK(!table.status().message().empty());
    return;
  }
  FUZZ_CHECK(table->size() > 0);
  FUZZ_CHECK(!table->Find("").has_value());
  FUZZ_CHECK(!table->Find("no token of any file, as it has blanks").has_value());
  size_t found = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string principal, token;
    if (!(words >> principal >> token)) continue;
    FUZZ_CHECK(table->Find(token) == principal);
    if (const auto rights = table->RightsOf(principal); rights != nullptr) {
      const dragoman::Quota& quota = rights->quota;
      FUZZ_CHECK(quota.per_minute >= 1 || (quota.per_minute == 0 && quota.burst == 0));
      FUZZ_CHECK(rights->beam >= 0 && rights->beam <= 256 && rights->texts_per_minute >= 0);
      FUZZ_CHECK(!rights->models.has_value() || !rights->models->contains(""));
    }
    // The token with one more character is unknown, unless the file lists it, too.
    const std::optional<std::string> other = table->Find(token + "x");
    FUZZ_CHECK(!other.has_value() || text.find(token + "x") != std::string::npos);
    ++found;
  }
  FUZZ_CHECK(found == table->size());
}
