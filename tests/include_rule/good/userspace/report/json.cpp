// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include "model/trial.h"

#include <nlohmann/json.hpp>
