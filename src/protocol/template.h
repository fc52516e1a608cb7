/*-------------------------------------------------------------------------
 *
 * template.h
 *	  Templates: documents that are made from other documents.
 *
 * A template is a JSON object.  A string in it that begins with "$" is an
 * SQL/JSON path into the other document, and is replaced by what the path
 * finds there: a member of an object by the first item, and left out if there
 * is none; an element of an array by all items.
 *
 *	{"text": "$.payload.text", "parents": ["$.meta.parents[*]", "$.id"]}
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TEMPLATE_H
#define CLUTCH_TEMPLATE_H

#include "base/path.h"
#include "protocol/problem.h"
#include "utils/jsonb.h"

/* the maximum number of items that replace an element of an array */
#define TEMPLATE_MOST_ITEMS		1000

/* Reads a path.  Adds a fault at its place if it cannot be used. */
extern void template_read_path(Slice text, const char *place, ProblemList *faults, DocumentPath *path);

/* Adds the faults of the paths in a value, whose place is given. */
extern void template_check(const JsonbValue *value, const char *place, ProblemList *faults);

/* Returns the document, palloc'd.  The template must be an object. */
extern Jsonb *template_fill(const JsonbContainer *template, Jsonb *source);

#endif							/* CLUTCH_TEMPLATE_H */
