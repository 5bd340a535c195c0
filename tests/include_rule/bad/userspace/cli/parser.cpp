// SPDX-License-Identifier: Apache-2.0
#include "../base/bytes.h"
#include "verb.h"

#include <CLI/CLI.hpp>

#include <base/bytes.h>
