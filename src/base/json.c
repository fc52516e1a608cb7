/*-------------------------------------------------------------------------
 *
 * json.c
 *	  Modifiable JSON documents.
 *
 * The members of an object are kept in the order of jsonb (by the length of the key, then by its
 * bytes), so that a member is found by a binary search, and two objects are compared in one pass.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/json_part.h"

#include "base/number.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* -------------------------------------------------------------- new values */

Json *
json_new(JsonKind kind)
{
	Json	   *value = palloc0(sizeof(Json));

	value->kind = kind;
	return value;
}

Json *
json_new_null(void)
{
	return json_new(JSON_NULL);
}

Json *
json_new_object(void)
{
	return json_new(JSON_OBJECT);
}

Json *
json_new_array(void)
{
	return json_new(JSON_ARRAY);
}

Json *
json_of_text(Slice text)
{
	Json	   *value = json_new(JSON_TEXT);

	value->text = text;
	return value;
}

Json *
json_of_cstring(const char *text)
{
	return json_of_text(slice_of_cstring(text));
}

Json *
json_of_int(int64 number)
{
	Json	   *value = json_new(JSON_NUMBER);

	value->number = int64_to_numeric(number);
	return value;
}

Json *
json_of_bool(bool boolean)
{
	Json	   *value = json_new(JSON_BOOL);

	value->boolean = boolean;
	return value;
}

/* Inserts an element or member at an index. */
static void
json_insert(Json *container, int place, Slice key, Json *item)
{
	bool		is_object = container->kind == JSON_OBJECT;
	int			behind = container->n - place;

	if (container->n == container->room)
	{
		int			room = Max(8, container->room * 2);

		container->items = container->items == NULL ? palloc(sizeof(Json *) * room) :
			repalloc(container->items, sizeof(Json *) * room);
		if (is_object)
			container->keys = container->keys == NULL ? palloc(sizeof(Slice) * room) :
				repalloc(container->keys, sizeof(Slice) * room);
		container->room = room;
	}
	memmove(container->items + place + 1, container->items + place, sizeof(Json *) * behind);
	container->items[place] = item;
	if (is_object)
	{
		memmove(container->keys + place + 1, container->keys + place, sizeof(Slice) * behind);
		container->keys[place] = key;
	}
	container->n++;
}

/* json_fill allocates the values of a container in blocks of this size */
#define VALUES_AT_ONCE	64

void
json_fill(Json *container, int n)
{
	Json	   *values = NULL;

	container->n = n;
	container->room = n;
	container->items = n > 0 ? palloc(sizeof(Json *) * n) : NULL;
	container->keys = n > 0 && container->kind == JSON_OBJECT ? palloc(sizeof(Slice) * n) : NULL;
	for (int i = 0; i < n; i++)
	{
		if (i % VALUES_AT_ONCE == 0)
			values = palloc0(sizeof(Json) * Min(n - i, VALUES_AT_ONCE));
		container->items[i] = values++;
	}
}

/* ------------------------------------------------------------------- steps */

/* Returns a step of a path without escapes: "~1" stands for "/", and "~0" for "~". */
static Slice
json_step_plain(Slice step)
{
	char	   *plain = palloc(step.len);
	int			n = 0;

	for (int i = 0; i < step.len; i++)
	{
		bool		escaped = step.s[i] == '~' && i + 1 < step.len;

		if (escaped)
			i++;
		plain[n++] = escaped ? (step.s[i] == '1' ? '/' : '~') : step.s[i];
	}
	return (Slice) {plain, n};
}

/* the bytes at which a step ends, or that need closer inspection */
static const bool json_step_stops[256] = {['\0'] = true, ['/'] = true, ['~'] = true};

Slice
json_path_next(const char **path)
{
	const char *start = *path + 1;
	const char *end = start;

	while (!json_step_stops[(unsigned char) *end])
		end++;
	*path = end;
	if (*end != '~')
		return (Slice) {start, end - start};
	while (**path != '\0' && **path != '/')
		(*path)++;
	return json_step_plain((Slice) {start, *path - start});
}

