/*-------------------------------------------------------------------------
 *
 * place.h
 *	  Where in a document a value stands, and what is wrong with it there.
 *
 * A place costs nothing while all is well: it is a chain of frames on the
 * stack, spelled out as a path (RFC 6901) only for a fault.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PLACE_H
#define CLUTCH_PLACE_H

#include "base/text.h"
#include "protocol/problem.h"

typedef struct Place
{
	const struct Place *up;		/* NULL: the document */
	Slice		key;			/* of an object; absent: in an array */
	int			index;			/* in an array */
	const char *base;			/* instead of both: a path already spelled */
} Place;

/* a fault whose sentence begins with the name of the place */
extern void place_fault(const Place *place, ProblemList *list, const char *code,
						const char *format,...) pg_attribute_printf(4, 5);

/* a text of the user in quotes, clipped to fit a sentence; palloc'd */
extern char *place_quote(Slice text);

#endif							/* CLUTCH_PLACE_H */
