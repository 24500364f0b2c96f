# Writes a file as a C++ source: cmake -D INPUT=api.binpb -D OUTPUT=api_descriptors.cc -P embed.cmake
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUTPUT} "#include \"server/http/api_descriptors.h\"
namespace dragoman {
const unsigned char kApiDescriptors[] = {${bytes}};
const size_t kApiDescriptorsSize = sizeof(kApiDescriptors);
}  // namespace dragoman
")
