/*-------------------------------------------------------------------------
 *
 * path_equality.c
 *	  Finding the comparisons of members with texts in a path.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "base/document.h"
#include "base/path.h"
#include "miscadmin.h"
#include "utils/jsonpath.h"

/* Reads the keys of "$.a.b".  Returns false for anything else. */
static bool
path_read_keys(JsonPathItem *item, SliceList *keys)
{
	JsonPathItem here = *item;
	JsonPathItem next;
	int			room = 0;

	*keys = (SliceList) {0, NULL};
	if (here.type != jpiRoot)
		return false;
	while (jspGetNext(&here, &next))
	{
		int32		len;
		char	   *key;

		if (next.type != jpiKey)
			return false;
		key = jspGetString(&next, &len);
		array_make_room(keys->items, keys->n, room);
		keys->items[keys->n++] = slice_copy((Slice) {key, len});
		here = next;
	}
	return keys->n > 0;
}

static List *
path_equality_of(JsonPathItem *member, JsonPathItem *literal)
{
	PathEquality *equality = palloc(sizeof(PathEquality));
	int32		len;
	char	   *text;

	if (literal->type != jpiString || jspHasNext(literal) ||
		!path_read_keys(member, &equality->keys))
		return NIL;
	text = jspGetString(literal, &len);
	equality->text = slice_copy((Slice) {text, len});
	return list_make1(equality);
}

/*
 * If several conditions must all hold, the comparisons of one of them suffice.
 */
static List *
path_equalities_of_item(JsonPathItem *item)
{
	JsonPathItem left;
	JsonPathItem right;
	List	   *of_left;
	List	   *of_right;

	check_stack_depth();
	if (item->type != jpiEqual && item->type != jpiAnd && item->type != jpiOr)
		return NIL;
	jspGetLeftArg(item, &left);
	jspGetRightArg(item, &right);
	if (item->type == jpiEqual)
	{
		of_left = path_equality_of(&left, &right);
		return of_left != NIL ? of_left : path_equality_of(&right, &left);
	}
	of_left = path_equalities_of_item(&left);
	of_right = path_equalities_of_item(&right);
	if (item->type == jpiAnd)
		return of_left != NIL ? of_left : of_right;
	return of_left != NIL && of_right != NIL ? list_concat(of_left, of_right) : NIL;
}

List *
path_list_equalities(const DocumentPath *path)
{
	JsonPathItem root;

	if (path->jsonpath == NULL || !path->is_predicate)
		return NIL;
	jspInit(&root, (JsonPath *) path->jsonpath);
	return path_equalities_of_item(&root);
}

PathMember
path_member(const SliceList *keys, Jsonb *document, Slice *text)
{
	JsonbContainer *container = &document->root;
	JsonbValue	value = {jbvNull};

	for (int i = 0; i < keys->n; i++)
	{
		if (container != NULL && JsonContainerIsArray(container))
			return PATH_MEMBER_UNCLEAR;
		if (container == NULL || !JsonContainerIsObject(container) ||
			getKeyJsonValueFromContainer(container, keys->items[i].s, keys->items[i].len, &value) == NULL)
			return PATH_MEMBER_OTHER;
		container = value.type == jbvBinary ? value.val.binary.data : NULL;
	}
	if (container != NULL && JsonContainerIsArray(container))
		return PATH_MEMBER_UNCLEAR;
	if (value.type != jbvString)
		return PATH_MEMBER_OTHER;
	*text = document_text(&value);
	return PATH_MEMBER_TEXT;
}
