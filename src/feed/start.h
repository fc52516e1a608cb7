/*-------------------------------------------------------------------------
 *
 * start.h
 *	  Starts: where a reader of the log begins or continues.
 *
 * This is a position or, if clutch.read_from was asked for fewer events than
 * one transaction has written, a seq between two positions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_START_H
#define CLUTCH_START_H

#include "feed/position.h"

typedef struct Start
{
	Position	from;
	bool		is_between;
	Position	until;
	int64		place;			/* the seq to continue after */
} Start;

/*
 * Reads what a user passed in the named argument: "beginning", "now", a
 * position, or what start_text wrote.  Raises 22023 if it is none of these, and
 * KL008 if it does not belong to this database.
 */
extern Start start_parse(Slice text, const char *argument);

/* Returns a position or from/until/seq, palloc'd. */
extern char *start_text(const Start *start);

#endif							/* CLUTCH_START_H */
