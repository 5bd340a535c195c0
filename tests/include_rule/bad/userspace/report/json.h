// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "run/stage.h"

#include <nlohmann/json.hpp>
