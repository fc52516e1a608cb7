/*-------------------------------------------------------------------------
 *
 * credential.c
 *	  Removing credentials from documents that come from outside.
 *
 * credential_form.c knows what they look like; credential_text.c searches JSON
 * within texts, reading it with credential_reader.c.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/credential_part.h"

#include "miscadmin.h"

/* ------------------------------------------------------------------- paths */

void
credential_enter(CredentialPlace *place, const CredentialPlace *up, CredentialList *list)
{
	*place = (CredentialPlace) {.up = up, .container = ++list->containers};
	/* an index is counted as one digit */
	if (up != NULL)
		place->bytes = up->bytes + 1 + (slice_present(up->key) ? up->key.len : 1);
}

static void
credential_put_path(StringInfo path, const CredentialPlace *place)
{
	Slice		key;

	if (place->up != NULL)
		credential_put_path(path, place->up);
	if (!slice_present(place->key))
	{
		appendStringInfo(path, "/%d", place->index);
		return;
	}
	key = place->is_raw ? credential_unescaped(place->key) : place->key;
	json_add_step(path, key);
	if (key.s != place->key.s)
		pfree(unconstify(char *, key.s));
}

/*
 * Lists the path of a credential.  All credentials below a very long path are
 * listed as one path, which ends where it became too long, because their own
 * paths would each repeat it.
 */
void
credential_note(const CredentialPlace *place, CredentialList *list)
{
	bool		is_far = place != NULL && place->bytes > MOST_PATH_BYTES;
	StringInfoData path;

	while (place != NULL && place->bytes > MOST_PATH_BYTES)
		place = place->up;
	if (is_far && list->far_container == place->container && list->far_index == place->index)
		return;
	if (is_far)
	{
		list->far_container = place->container;
		list->far_index = place->index;
	}
	if (list->paths == NULL)
		list->paths = json_new_array();
	initStringInfo(&path);
	if (place != NULL)
		credential_put_path(&path, place);
	json_add(list->paths, json_of_text((Slice) {path.data, path.len}));
}

/* -------------------------------------------------------------- the search */

/*
 * Returns false if there is an object within the array, or within an array in
 * it.  Sets *has_value if there is a text or a number.
 */
static bool
credential_has_no_object(const Json *array, bool *has_value)
{
	check_stack_depth();
	for (int i = 0; i < array->n; i++)
	{
		const Json *item = array->items[i];

		if (item->kind == JSON_OBJECT || (item->kind == JSON_ARRAY && !credential_has_no_object(item, has_value)))
			return false;
		*has_value |= item->kind == JSON_TEXT || item->kind == JSON_NUMBER;
	}
	return true;
}

/*
 * Is it a text that is not empty, a number, or an array with texts or numbers
 * and without objects?
 */
static bool
credential_is_plain(const Json *value)
{
	bool		has_value = false;

	if (value->kind == JSON_ARRAY)
		return credential_has_no_object(value, &has_value) && has_value;
	return value->kind == JSON_NUMBER || (value->kind == JSON_TEXT && value->text.len > 0);
}

static bool
credential_is_key(Slice key, const char *one, const char *other)
{
	return (key.len == (int) strlen(one) && pg_strncasecmp(key.s, one, key.len) == 0) ||
		(key.len == (int) strlen(other) && pg_strncasecmp(key.s, other, key.len) == 0);
}

/* Returns an absent slice if the value is not a text. */
static Slice
credential_text(const Json *value)
{
	return value->kind == JSON_TEXT ? value->text : SLICE_NONE;
}

/*
 * Is it the value that belongs to the name of a credential, as in a list of
 * headers or variables: {"name": "Authorization", "value": "..."}?
 */
static bool
credential_is_named(const Json *container, Slice key, const Json *value)
{
	if (!credential_is_key(key, "value", "values"))
		return false;
	for (int i = 0; i < container->n; i++)
		if (credential_is_key(container->keys[i], "name", "key") && container->items[i]->kind == JSON_TEXT &&
			credential_is_name(container->items[i]->text, credential_text(value)))
			return true;
	return false;
}

