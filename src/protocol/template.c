/*-------------------------------------------------------------------------
 *
 * template.c
 *	  Templates: documents that are made from other documents.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "miscadmin.h"
#include "protocol/place.h"
#include "protocol/template.h"
#include "protocol/value.h"

/* Returns the path, or an absent slice if the value stands for itself. */
static Slice
template_path_of(const JsonbValue *value)
{
	Slice		text = document_text(value);

	return text.len > 0 && text.s[0] == '$' ? text : SLICE_NONE;
}

/* ---------------------------------------------------------------- checking */

void
template_read_path(Slice text, const char *place, ProblemList *faults, DocumentPath *path)
{
	const char *fault = path_read(text, path);

	if (fault != NULL)
		problem_add(faults, place, "WRONG_VALUE", "%s %s.", place_quote(text), fault);
}

void
template_check(const JsonbValue *value, const char *place, ProblemList *faults)
{
	Slice		path = template_path_of(value);
	const JsonbContainer *container = value->type == jbvBinary ? value->val.binary.data : NULL;
	DocumentPath parsed;

	check_stack_depth();
	if (slice_present(path))
		template_read_path(path, place, faults, &parsed);
	for (int i = 0; container != NULL && i < JsonContainerSize(container); i++)
	{
		JsonbValue	part;
		Slice		key;

		value_at(container, i, &part);
		if (JsonContainerIsArray(container))
		{
			template_check(&part, problem_path_index(place, i), faults);
			continue;
		}
		key = value_key_at(container, i);
		template_check(&part, problem_path(place, key.s, key.len), faults);
	}
}

/* ----------------------------------------------------------------- filling */

static void template_fill_object(DocumentBuilder *b, const JsonbContainer *template, Jsonb *source);
static void template_fill_array(DocumentBuilder *b, const JsonbContainer *template, Jsonb *source);

static void
template_add_found(DocumentBuilder *b, Jsonb *found)
{
	JsonbValue	value = document_value(found);

	document_add_value(b, &value);
}

/*
 * Adds a value that is not a path: the next element, or the value of the key
 * that was just added.
 */
static void
template_add(DocumentBuilder *b, JsonbValue *value, Jsonb *source)
{
	if (value->type != jbvBinary)
		document_add_value(b, value);
	else if (JsonContainerIsArray(value->val.binary.data))
	{
		document_open_array(b, NULL);
		template_fill_array(b, value->val.binary.data, source);
		document_close_array(b);
	}
	else
	{
		document_open_object(b, NULL);
		template_fill_object(b, value->val.binary.data, source);
		document_close_object(b);
	}
}

static List *
template_find(Slice text, Jsonb *source, int most)
{
	DocumentPath path = path_parse(text);

	return path_list(&path, source, most);
}

static void
template_fill_array(DocumentBuilder *b, const JsonbContainer *template, Jsonb *source)
{
	check_stack_depth();
	for (int i = 0; i < JsonContainerSize(template); i++)
	{
		JsonbValue	value;
		Slice		path;
		ListCell   *cell;

		value_at(template, i, &value);
		path = template_path_of(&value);
		if (!slice_present(path))
			template_add(b, &value, source);
		else
			foreach(cell, template_find(path, source, TEMPLATE_MOST_ITEMS))
				template_add_found(b, lfirst(cell));
	}
}

static void
template_fill_object(DocumentBuilder *b, const JsonbContainer *template, Jsonb *source)
{
	check_stack_depth();
	for (int i = 0; i < JsonContainerSize(template); i++)
	{
		JsonbValue	value;
		Slice		path;
		List	   *found;

		value_at(template, i, &value);
		path = template_path_of(&value);
		found = slice_present(path) ? template_find(path, source, 1) : NIL;
		if (slice_present(path) && found == NIL)
			continue;
		document_key(b, value_key_at(template, i));
		if (found != NIL)
			template_add_found(b, linitial(found));
		else
			template_add(b, &value, source);
	}
}

Jsonb *
template_fill(const JsonbContainer *template, Jsonb *source)
{
	DocumentBuilder b;

	document_begin(&b);
	template_fill_object(&b, template, source);
	return document_end(&b);
}
