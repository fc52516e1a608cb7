/* The former name of base/savepoint.h, until nothing includes it any more. */
#ifndef CLUTCH_ATTEMPT_H
#define CLUTCH_ATTEMPT_H

#include "base/savepoint.h"

#define attempt(step, arg)				savepoint_run((step), (arg))
#define attempt_failed_by_chance(error)	savepoint_failed_by_chance(error)

#endif							/* CLUTCH_ATTEMPT_H */
