/*-------------------------------------------------------------------------
 *
 * level.c
 *	  Levels of network access, trust and cost, and the words for them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/level.h"

const char *const level_network[] = {"none", "egress-restricted", "open", NULL};
const char *const level_trust[] = {"sandbox", "prod", NULL};
const char *const level_cost[] = {"low", "medium", "high", NULL};