/* Is it the place of headers, such as "headers", "rawHeaders" or "response_headers"? */
static bool
credential_is_headers(const CredentialPlace *place)
{
	static const char headers[] = "headers";
	int			len = sizeof(headers) - 1;

	return place != NULL && slice_present(place->key) && place->key.len >= len &&
		pg_strncasecmp(place->key.s + place->key.len - len, headers, len) == 0;
}

/*
 * The same for headers that are written as an array, [["cookie", "..."], ...]
 * or ["cookie", "...", ...].
 */
static bool
credential_is_header_value(const Json *container, const CredentialPlace *place)
{
	const CredentialPlace *up = place->up;
	int			i = place->index;
	bool		is_pair = up != NULL && !slice_present(up->key) && container->n == 2 && credential_is_headers(up->up);

	return i % 2 == 1 && (is_pair || credential_is_headers(up)) && container->items[i - 1]->kind == JSON_TEXT &&
		credential_is_name(container->items[i - 1]->text, credential_text(container->items[i]));
}

/*
 * Is the item a credential because of a name that stands beside it?
 */
static bool
credential_is_beside_name(const Json *container, const CredentialPlace *place, const Json *item)
{
	if (!credential_is_plain(item))
		return false;
	return container->kind == JSON_OBJECT ? credential_is_named(container, place->key, item) :
		credential_is_header_value(container, place);
}

/* A token with a probability is a piece of what a model has written. */
static bool
credential_is_piece(const Json *container, Slice key)
{
	return slice_is(key, "token") && json_member(container, SLICE_OF("logprob")) != NULL;
}

/*
 * Is it what a server of MCP has written down about a call, as JSON or in a
 * signed token, in order to be sent it again, unchanged, when the call is
 * repeated?  It proves nothing about whoever has it.
 */
static bool
credential_is_state(const CredentialPlace *place, const Json *item)
{
	Slice		json;

	if (!slice_is(place->key, "requestState") || item->kind != JSON_TEXT)
		return false;
	json = credential_json_of(item->text);
	return slice_present(json) ? *json.s != '"' : credential_is_jwt(item->text);
}

static void credential_search(Json *container, const CredentialPlace *up, CredentialList *list);

/*
 * Removes the credentials within an item and returns false, or returns true if
 * the item itself is a credential.
 */
static bool
credential_search_item(const Json *container, Json *item, const CredentialPlace *place, CredentialList *list)
{
	if (slice_present(place->key) && credential_is_plain(item) && credential_is_name(place->key, credential_text(item)) &&
		!credential_is_piece(container, place->key))
		return true;
	if (item->kind == JSON_TEXT && !credential_is_state(place, item))
		return credential_clean(&item->text, place, list);
	if (item->kind == JSON_OBJECT || item->kind == JSON_ARRAY)
		credential_search(item, place, list);
	return false;
}

static void
credential_search(Json *container, const CredentialPlace *up, CredentialList *list)
{
	CredentialPlace place;
	int			kept = 0;
	bool		kept_last = false;	/* the item before is still there */

	check_stack_depth();
	credential_enter(&place, up, list);
	for (int i = 0; i < container->n; i++)
	{
		Json	   *item = container->items[i];
		bool		has_name_beside;

		CHECK_FOR_INTERRUPTS();
		place.index = i;
		if (container->kind == JSON_OBJECT)
			place.key = container->keys[i];
		has_name_beside = credential_is_beside_name(container, &place, item);
		if (has_name_beside || credential_search_item(container, item, &place, list))
		{
			credential_note(&place, list);
			/* the other headers of such an array must stay pairs, so the name goes too */
			if (has_name_beside && kept_last && container->kind == JSON_ARRAY && credential_is_headers(up))
				kept--;
			kept_last = false;
			continue;
		}
		container->items[kept] = item;
		if (container->kind == JSON_OBJECT)
			container->keys[kept] = place.key;
		kept++;
		kept_last = true;
	}
	container->n = kept;
}

Json *
credential_remove(Json *document)
{
	CredentialList list = {NULL};

	if (document->kind == JSON_OBJECT || document->kind == JSON_ARRAY)
		credential_search(document, NULL, &list);
	else if (document->kind == JSON_TEXT)
		(void) credential_clean(&document->text, NULL, &list);
	return list.paths;
}
