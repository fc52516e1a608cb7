/*-------------------------------------------------------------------------
 *
 * json.h
 *	  Modifiable JSON documents.
 *
 * A jsonb is read in place (base/document.h) and cannot be modified.  Code
 * that transforms one document into another, member by member, reads the jsonb
 * into a tree of values, moves them to their new places, and writes the tree
 * as a jsonb again.  Numbers are numerics, so nothing is rounded.
 *
 * A path is a JSON Pointer (RFC 6901): "/params/name", or "" for the value
 * itself.  In an array, a step is the index of an element, counted from 0.
 *
 * Values are palloc'd in the current context.  A value that is put into
 * another one is shared, not copied, so a later change of it is seen in both
 * places.  A value must never contain itself.  json_copy makes an independent
 * copy.  Texts and keys that were read from a jsonb point into it, so the
 * jsonb must live as long as they are used.
 *
 * The server also has functions whose names begin with json_.  A new name must
 * not be declared in utils/fmgrprotos.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_JSON_H
#define CLUTCH_JSON_H

#include "base/text.h"
#include "lib/stringinfo.h"
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
	int			n;				/* number of elements or members */
	int			room;			/* number that fit into keys and items */
	Slice	   *keys;			/* of an object, in the order of jsonb */
	Json	  **items;			/* the elements, or the values of the members */
};

/* --- from and to jsonb --- */

extern Json *json_read(Jsonb *document);
extern Jsonb *json_write(const Json *value);
extern Slice json_print(const Json *value);	/* the JSON text, palloc'd */

/* --- new values --- */

extern Json *json_new_null(void);
extern Json *json_new_object(void);
extern Json *json_new_array(void);
extern Json *json_of_text(Slice text);	/* not copied */
extern Json *json_of_cstring(const char *text);	/* not copied */
extern Json *json_of_int(int64 number);
extern Json *json_of_bool(bool boolean);
extern Json *json_copy(const Json *value);	/* NULL gives NULL */
extern Json *json_copy_top(const Json *value);	/* shares the members; NULL
												 * gives NULL */

/*
 * Returns the value of a JSON text, or NULL if it is not JSON, or contains
 * something that jsonb cannot represent.  Takes a savepoint.
 */
extern Json *json_parse(Slice text);

/* --- looking --- */

/* Returns the value at a path, or NULL if there is none. */
extern Json *json_get(const Json *value, const char *path);
extern Json *json_member(const Json *object, Slice key);

/*
 * The same, but NULL, an absent Slice or false if the value is of another
 * kind.
 */
extern Json *json_get_kind(const Json *value, const char *path, JsonKind kind);
extern Slice json_get_text(const Json *value, const char *path);
extern bool json_get_int(const Json *value, const char *path, int64 *number);
extern bool json_has_text(const Json *value, const char *path);
extern bool json_is_true(const Json *value, const char *path);
extern bool json_says(const Json *value, const char *path, const char *word);	/* is it the text "word"? */

static inline bool
json_is(const Json *value, JsonKind kind)
{
	return value != NULL && value->kind == kind;
}

/* Compares as jsonb does: numbers by value, members in any order.  Two NULL pointers are equal. */
extern bool json_equal(const Json *a, const Json *b);

/*
 * Returns a hash over a previous hash (0 if there is none) and a value, or a
 * text.  Equal values have the same hash in all databases on machines with the
 * same byte order.  This is not cryptographic: anybody can find values with
 * the same hash.
 */
extern uint64 json_hash(uint64 hash, const Json *value);
extern uint64 json_hash_text(uint64 hash, Slice text);

/*
 * Returns a path extended by one step, in which '~' and '/' are escaped,
 * palloc'd.
 */
extern char *json_path(const char *path, Slice key);
extern char *json_path_index(const char *path, int index);
extern void json_add_step(StringInfo path, Slice key);	/* the same, in place */

/* --- changing --- */

/*
 * Puts a value at a path, replacing the value that is there.  Missing objects
 * on the path are added.  Does nothing if the path leads through a value of
 * another kind, or if one of the two values is NULL.
 */
extern void json_put(Json *value, const char *path, Json *item);
extern void json_put_text(Json *value, const char *path, Slice text);	/* does nothing if absent */
extern void json_put_cstring(Json *value, const char *path, const char *text);	/* does nothing if NULL */
extern void json_put_member(Json *object, Slice key, Json *item);
extern void json_add(Json *array, Json *item);
extern void json_add_all(Json *array, const Json *more);	/* does nothing if NULL */

/* Removes the value at a path and returns it, or NULL if there is none. */
extern Json *json_take(Json *value, const char *path);

/* Removes an element or member by its index. */
extern void json_take_at(Json *value, int place);

/*
 * Replaces the containers at the path and on the way to it by copies made with
 * json_copy_top, so that later changes there do not affect values that share
 * them.
 */
extern void json_unshare(Json *value, const char *path);

/* --- differences --- */

/*
 * Returns the changes that turn one value into another: an array of {"path":
 * .., "was": .., "is": ..}, without "was" if something is added, and without
 * "is" if something is removed.  It is empty if the two are equal.
 */
extern Json *json_difference(const Json *from, const Json *to);

/*
 * Applies each change whose "was" is still the value at that path, and ignores
 * the others.  Returns the changed value, which is a different pointer only if
 * the value as a whole was replaced.
 */
extern Json *json_apply(Json *value, const Json *changes);

#endif							/* CLUTCH_JSON_H */
