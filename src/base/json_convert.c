/*-------------------------------------------------------------------------
 *
 * json_convert.c
 *	  Modifiable JSON documents: conversion from and to jsonb.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/json_part.h"

#include "base/document.h"
#include "base/savepoint.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"

/* -------------------------------------------------------- reading a jsonb */

/* Reads a scalar.  "bytes" must be aligned for numbers. */
static void
json_read_scalar(Json *scalar, JEntry entry, const char *bytes)
{
	if (JBE_ISNUMERIC(entry))
	{
		scalar->kind = JSON_NUMBER;
		scalar->number = (Numeric) bytes;
	}
	else if (JBE_ISBOOL(entry))
	{
		scalar->kind = JSON_BOOL;
		scalar->boolean = JBE_ISBOOL_TRUE(entry);
	}
}

/*
 * Reads the entries of a container directly, because JsonbIterator would
 * allocate an iterator for each container and copy each value twice.
 */
static void
json_read_container(Json *container, const JsonbContainer *from)
{
	bool		is_object = JsonContainerIsObject(from);
	int			n = JsonContainerSize(from);
	int			first = is_object ? n : 0;	/* the values follow the keys */
	const char *data = (const char *) &from->children[first + n];
	uint32		offset = 0;

	check_stack_depth();
	container->kind = is_object ? JSON_OBJECT : JSON_ARRAY;
	json_fill(container, n);
	for (int i = 0; i < first; i++)
	{
		uint32		start = offset;

		JBE_ADVANCE_OFFSET(offset, from->children[i]);
		container->keys[i] = (Slice) {data + start, offset - start};
	}
	for (int i = 0; i < n; i++)
	{
		JEntry		entry = from->children[first + i];
		const char *bytes = data + offset;
		Json	   *item = container->items[i];
		uint32		start = offset;

		CHECK_FOR_INTERRUPTS();
		JBE_ADVANCE_OFFSET(offset, entry);
		if (JBE_ISSTRING(entry))
		{
			item->kind = JSON_TEXT;
			item->text = (Slice) {bytes, offset - start};
		}
		else if (JBE_ISCONTAINER(entry))
			json_read_container(item, (const JsonbContainer *) (data + INTALIGN(start)));
		else
			json_read_scalar(item, entry, data + INTALIGN(start));
	}
}

static Json *
json_read_root(const JsonbContainer *root)
{
	Json	   *value = json_new(JSON_NULL);

	json_read_container(value, root);
	return JsonContainerIsScalar(root) ? value->items[0] : value;
}

Json *
json_read(Jsonb *document)
{
	return json_read_root(&document->root);
}

typedef struct JsonParse
{
	char	   *text;
	Jsonb	   *document;
} JsonParse;

static void
json_parse_step(void *arg)
{
	JsonParse  *parse = arg;

	parse->document = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(parse->text)));
}

Json *
json_parse(Slice text)
{
	JsonParse	parse = {slice_cstring(text), NULL};
	ErrorData  *error = savepoint_run(json_parse_step, &parse);

	if (error != NULL && savepoint_failed_by_chance(error))
		ReThrowError(error);
	return error == NULL ? json_read(parse.document) : NULL;
}

/* --------------------------------------------------------- writing a jsonb */

static JsonbValue
json_scalar_of(const Json *scalar)
{
	JsonbValue	value = {.type = jbvNull};

	if (scalar->kind == JSON_BOOL)
	{
		value.type = jbvBool;
		value.val.boolean = scalar->boolean;
	}
	else if (scalar->kind == JSON_NUMBER)
	{
		value.type = jbvNumeric;
		value.val.numeric = scalar->number;
	}
	else if (scalar->kind == JSON_TEXT)
	{
		value.type = jbvString;
		value.val.string.val = unconstify(char *, scalar->text.s);
		value.val.string.len = scalar->text.len;
	}
	return value;
}

static void json_write_members(DocumentBuilder *b, const Json *container);

static void
json_write_to(DocumentBuilder *b, const Json *value)
{
	JsonbValue	scalar;

	check_stack_depth();
	if (value->kind == JSON_TEXT)
		document_add_text(b, value->text);
	else if (value->kind == JSON_OBJECT)
	{
		document_open_object(b, NULL);
		json_write_members(b, value);
		document_close_object(b);
	}
	else if (value->kind == JSON_ARRAY)
	{
		document_open_array(b, NULL);
		json_write_members(b, value);
		document_close_array(b);
	}
	else
	{
		scalar = json_scalar_of(value);
		document_add_value(b, &scalar);
	}
}

static void
json_write_members(DocumentBuilder *b, const Json *container)
{
	for (int i = 0; i < container->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (container->kind == JSON_OBJECT)
			document_key(b, container->keys[i]);
		json_write_to(b, container->items[i]);
	}
}

Jsonb *
json_write(const Json *value)
{
	DocumentBuilder b;
	JsonbValue	scalar;

	if (value->kind != JSON_OBJECT && value->kind != JSON_ARRAY)
	{
		scalar = json_scalar_of(value);
		return JsonbValueToJsonb(&scalar);
	}
	if (value->kind == JSON_OBJECT)
		document_begin(&b);
	else
		document_begin_array(&b);
	json_write_members(&b, value);
	return document_end(&b);
}

Slice
json_print(const Json *value)
{
	Jsonb	   *document = json_write(value);

	return slice_of_cstring(JsonbToCString(NULL, &document->root, VARSIZE(document)));
}
