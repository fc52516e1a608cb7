/*-------------------------------------------------------------------------
 *
 * value.h
 *	  Reading and checking single values of a document.
 *
 * Every reader returns what it has read.  If there is a fault, it adds the
 * fault with its place and returns an absent Slice, false or NULL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VALUE_H
#define CLUTCH_VALUE_H

#include "protocol/identifier.h"
#include "protocol/place.h"
#include "utils/jsonb.h"

/* what a string is used for, which determines how long it may be */
typedef enum TextKind
{
	TEXT_ID,					/* clutch.max_id_bytes; no control characters */
	TEXT_STRING,				/* clutch.max_string_bytes */
	TEXT_PAYLOAD				/* limited only by the size of the document */
} TextKind;

typedef enum ContainerKind
{
	CONTAINER_OBJECT,
	CONTAINER_ARRAY
} ContainerKind;

extern Slice value_text(const JsonbValue *value, const DocumentPlace *place,
						TextKind kind, ProblemList *list);
extern Slice value_identifier(const JsonbValue *value, const DocumentPlace *place,
							  IdentifierKind kind, ProblemList *list);
extern const JsonbContainer *value_container(const JsonbValue *value,
											 const DocumentPlace *place,
											 ContainerKind kind, ProblemList *list);

/*
 * Adds NULL_VALUE or WRONG_TYPE. expected is a noun phrase such as "a string".
 */
extern void value_wrong_type(const JsonbValue *value, const DocumentPlace *place,
							 const char *expected, ProblemList *list);

/*
 * Returns the i-th key of an object, or the i-th value of an object or an
 * array.
 */
extern Slice value_key_at(const JsonbContainer *object, int i);
extern void value_at(const JsonbContainer *container, int i, JsonbValue *value);

/*
 * The same for a caller that iterates over the entries itself.  The value is
 * between the offsets start and end of data.
 */
static inline void
value_fill(JEntry entry, const char *data, uint32 start, uint32 end, JsonbValue *value)
{
	char	   *at = unconstify(char *, data) + start;
	char	   *aligned = unconstify(char *, data) + INTALIGN(start);

	switch (entry & JENTRY_TYPEMASK)
	{
		case JENTRY_ISSTRING:
			value->type = jbvString;
			value->val.string.val = at;
			value->val.string.len = end - start;
			break;
		case JENTRY_ISNUMERIC:
			value->type = jbvNumeric;
			value->val.numeric = (Numeric) aligned;
			break;
		case JENTRY_ISBOOL_FALSE:
		case JENTRY_ISBOOL_TRUE:
			value->type = jbvBool;
			value->val.boolean = JBE_ISBOOL_TRUE(entry);
			break;
		case JENTRY_ISCONTAINER:
			value->type = jbvBinary;
			value->val.binary.data = (JsonbContainer *) aligned;
			value->val.binary.len = at + (end - start) - aligned;
			break;
		default:
			value->type = jbvNull;
			break;
	}
}

#endif							/* CLUTCH_VALUE_H */