/* Returns the index in an array that a step of a path stands for, at most n; -1 if it is no such number. */
static int
json_index_of(Slice step, int n)
{
	int			place = 0;

	if (step.len == 0 || step.len > 9 || (step.len > 1 && step.s[0] == '0'))
		return -1;
	for (int i = 0; i < step.len; i++)
	{
		if (step.s[i] < '0' || step.s[i] > '9')
			return -1;
		place = place * 10 + (step.s[i] - '0');
	}
	return place <= n ? place : -1;
}

/*
 * Returns the index of a key in an object.  If it is not there, *found is false and the result is
 * the index at which it belongs.
 */
static int
json_place_of(const Json *object, Slice key, bool *found)
{
	int			low = 0;
	int			high = object->n;

	while (low < high)
	{
		int			middle = (low + high) / 2;
		int			order = slice_compare_keys(object->keys[middle], key);

		if (order == 0)
		{
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*found = false;
	return low;
}

/* Objects with at most so many members are searched linearly, which is faster. */
#define FEW_MEMBERS	16

static int
json_find_key(const Json *object, Slice key)
{
	bool		found;
	int			place;

	if (object->n > FEW_MEMBERS)
	{
		place = json_place_of(object, key, &found);
		return found ? place : -1;
	}
	for (place = 0; place < object->n && object->keys[place].len <= key.len; place++)
		if (slice_compare_keys(object->keys[place], key) == 0)
			return place;
	return -1;
}

int
json_find(const Json *value, Slice step)
{
	int			place;

	if (value->kind == JSON_OBJECT)
		return json_find_key(value, step);
	if (value->kind != JSON_ARRAY)
		return -1;
	place = json_index_of(step, value->n);
	return place < value->n ? place : -1;
}

void
json_add_step(StringInfo path, Slice key)
{
	appendStringInfoChar(path, '/');
	for (int i = 0; i < key.len; i++)
	{
		if (key.s[i] == '~')
			appendStringInfoString(path, "~0");
		else if (key.s[i] == '/')
			appendStringInfoString(path, "~1");
		else
			appendStringInfoChar(path, key.s[i]);
	}
}

char *
json_path(const char *path, Slice key)
{
	StringInfoData joined;
	char	   *exact;

	initStringInfo(&joined);
	appendStringInfoString(&joined, path);
	json_add_step(&joined, key);
	/* no room to grow, because there may be a path for each member of a document */
	exact = pnstrdup(joined.data, joined.len);
	pfree(joined.data);
	return exact;
}

char *
json_path_index(const char *path, int index)
{
	return psprintf("%s/%d", path, index);
}

/* ----------------------------------------------------------------- looking */

Json *
json_member(const Json *object, Slice key)
{
	int			place = json_is(object, JSON_OBJECT) ? json_find(object, key) : -1;

	return place >= 0 ? object->items[place] : NULL;
}

Json *
json_get(const Json *value, const char *path)
{
	while (value != NULL && *path != '\0')
	{
		int			place = json_find(value, json_path_next(&path));

		value = place >= 0 ? value->items[place] : NULL;
	}
	return unconstify(Json *, value);
}

Json *
json_get_kind(const Json *value, const char *path, JsonKind kind)
{
	Json	   *found = json_get(value, path);

	return json_is(found, kind) ? found : NULL;
}

Slice
json_get_text(const Json *value, const char *path)
{
	const Json *found = json_get_kind(value, path, JSON_TEXT);

	return found != NULL ? found->text : SLICE_NONE;
}

/* Gets whole numbers up to 2^53 only, because all readers of JSON represent those exactly. */
bool
json_get_int(const Json *value, const char *path, int64 *number)
{
	const Json *found = json_get_kind(value, path, JSON_NUMBER);

	return found != NULL && number_to_int64(found->number, number);
}

bool
json_has_text(const Json *value, const char *path)
{
	return json_get_kind(value, path, JSON_TEXT) != NULL;
}

bool
json_says(const Json *value, const char *path, const char *word)
{
	return slice_is(json_get_text(value, path), word);
}

bool
json_is_true(const Json *value, const char *path)
{
	const Json *found = json_get_kind(value, path, JSON_BOOL);

	return found != NULL && found->boolean;
}

bool
json_equal(const Json *a, const Json *b)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (a == b)
		return true;
	if (a == NULL || b == NULL || a->kind != b->kind || a->n != b->n)
		return false;
	switch (a->kind)
	{
		case JSON_NULL:
			return true;
		case JSON_BOOL:
			return a->boolean == b->boolean;
		case JSON_NUMBER:
			return DatumGetBool(DirectFunctionCall2(numeric_eq, NumericGetDatum(a->number), NumericGetDatum(b->number)));
		case JSON_TEXT:
			return slice_equal(a->text, b->text);
		default:
			for (int i = 0; i < a->n; i++)
				if ((a->kind == JSON_OBJECT && !slice_equal(a->keys[i], b->keys[i])) ||
					!json_equal(a->items[i], b->items[i]))
					return false;
			return true;
	}
}

/* ---------------------------------------------------------------- changing */

void
json_put_member(Json *object, Slice key, Json *item)
{
	bool		found = false;
	int			place;

	if (item == NULL || !json_is(object, JSON_OBJECT))
		return;
	place = object->n;
	/* if an object is built in the order of its keys, each new key belongs at the end */
	if (place > 0 && slice_compare_keys(object->keys[place - 1], key) >= 0)
		place = json_place_of(object, key, &found);
	if (found)
		object->items[place] = item;
	else
		json_insert(object, place, key, item);
}

void
json_add(Json *array, Json *item)
{
	if (item != NULL && json_is(array, JSON_ARRAY))
		json_insert(array, array->n, SLICE_NONE, item);
}

void
json_add_all(Json *array, const Json *more)
{
	for (int i = 0; json_is(more, JSON_ARRAY) && i < more->n; i++)
		json_add(array, more->items[i]);
}

void
json_put_step(Json *value, Slice step, Json *item)
{
	int			place;

	if (value->kind == JSON_OBJECT)
		json_put_member(value, step, item);
	if (value->kind != JSON_ARRAY)
		return;
	place = json_index_of(step, value->n);
	if (place == value->n)
		json_add(value, item);
	else if (place >= 0)
		value->items[place] = item;
}

void
json_put(Json *value, const char *path, Json *item)
{
	while (value != NULL && item != NULL && *path != '\0')
	{
		Slice		step = json_path_next(&path);
		int			place = json_find(value, step);

		if (*path == '\0')
			json_put_step(value, step, item);
		else if (place < 0)
		{
			Json	   *made = json_new_object();

			if (value->kind != JSON_OBJECT)
				return;
			json_put_member(value, step, made);
			value = made;
		}
		else
			value = value->items[place];
	}
}

void
json_put_text(Json *value, const char *path, Slice text)
{
	if (slice_present(text))
		json_put(value, path, json_of_text(text));
}

void
json_put_cstring(Json *value, const char *path, const char *text)
{
	if (text != NULL)
		json_put(value, path, json_of_cstring(text));
}

void
json_take_at(Json *value, int place)
{
	int			behind = value->n - place - 1;

	memmove(value->items + place, value->items + place + 1, sizeof(Json *) * behind);
	if (value->kind == JSON_OBJECT)
		memmove(value->keys + place, value->keys + place + 1, sizeof(Slice) * behind);
	value->n--;
}

Json *
json_take(Json *value, const char *path)
{
	while (value != NULL && *path != '\0')
	{
		int			place = json_find(value, json_path_next(&path));
		Json	   *found = place >= 0 ? value->items[place] : NULL;

		if (found != NULL && *path == '\0')
		{
			json_take_at(value, place);
			return found;
		}
		value = found;
	}
	return NULL;
}
