/*-------------------------------------------------------------------------
 *
 * document.h
 *	  Reading and building jsonb without going through text.
 *
 * Reading never copies: strings come as Slices into the document.  Building
 * (document_build.c) goes from the outside inwards:
 *
 *		DocumentBuilder b;
 *
 *		document_begin(&b);
 *		document_put_text(&b, "selected", agent_id);
 *		document_open_array(&b, "candidates");
 *		document_add_text(&b, agent_id);
 *		document_close_array(&b);
 *		jsonb = document_end(&b);
 *
 * Keys are not copied and must live until their container is closed; values
 * are copied at once.  If a key occurs several times in one object, the last
 * one counts.  Everything is palloc'd in the current context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DOCUMENT_H
#define CLUTCH_DOCUMENT_H

#include "base/text.h"
#include "datatype/timestamp.h"
#include "utils/jsonb.h"

/* --- reading --- */

/* Returns the value if it is a string, or else an absent slice. */
static inline Slice
document_text(const JsonbValue *value)
{
	return value->type == jbvString ? (Slice) {value->val.string.val, value->val.string.len} : SLICE_NONE;
}

/*
 * Gets the value of a key of an object.  Returns false if it is absent, or if
 * this is not an object, or NULL.
 */
extern bool document_get(JsonbContainer *object, const char *key, JsonbValue *value);
/* Returns it if it is a string, or else an absent slice. */
extern Slice document_get_text(JsonbContainer *object, const char *key);
/* Returns it if it is an object or an array, or else NULL. */
extern JsonbContainer *document_get_container(JsonbContainer *object, const char *key);
extern bool document_get_int(JsonbContainer *object, const char *key, int64 *number);
extern bool document_get_bool(JsonbContainer *object, const char *key, bool *flag);

/* Makes a separate jsonb from a value inside another one, palloc'd. */
extern Jsonb *document_of_value(JsonbValue *value);
/* Returns the whole document as a value, which points into it. */
extern JsonbValue document_value(Jsonb *document);

/* --- building --- */

typedef struct DocumentLevel DocumentLevel;

typedef struct DocumentBuilder
{
	DocumentLevel *level;		/* the innermost open container */
	DocumentLevel *spare;		/* closed ones, to be reused */
} DocumentBuilder;

extern void document_begin(DocumentBuilder *b);	/* begins an object */
extern void document_begin_array(DocumentBuilder *b);
extern Jsonb *document_end(DocumentBuilder *b);

/* Add a key and its value to an object.  An absent Slice adds nothing. */
extern void document_put_text(DocumentBuilder *b, const char *key, Slice value);
extern void document_put_cstring(DocumentBuilder *b, const char *key, const char *value);
extern void document_put_int(DocumentBuilder *b, const char *key, int64 value);
extern void document_put_bool(DocumentBuilder *b, const char *key, bool value);
extern void document_put_timestamp(DocumentBuilder *b, const char *key, TimestampTz value);
extern void document_put_value(DocumentBuilder *b, const char *key, JsonbValue *value);
extern void document_put_jsonb(DocumentBuilder *b, const char *key, Jsonb *value);

/*
 * Adds the pairs of an object, except for one key (or NULL).  Keys added later
 * override them.
 */
extern void document_put_pairs(DocumentBuilder *b, JsonbContainer *object, const char *but);

/* key is NULL inside an array, and after document_key. */
extern void document_open_object(DocumentBuilder *b, const char *key);
extern void document_close_object(DocumentBuilder *b);
extern void document_open_array(DocumentBuilder *b, const char *key);
extern void document_close_array(DocumentBuilder *b);

/* Sets the key of the next value in an object, if it is not a C string. */
extern void document_key(DocumentBuilder *b, Slice key);

/*
 * Add an element to the open array, or the value for the key that was just
 * set.
 */
extern void document_add_text(DocumentBuilder *b, Slice value);
extern void document_add_int(DocumentBuilder *b, int64 value);
/* Adds units / 10^scale, without trailing zeros; scale is at most 7. */
extern void document_add_decimal(DocumentBuilder *b, int64 units, int scale);
extern void document_add_null(DocumentBuilder *b);
extern void document_add_value(DocumentBuilder *b, JsonbValue *value);

#endif							/* CLUTCH_DOCUMENT_H */
