// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "report/json.h"
#include "run/stage.h"

#include <CLI/CLI.hpp>
