// The readers of files that are one part (document.h), one .cc each, which teaches what it reads.

#ifndef DRAGOMAN_DOCUMENTS_READERS_H_
#define DRAGOMAN_DOCUMENTS_READERS_H_

#include "documents/document.h"

namespace dragoman {

using Passages = absl::StatusOr<std::vector<Passage>>;

Passages ReadText(std::string_view part, const DocumentOptions& options);
Passages ReadHtml(std::string_view part, const DocumentOptions& options);
Passages ReadMarkdown(std::string_view part, const DocumentOptions& options);
Passages ReadSrt(std::string_view part, const DocumentOptions& options);
Passages ReadVtt(std::string_view part, const DocumentOptions& options);
Passages ReadAss(std::string_view part, const DocumentOptions& options);
Passages ReadPo(std::string_view part, const DocumentOptions& options);
Passages ReadXliff(std::string_view part, const DocumentOptions& options);
Passages ReadTmx(std::string_view part, const DocumentOptions& options);
Passages ReadQtTs(std::string_view part, const DocumentOptions& options);
Passages ReadJson(std::string_view part, const DocumentOptions& options);
Passages ReadArb(std::string_view part, const DocumentOptions& options);
Passages ReadProperties(std::string_view part, const DocumentOptions& options);
Passages ReadYaml(std::string_view part, const DocumentOptions& options);
Passages ReadAndroid(std::string_view part, const DocumentOptions& options);
Passages ReadAppleStrings(std::string_view part, const DocumentOptions& options);
Passages ReadStringsdict(std::string_view part, const DocumentOptions& options);
Passages ReadXcstrings(std::string_view part, const DocumentOptions& options);
Passages ReadResx(std::string_view part, const DocumentOptions& options);
Passages ReadFluent(std::string_view part, const DocumentOptions& options);
Passages ReadPhp(std::string_view part, const DocumentOptions& options);
Passages ReadCsv(std::string_view part, const DocumentOptions& options);
Passages ReadTsv(std::string_view part, const DocumentOptions& options);
Passages ReadDita(std::string_view part, const DocumentOptions& options);

// Whether a .ts is Qt's, not TypeScript, and a .php holds an array, by its first bytes.
bool BeginsQtTs(std::string_view bytes);
bool BeginsPhpArray(std::string_view bytes);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_READERS_H_
