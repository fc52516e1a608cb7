/*-------------------------------------------------------------------------
 *
 * json.h
 *	  JSON documents that can be changed.
 *
 * A jsonb is read where it lies (base/document.h) and cannot be changed.  Code
 * that turns one document into another, member by member, reads it into a tree of
 * values, puts those where they belong, and writes the tree as a jsonb.  Numbers
 * stay numerics, so nothing is rounded.
 *
 * A path is a JSON Pointer (RFC 6901): "/params/name", or "" for the value itself.
 * In an array, a step is the place of an element, counted from 0.
 *
 * Values are palloc'd in the current context.  A value that is put into another
 * one is shared, not copied: whoever changes it afterwards changes both, and a
 * value must never contain itself.  json_copy makes an independent one.  Texts and
 * keys that were read from a jsonb lie in that jsonb, which must live as long.
 *
 * The server has functions whose names begin with json_, too: a new name must not be
 * one of utils/fmgrprotos.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_JSON_H
#define CLUTCH_JSON_H

#include "base/text.h"
#include "utils/jsonb.h"

typedef enum JsonKind
{
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_TEXT,
	JSON_ARRAY,
	JSON_OBJECT
} JsonKind;

typedef struct Json Json;

struct Json
{
	JsonKind	kind;
	bool		boolean;
	Numeric		number;
	Slice		text;
	int			n;				/* how many elements or members */
	int			room;
	Slice	   *keys;			/* of an object, in the order of jsonb */
	Json	  **items;			/* the elements, or the values of the members */
};

/* --- from and to jsonb --- */

extern Json *json_read(Jsonb *document);
extern Jsonb *json_write(const Json *value);

/* --- new values --- */

extern Json *json_new_null(void);
extern Json *json_new_object(void);
extern Json *json_new_array(void);
extern Json *json_of_text(Slice text);	/* not copied */
extern Json *json_of_cstring(const char *text);	/* not copied */
extern Json *json_of_int(int64 number);
extern Json *json_of_bool(bool boolean);
extern Json *json_copy(const Json *value);	/* of NULL: NULL */
extern Json *json_copy_top(const Json *value);	/* shares the members; of NULL: NULL */

/*
 * The value that a text stands for; NULL if it is not JSON, or contains what a jsonb
 * cannot hold.
 */
extern Json *json_parse(Slice text);

/* --- looking --- */

/* what is at a path; NULL: nothing */
extern Json *json_get(const Json *value, const char *path);
extern Json *json_member(const Json *object, Slice key);

/* the same if it is of that kind; otherwise NULL, an absent Slice or false */
extern Json *json_get_kind(const Json *value, const char *path, JsonKind kind);
extern Slice json_get_text(const Json *value, const char *path);
extern bool json_get_int(const Json *value, const char *path, int64 *number);
extern bool json_is_true(const Json *value, const char *path);

static inline bool
json_is(const Json *value, JsonKind kind)
{
	return value != NULL && value->kind == kind;
}

/* As jsonb compares: numbers by value, members in any order.  Two NULLs are equal. */
extern bool json_equal(const Json *a, const Json *b);

/* a path, and one step more, in which '~' and '/' are escaped; palloc'd */
extern char *json_path(const char *path, Slice key);
extern char *json_path_index(const char *path, int index);

/* --- changing --- */

/*
 * Puts a value at a path, in place of what is there.  Objects on the way are made;
 * nothing is done if the way leads through something else, or if one of the two is NULL.
 */
extern void json_put(Json *value, const char *path, Json *item);
extern void json_put_text(Json *value, const char *path, Slice text);	/* absent: nothing is done */
extern void json_put_cstring(Json *value, const char *path, const char *text);	/* NULL: nothing is done */
extern void json_put_member(Json *object, Slice key, Json *item);
extern void json_add(Json *array, Json *item);

/* Removes what is at a path and returns it; NULL: nothing is there. */
extern Json *json_take(Json *value, const char *path);

/* removes an element or member by its place */
extern void json_take_at(Json *value, int place);

/*
 * Puts such copies in place of the containers at the path and on the way to it, so that
 * what is put there afterwards is not put into a value that shares them.
 */
extern void json_unshare(Json *value, const char *path);

/* --- differences --- */

/*
 * What makes one value of another: an array of {"path": .., "was": .., "is": ..},
 * without "was" where something is added, and without "is" where it is removed.  It is
 * empty if the two are equal.
 */
extern Json *json_difference(const Json *from, const Json *to);

/*
 * Makes each change for which the value still has, at that path, what was there, and
 * leaves out the others.  Returns the changed value, which is another one only if all
 * of it was replaced.
 */
extern Json *json_apply(Json *value, const Json *changes);

#endif							/* CLUTCH_JSON_H */
