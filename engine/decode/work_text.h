// Work, measured in rows (JobCost), for people who write texts.

#ifndef DRAGOMAN_ENGINE_DECODE_WORK_TEXT_H_
#define DRAGOMAN_ENGINE_DECODE_WORK_TEXT_H_

#include <string>

namespace dragoman {

// "6000 rows of work (about 920 words with a beam of 4)".
std::string DescribeWork(double rows);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_WORK_TEXT_H_
