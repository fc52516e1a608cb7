/*-------------------------------------------------------------------------
 *
 * json_difference.c
 *	  Modifiable JSON documents: differences between two of them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/json_part.h"

#include "miscadmin.h"

/*
 * Values with a longer path are compared as a whole, and not member by member.
 */
#define MOST_PATH_BYTES	1000

/* where a value is; paths are built only for values that have changed */
typedef struct JsonPlace
{
	const struct JsonPlace *up; /* NULL for the whole document */
	Slice		key;			/* absent if it is an element of an array */
	int			index;
	int			bytes;			/* approximate length of the path */
} JsonPlace;

static void
json_put_place(StringInfo path, const JsonPlace *place)
{
	if (place->up == NULL)
		return;
	json_put_place(path, place->up);
	if (slice_present(place->key))
		json_add_step(path, place->key);
	else
		appendStringInfo(path, "/%d", place->index);
}

/*
 * The path has no room to grow, because there may be tens of thousands of
 * changes.
 */
static Slice
json_place_path(const JsonPlace *place)
{
	StringInfoData path;
	Slice		text;

	initStringInfo(&path);
	json_put_place(&path, place);
	text = slice_copy((Slice) {path.data, path.len});
	pfree(path.data);
	return text;
}

static JsonPlace
json_place_of_key(const JsonPlace *up, Slice key)
{
	return (JsonPlace) {.up = up, .key = key, .bytes = up->bytes + key.len};
}

static JsonPlace
json_place_of_index(const JsonPlace *up, int index)
{
	return (JsonPlace) {.up = up, .key = SLICE_NONE, .index = index, .bytes = up->bytes};
}

static void
json_note_change(Json *changes, JsonPlace place, const Json *was, const Json *is)
{
	Json	   *change = json_new_object();

	CHECK_FOR_INTERRUPTS();
	json_put(change, "/is", unconstify(Json *, is));
	json_put(change, "/was", unconstify(Json *, was));
	json_put_text(change, "/path", json_place_path(&place));
	json_add(changes, change);
}

static void json_compare(Json *changes, const JsonPlace *place, const Json *from, const Json *to);

/*
 * Compares elements with the same index.  Surplus elements are removed,
 * starting at the end.
 */
static void
json_compare_arrays(Json *changes, const JsonPlace *place, const Json *from, const Json *to)
{
	int			common = Min(from->n, to->n);

	for (int i = 0; i < common; i++)
	{
		JsonPlace	element = json_place_of_index(place, i);

		if (!json_equal(from->items[i], to->items[i]))
			json_compare(changes, &element, from->items[i], to->items[i]);
	}
	for (int i = common; i < to->n; i++)
		json_note_change(changes, json_place_of_index(place, i), NULL, to->items[i]);
	for (int i = from->n - 1; i >= common; i--)
		json_note_change(changes, json_place_of_index(place, i), from->items[i], NULL);
}

static void
json_compare_objects(Json *changes, const JsonPlace *place, const Json *from, const Json *to)
{
	int			i = 0;
	int			j = 0;

	while (i < from->n || j < to->n)
	{
		int			order = i == from->n ? 1 : j == to->n ? -1 :
			slice_compare_keys(from->keys[i], to->keys[j]);
		JsonPlace	member = json_place_of_key(place, order <= 0 ? from->keys[i] : to->keys[j]);

		if (order == 0)
			json_compare(changes, &member, from->items[i], to->items[j]);
		else
			json_note_change(changes, member, order < 0 ? from->items[i] : NULL,
							 order < 0 ? NULL : to->items[j]);
		i += order <= 0;
		j += order >= 0;
	}
}

/*
 * Below a long path, values are compared as a whole, because each change of a
 * member would repeat the long path.
 */
static void
json_compare(Json *changes, const JsonPlace *place, const Json *from, const Json *to)
{
	bool		by_parts = from->kind == to->kind && place->bytes <= MOST_PATH_BYTES;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (by_parts && from->kind == JSON_OBJECT)
		json_compare_objects(changes, place, from, to);
	else if (by_parts && from->kind == JSON_ARRAY)
		json_compare_arrays(changes, place, from, to);
	else if (!json_equal(from, to))
		json_note_change(changes, *place, from, to);
}

Json *
json_difference(const Json *from, const Json *to)
{
	Json	   *changes = json_new_array();
	JsonPlace	root = {NULL};

	json_compare(changes, &root, from, to);
	return changes;
}

/*
 * Returns the container in which the last step of a path is, and sets *last to
 * that step.  Returns NULL if there is none.
 */
static Json *
json_get_parent(Json *value, const char *path, Slice *last)
{
	for (;;)
	{
		int			place;

		*last = json_path_next(&path);
		if (*path == '\0')
			return value;
		place = json_find(value, *last);
		if (place < 0)
			return NULL;
		value = value->items[place];
	}
}

Json *
json_apply(Json *value, const Json *changes)
{
	for (int i = 0; json_is(changes, JSON_ARRAY) && i < changes->n; i++)
	{
		const Json *change = changes->items[i];
		Slice		at = json_get_text(change, "/path");
		char	   *path = slice_present(at) ? slice_cstring(at) : NULL;
		Json	   *is = json_get(change, "/is");
		Json	   *parent;
		Slice		last;

		/* changes may come from outside, so "path" need not be a valid path */
		if (path == NULL || (path[0] != '\0' && path[0] != '/') ||
			!json_equal(json_get(value, path), json_get(change, "/was")))
			continue;
		if (path[0] == '\0')
		{
			value = is != NULL ? is : json_new_null();
			continue;
		}
		parent = json_get_parent(value, path, &last);
		if (parent == NULL)
			continue;
		if (is != NULL)
			json_put_step(parent, last, is);
		else
			json_take(value, path);
	}
	return value;
}
