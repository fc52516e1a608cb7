/*-------------------------------------------------------------------------
 *
 * document.h
 *	  Reading and building jsonb without going through text.
 *
 * Reading never copies: strings come as Slices into the document.  Building
 * wraps pushJsonbValue:
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
 * Keys are C literals that outlive the builder.  Everything is palloc'd in
 * the current context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DOCUMENT_H
#define CLUTCH_DOCUMENT_H

#include "base/text.h"
#include "datatype/timestamp.h"
#include "utils/jsonb.h"

/* --- reading --- */

/* the value of a key of an object; false if absent (or not an object) */
extern bool document_get(JsonbContainer *object, const char *key, JsonbValue *value);
/* its string; absent Slice if it is no string */
extern Slice document_get_text(JsonbContainer *object, const char *key);
/* its object or array; NULL if it is neither */
extern JsonbContainer *document_get_container(JsonbContainer *object, const char *key);
extern bool document_get_int(JsonbContainer *object, const char *key, int64 *number);
extern bool document_get_bool(JsonbContainer *object, const char *key, bool *flag);

/* a jsonb of its own from a value inside another; palloc'd */
extern Jsonb *document_of_value(JsonbValue *value);

/* --- building --- */

typedef struct DocumentBuilder
{
	JsonbParseState *state;
	JsonbValue *result;
} DocumentBuilder;

extern void document_begin(DocumentBuilder *b);
extern Jsonb *document_end(DocumentBuilder *b);

/* a key and its value, inside an object; an absent Slice puts nothing */
extern void document_put_text(DocumentBuilder *b, const char *key, Slice value);
extern void document_put_cstring(DocumentBuilder *b, const char *key, const char *value);
extern void document_put_int(DocumentBuilder *b, const char *key, int64 value);
extern void document_put_bool(DocumentBuilder *b, const char *key, bool value);
extern void document_put_timestamp(DocumentBuilder *b, const char *key, TimestampTz value);
extern void document_put_value(DocumentBuilder *b, const char *key, JsonbValue *value);
extern void document_put_jsonb(DocumentBuilder *b, const char *key, Jsonb *value);

/* the pairs of an object, but for one key (or NULL); later keys win over them */
extern void document_put_pairs(DocumentBuilder *b, JsonbContainer *object, const char *but);

/* key is NULL inside an array */
extern void document_open_object(DocumentBuilder *b, const char *key);
extern void document_close_object(DocumentBuilder *b);
extern void document_open_array(DocumentBuilder *b, const char *key);
extern void document_close_array(DocumentBuilder *b);

/* an element of the open array */
extern void document_add_text(DocumentBuilder *b, Slice value);

#endif							/* CLUTCH_DOCUMENT_H */
