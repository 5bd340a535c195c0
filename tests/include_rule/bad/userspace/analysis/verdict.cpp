// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver.h"
#include "host/facts.h"
#include "pin/step.h"
#include "probes/load.h"
#include "run/stage.h"
