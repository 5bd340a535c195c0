/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#pragma once
