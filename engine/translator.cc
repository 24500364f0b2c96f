#include "engine/translator.h"
