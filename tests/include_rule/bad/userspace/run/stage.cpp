// SPDX-License-Identifier: Apache-2.0
#include "pin/step.h"
