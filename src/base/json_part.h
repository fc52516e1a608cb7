/*-------------------------------------------------------------------------
 *
 * json_part.h
 *	  For the files of json alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_JSON_PART_H
#define CLUTCH_JSON_PART_H

#include "base/json.h"

extern Json *json_new(JsonKind kind);

/* gives an object or array, which has nothing, n values that are null; the keys are to be set */
extern void json_fill(Json *container, int n);

/* makes room for one more at a place, and puts it there */
extern void json_insert(Json *container, int place, Slice key, Json *item);

/* Takes the first step off a path, which begins with a slash.  A step with '~' is copied. */
extern Slice json_path_next(const char **path);

/* the order of jsonb */
static inline int
json_compare_keys(Slice a, Slice b)
{
	if (a.len != b.len)
		return a.len - b.len;
	/* most keys of one length differ in their first byte */
	if (a.len > 0 && a.s[0] != b.s[0])
		return (unsigned char) a.s[0] - (unsigned char) b.s[0];
	return memcmp(a.s, b.s, a.len);
}

/* the place of a step in an object or an array; -1 if it is not there */
extern int	json_find(const Json *value, Slice step);

/* A place behind the last element of an array adds one. */
extern void json_put_step(Json *value, Slice step, Json *item);

#endif							/* CLUTCH_JSON_PART_H */
