// Writes the translation of a text with markup: the raw bytes, with sentences replaced.
//
//   raw          <p><b>Hello</b> world.</p>
//   translation  "Welt, hallo.", and <b> has "hallo"
//   rendered     <p>Welt, <b>hallo</b>.</p>
//
// The tags in a sentence are copied, too: a sentence may be within one of them, as the value of an
// attribute.  A text may be rendered in parts, as its sentences become known.

#ifndef DRAGOMAN_ENGINE_REQUEST_RENDERING_H_
#define DRAGOMAN_ENGINE_REQUEST_RENDERING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "engine/text/marked_sentence.h"
#include "engine/text/markup.h"
#include "engine/text/placement.h"
#include "engine/text/text_map.h"
#include "engine/text/text_span.h"

namespace dragoman {

// A text, and the sentences that it was divided into.
struct MarkedContent {
  MarkedText text;
  std::vector<MarkedSentence> sentences;
  std::string direction;  // what dir is to be set to; "": as it is
};

class Renderer {
 public:
  // `content` must outlive the renderer.
  explicit Renderer(const MarkedContent* content);

  // The translation of a sentence, valid UTF-8, and where its marks are in it.  A sentence without
  // one is copied.
  void Set(size_t sentence, std::string translation, Placement placement);

  // Renders the raw bytes up to `end`, which are not inside of a sentence, nor before those that
  // have been rendered.  REQUIRES: the sentences that begin before `end` are set, if they ever are.
  void Advance(size_t end);

  // What has been rendered, and the place of a sentence in it.
  const std::string& text() const { return text_; }
  TextSpan SpanOf(size_t sentence) const { return states_[sentence].rendered; }
  // The places of its translation's bytes.
  const TextMap& MapOf(size_t sentence) const { return states_[sentence].map; }

 private:
  // Raw bytes that are replaced.
  struct Splice {
    TextSpan raw;
    enum Kind { kDirection, kQuote, kSentence } kind = kSentence;
    size_t number = 0;  // of the sentence or, for a quote, of the segment
  };
  struct State {
    bool is_set = false;
    std::string translation;
    Placement placement;
    TextSpan rendered;
    TextMap map;
  };
  class SentenceWriter;

  void Copy(TextSpan raw, size_t first);
  void CopyTag(TextSpan raw);
  bool Replaces(const Splice& splice) const;
  void Write(const Splice& splice);

  const MarkedContent& content_;
  std::vector<Splice> splices_;  // by their first byte
  std::vector<State> states_;    // of the sentences
  std::vector<char> quoted_;     // whether the values of these segments get quotes
  std::string text_;
  size_t done_ = 0;  // raw bytes
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_RENDERING_H_
