/*-------------------------------------------------------------------------
 *
 * place.h
 *	  The place of a value in a document, for reporting a fault there.
 *
 * A place costs nothing as long as there is no fault: it is a chain of frames
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
	const struct DocumentPlace *up; /* NULL means directly in the document */
	Slice		key;			/* the key in an object; absent in an array */
	int			index;			/* the index in an array */
	const char *base;			/* if set, this path instead of key and index */
} DocumentPlace;

/* Returns the path (RFC 6901), palloc'd; "" for the document. */
extern char *place_path(const DocumentPlace *place);

/*
 * Returns the subject of a sentence, palloc'd: "ts", or: Element 2 of
 * "requires".
 */
extern char *place_name(const DocumentPlace *place);

/* adds a fault; the place's name begins the sentence, the format continues it */
extern void place_fault(const DocumentPlace *place, ProblemList *list, const char *code,
						const char *format,...) pg_attribute_printf(4, 5);

/*
 * Returns the user's text in quotes, clipped so that it fits into a sentence;
 * palloc'd.
 */
extern char *place_quote(Slice text);

#endif							/* CLUTCH_PLACE_H */
