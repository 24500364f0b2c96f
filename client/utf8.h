// Whether bytes are text.

#ifndef DRAGOMAN_CLIENT_UTF8_H_
#define DRAGOMAN_CLIENT_UTF8_H_

#include <cstddef>
#include <string_view>

namespace dragoman {

// The bytes at the front of `text` that are valid UTF-8 (RFC 3629: no surrogates, nothing overlong,
// nothing above U+10FFFF); text.size() if all of them are.
size_t ValidUtf8Prefix(std::string_view text);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_UTF8_H_
