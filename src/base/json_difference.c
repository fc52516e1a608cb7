/*-------------------------------------------------------------------------
 *
 * json_difference.c
 *	  JSON documents that can be changed: how two of them differ.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/json_part.h"

#include "miscadmin.h"

static void
json_note_change(Json *changes, const char *path, const Json *was, const Json *is)
{
	Json	   *change = json_new_object();

	json_put(change, "/is", unconstify(Json *, is));
	json_put(change, "/was", unconstify(Json *, was));
	json_put_cstring(change, "/path", path);
	json_add(changes, change);
}

static void json_compare(Json *changes, const char *path, const Json *from, const Json *to);

/* Elements are compared place by place; what is too many is removed from the end. */
static void
json_compare_arrays(Json *changes, const char *path, const Json *from, const Json *to)
{
	int			common = Min(from->n, to->n);

	for (int i = 0; i < common; i++)
		if (!json_equal(from->items[i], to->items[i]))
			json_compare(changes, json_path_index(path, i), from->items[i], to->items[i]);
	for (int i = common; i < to->n; i++)
		json_note_change(changes, json_path_index(path, i), NULL, to->items[i]);
	for (int i = from->n - 1; i >= common; i--)
		json_note_change(changes, json_path_index(path, i), from->items[i], NULL);
}

static void
json_compare_objects(Json *changes, const char *path, const Json *from, const Json *to)
{
	int			i = 0;
	int			j = 0;

	while (i < from->n || j < to->n)
	{
		int			order = i == from->n ? 1 : j == to->n ? -1 :
			json_compare_keys(from->keys[i], to->keys[j]);
		char	   *place = json_path(path, order <= 0 ? from->keys[i] : to->keys[j]);

		if (order == 0)
			json_compare(changes, place, from->items[i], to->items[j]);
		else
			json_note_change(changes, place, order < 0 ? from->items[i] : NULL,
							 order < 0 ? NULL : to->items[j]);
		i += order <= 0;
		j += order >= 0;
	}
}

static void
json_compare(Json *changes, const char *path, const Json *from, const Json *to)
{
	check_stack_depth();
	if (from->kind == JSON_OBJECT && to->kind == JSON_OBJECT)
		json_compare_objects(changes, path, from, to);
	else if (from->kind == JSON_ARRAY && to->kind == JSON_ARRAY)
		json_compare_arrays(changes, path, from, to);
	else if (!json_equal(from, to))
		json_note_change(changes, path, from, to);
}

Json *
json_difference(const Json *from, const Json *to)
{
	Json	   *changes = json_new_array();

	json_compare(changes, "", from, to);
	return changes;
}

/* what a path leads to without its last step, which is returned in *last; NULL: nothing */
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

		/* what comes from outside need not be a path */
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
