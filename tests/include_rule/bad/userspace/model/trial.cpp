// SPDX-License-Identifier: Apache-2.0
#include "host/facts.h"
