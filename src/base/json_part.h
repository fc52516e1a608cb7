/*-------------------------------------------------------------------------
 *
 * json_part.h
 *	  Private declarations of json.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_JSON_PART_H
#define CLUTCH_JSON_PART_H

#include "base/json.h"

extern Json *json_new(JsonKind kind);

/*
 * Gives an empty object or array n values, all of which are null.  The caller
 * sets the keys.
 */
extern void json_fill(Json *container, int n);

/*
 * Removes the first step of a path, which begins with a slash, and returns it
 * unescaped.  A step that contains '~' is copied.
 */
extern Slice json_path_next(const char **path);

/*
 * Returns the index of a step in an object or an array, or -1 if it is not
 * there.
 */
extern int	json_find(const Json *value, Slice step);

/*
 * Puts a value at one step.  In an array, an index after the last element adds
 * one.
 */
extern void json_put_step(Json *value, Slice step, Json *item);

#endif							/* CLUTCH_JSON_PART_H */
