/*-------------------------------------------------------------------------
 *
 * path.h
 *	  The SQL/JSON path of a filter.
 *
 * A path fits an envelope if it finds something there or, for a predicate, if
 * it is true.  Where a path cannot be applied to an envelope it does not fit,
 * and raises nothing: one odd event must not end every read from then on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PATH_H
#define CLUTCH_PATH_H

#include "base/text.h"
#include "utils/jsonb.h"

typedef struct FilterPath
{
	struct varlena *jsonpath;	/* NULL: there is no path, and everything fits */
	bool		is_predicate;	/* it is true, false or unknown */
	bool		has_variable;	/* it cannot be used: nothing gives "$x" a value */
} FilterPath;

/*
 * Reads a path, palloc'd.  Raises 42601 for a mistake in its syntax, and what
 * the server has to say about the literal arguments of its methods, such as
 * 22007 for a format of datetime().
 */
extern FilterPath path_parse(Slice text);

extern bool path_fits(const FilterPath *path, Jsonb *envelope);

#endif							/* CLUTCH_PATH_H */
