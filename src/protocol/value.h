/*-------------------------------------------------------------------------
 *
 * value.h
 *	  One value of a document, judged where it stands.
 *
 * Every reader answers what it read, or nothing (absent, false, NULL) after
 * adding the fault with its place.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VALUE_H
#define CLUTCH_VALUE_H

#include "protocol/identifier.h"
#include "protocol/place.h"
#include "utils/jsonb.h"

/* whose limit bounds a string */
typedef enum TextLimit
{
	TEXT_ID,					/* clutch.max_id_bytes */
	TEXT_STRING,				/* clutch.max_string_bytes */
	TEXT_PAYLOAD				/* none but that of the document */
} TextLimit;

typedef enum Container
{
	CONTAINER_OBJECT,
	CONTAINER_ARRAY
} Container;

extern Slice value_text(const JsonbValue *value, const Place *place,
						TextLimit limit, ProblemList *list);
extern Slice value_identifier(const JsonbValue *value, const Place *place,
							  IdentifierKind kind, ProblemList *list);
extern const JsonbContainer *value_container(const JsonbValue *value, const Place *place,
											 Container which, ProblemList *list);

/* NULL_VALUE or WRONG_TYPE; expected: "a string" */
extern void value_wrong_type(const JsonbValue *value, const Place *place,
							 const char *expected, ProblemList *list);

/* the i-th key of an object; the i-th value of an object or an array */
extern Slice value_key_at(const JsonbContainer *object, int i);
extern void value_at(const JsonbContainer *container, int i, JsonbValue *value);
/* the same for who walks over the entries: it lies from start to end of data */
extern void value_fill(JEntry entry, const char *data, uint32 start, uint32 end,
					   JsonbValue *value);

#endif							/* CLUTCH_VALUE_H */
