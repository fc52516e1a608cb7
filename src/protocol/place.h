/*-------------------------------------------------------------------------
 *
 * place.h
 *	  Places of values in a document, for reporting faults.
 *
 * A place costs nothing as long as there is no fault: it is a chain of structs
 * on the stack, which is written out as a path (RFC 6901) only when needed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PLACE_H
#define CLUTCH_PLACE_H

#include "base/text.h"
#include "protocol/problem.h"

typedef struct DocumentPlace
{
	const struct DocumentPlace *up; /* NULL if directly in the document */
	Slice		key;			/* the key in an object; absent in an array */
	int			index;			/* the index in an array */
	const char *base;			/* if set, this path is used instead of key and
								 * index */
} DocumentPlace;

/* Returns the path (RFC 6901), palloc'd; "" for the document. */
extern char *place_path(const DocumentPlace *place);

/*
 * Returns the subject of a sentence, palloc'd: "ts", or: Element 2 of
 * "requires".
 */
extern char *place_name(const DocumentPlace *place);

/*
 * Adds a fault.  The name of the place begins the sentence, and the format
 * continues it.
 */
extern void place_fault(const DocumentPlace *place, ProblemList *list, const char *code,
						const char *format,...) pg_attribute_printf(4, 5);

/*
 * Returns a user's text in quotes, truncated to fit into a message, palloc'd.
 */
extern char *place_quote(Slice text);

#endif							/* CLUTCH_PLACE_H */
