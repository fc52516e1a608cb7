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
 * Is it a text that is not empty, a number, or an array of texts and numbers?
 */
static bool
credential_is_plain(const Json *value)
{
	if (value->kind == JSON_ARRAY && value->n > 0)
	{
		for (int i = 0; i < value->n; i++)
			if (value->items[i]->kind != JSON_TEXT && value->items[i]->kind != JSON_NUMBER)
				return false;
		return true;
	}
	return value->kind == JSON_NUMBER || (value->kind == JSON_TEXT && value->text.len > 0);
}

/*
 * Is it the value that belongs to the name of a credential, as in a list of
 * headers or variables: {"name": "Authorization", "value": "..."}?
 */
static bool
credential_is_named(const Json *container, Slice key, const Json *item)
{
	Slice		name;

	if (container->kind != JSON_OBJECT || !slice_is(key, "value") || !credential_is_plain(item))
		return false;
	name = json_get_text(container, "/name");
	if (!slice_present(name))
		name = json_get_text(container, "/key");
	return slice_present(name) && credential_is_name(name);
}

static void credential_search(Json *container, const CredentialPlace *up, CredentialList *list);

/*
 * Removes the credentials within an item and returns false, or returns true if
 * the item itself is a credential.
 */
static bool
credential_search_item(Json *item, const CredentialPlace *place, CredentialList *list)
{
	if (slice_present(place->key) && credential_is_plain(item) && credential_is_name(place->key))
		return true;
	if (item->kind == JSON_TEXT)
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

	check_stack_depth();
	credential_enter(&place, up, list);
	for (int i = 0; i < container->n; i++)
	{
		Json	   *item = container->items[i];

		CHECK_FOR_INTERRUPTS();
		place.index = i;
		if (container->kind == JSON_OBJECT)
			place.key = container->keys[i];
		if (credential_is_named(container, place.key, item) || credential_search_item(item, &place, list))
		{
			credential_note(&place, list);
			continue;
		}
		container->items[kept] = item;
		if (container->kind == JSON_OBJECT)
			container->keys[kept] = place.key;
		kept++;
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
