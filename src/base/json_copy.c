/*-------------------------------------------------------------------------
 *
 * json_copy.c
 *	  Modifiable JSON documents: copies.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/json_part.h"

#include "miscadmin.h"

Json *
json_copy_top(const Json *value)
{
	Json	   *copy;

	if (value == NULL)
		return NULL;
	copy = json_new(value->kind);
	*copy = *value;
	copy->room = value->n;
	copy->items = NULL;
	copy->keys = NULL;
	if (value->n > 0)
		copy->items = memcpy(palloc(sizeof(Json *) * value->n), value->items, sizeof(Json *) * value->n);
	if (value->n > 0 && value->kind == JSON_OBJECT)
		copy->keys = memcpy(palloc(sizeof(Slice) * value->n), value->keys, sizeof(Slice) * value->n);
	return copy;
}

static void
json_copy_to(Json *copy, const Json *value)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	*copy = *value;
	if (value->kind != JSON_ARRAY && value->kind != JSON_OBJECT)
		return;
	json_fill(copy, value->n);
	if (copy->keys != NULL)
		memcpy(copy->keys, value->keys, sizeof(Slice) * value->n);
	for (int i = 0; i < value->n; i++)
		json_copy_to(copy->items[i], value->items[i]);
}

Json *
json_copy(const Json *value)
{
	Json	   *copy = value != NULL ? json_new(value->kind) : NULL;

	if (copy != NULL)
		json_copy_to(copy, value);
	return copy;
}

void
json_unshare(Json *value, const char *path)
{
	while (*path != '\0')
	{
		int			place = json_find(value, json_path_next(&path));

		if (place < 0 || (value->items[place]->kind != JSON_OBJECT && value->items[place]->kind != JSON_ARRAY))
			return;
		value->items[place] = json_copy_top(value->items[place]);
		value = value->items[place];
	}
}
