/*-------------------------------------------------------------------------
 *
 * document_build.c
 *	  Building jsonb without going through text.
 *
 * The server's pushJsonbValue builds a tree of values, takes a finished jsonb
 * apart to put it into another one, and serializes the tree at the end.  This
 * costs some 500 instructions per value; document_level.c avoids most of them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document_part.h"

#include "base/clock.h"
#include "base/decimal.h"

/* -------------------------------------------------------------- the values */

static void
document_level_add_decimal(DocumentLevel *level, int64 units, int scale)
{
	Numeric		number = decimal_of(units, scale);

	document_level_add(level, JENTRY_ISNUMERIC, number, VARSIZE(number));
}

static void
document_add_container(DocumentBuilder *b, JsonbContainer *container, uint32 len)
{
	JsonbIterator *it;
	JsonbValue	value;

	if (!JsonContainerIsScalar(container))
	{
		document_level_add(b->level, JENTRY_ISCONTAINER, container, len);
		return;
	}
	/* a scalar is stored as an array of one element, so take it out again */
	it = JsonbIteratorInit(container);
	(void) JsonbIteratorNext(&it, &value, true);
	(void) JsonbIteratorNext(&it, &value, true);
	document_add_value(b, &value);
}

void
document_key(DocumentBuilder *b, Slice key)
{
	document_level_set_key(b->level, key);
}

void
document_add_text(DocumentBuilder *b, Slice value)
{
	document_level_add(b->level, JENTRY_ISSTRING, value.s, value.len);
}

void
document_add_int(DocumentBuilder *b, int64 value)
{
	document_level_add_decimal(b->level, value, 0);
}

void
document_add_decimal(DocumentBuilder *b, int64 units, int scale)
{
	document_level_add_decimal(b->level, units, scale);
}

void
document_add_null(DocumentBuilder *b)
{
	document_level_add_word(b->level, JENTRY_ISNULL);
}

void
document_add_value(DocumentBuilder *b, JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
			document_add_null(b);
			break;
		case jbvString:
			document_level_add(b->level, JENTRY_ISSTRING, value->val.string.val,
							   value->val.string.len);
			break;
		case jbvNumeric:
			document_level_add(b->level, JENTRY_ISNUMERIC, value->val.numeric,
							   VARSIZE_ANY(value->val.numeric));
			break;
		case jbvBool:
			document_level_add_word(b->level, value->val.boolean ?
									JENTRY_ISBOOL_TRUE : JENTRY_ISBOOL_FALSE);
			break;
		case jbvBinary:
			document_add_container(b, value->val.binary.data, value->val.binary.len);
			break;
		default:
			{
				Jsonb	   *tree = JsonbValueToJsonb(value);

				document_add_container(b, &tree->root, VARSIZE(tree) - VARHDRSZ);
			}
	}
}

/* ------------------------------------------------------- pairs of an object */

void
document_put_text(DocumentBuilder *b, const char *key, Slice value)
{
	if (!slice_present(value))
		return;
	document_key(b, slice_of_cstring(key));
	document_add_text(b, value);
}

void
document_put_cstring(DocumentBuilder *b, const char *key, const char *value)
{
	document_put_text(b, key, slice_of_cstring(value));
}

void
document_put_int(DocumentBuilder *b, const char *key, int64 value)
{
	document_key(b, slice_of_cstring(key));
	document_add_int(b, value);
}

void
document_put_bool(DocumentBuilder *b, const char *key, bool value)
{
	document_key(b, slice_of_cstring(key));
	document_level_add_word(b->level, value ? JENTRY_ISBOOL_TRUE : JENTRY_ISBOOL_FALSE);
}

void
document_put_timestamp(DocumentBuilder *b, const char *key, TimestampTz value)
{
	document_put_cstring(b, key, clock_rfc3339(value));
}

void
document_put_value(DocumentBuilder *b, const char *key, JsonbValue *value)
{
	document_key(b, slice_of_cstring(key));
	document_add_value(b, value);
}

void
document_put_jsonb(DocumentBuilder *b, const char *key, Jsonb *value)
{
	document_key(b, slice_of_cstring(key));
	document_add_container(b, &value->root, VARSIZE(value) - VARHDRSZ);
}

void
document_put_pairs(DocumentBuilder *b, JsonbContainer *object, const char *but)
{
	JsonbIterator *it = JsonbIteratorInit(object);
	JsonbValue	key;
	JsonbValue	value;

	(void) JsonbIteratorNext(&it, &key, true);	/* skip the opening brace */
	while (JsonbIteratorNext(&it, &key, true) == WJB_KEY)
	{
		Slice		name = document_text(&key);

		(void) JsonbIteratorNext(&it, &value, true);
		if (but && slice_is(name, but))
			continue;
		document_key(b, name);
		document_add_value(b, &value);
	}
}

/* ---------------------------------------------------------- opening, closing */

void
document_begin(DocumentBuilder *b)
{
	b->level = NULL;
	b->spare = NULL;
	document_level_open(b, false);
}

void
document_begin_array(DocumentBuilder *b)
{
	b->level = NULL;
	b->spare = NULL;
	document_level_open(b, true);
}

Jsonb *
document_end(DocumentBuilder *b)
{
	return document_level_finish(b);
}

void
document_open_object(DocumentBuilder *b, const char *key)
{
	if (key)
		document_key(b, slice_of_cstring(key));
	document_level_open(b, false);
}

void
document_close_object(DocumentBuilder *b)
{
	document_level_close(b);
}

void
document_open_array(DocumentBuilder *b, const char *key)
{
	if (key)
		document_key(b, slice_of_cstring(key));
	document_level_open(b, true);
}

void
document_close_array(DocumentBuilder *b)
{
	document_level_close(b);
}
