/*-------------------------------------------------------------------------
 *
 * place.c
 *	  Places of values in a document, for reporting faults.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/place.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

/* how many bytes of a user's text are shown in a message */
#define TEXT_SHOWN		80

char *
place_path(const DocumentPlace *place)
{
	char	   *parent;
	char	   *path;

	check_stack_depth();
	if (place == NULL)
		return pstrdup("");
	if (place->base)
		return pstrdup(place->base);

	parent = place_path(place->up);
	path = slice_present(place->key) ? problem_path(parent, place->key.s, place->key.len) :
		problem_path_index(parent, place->index);
	pfree(parent);
	return path;
}

char *
place_name(const DocumentPlace *place)
{
	if (place == NULL || place->base)
		return pstrdup("The document");
	if (slice_present(place->key))
		return place_quote(place->key);
	if (place->up == NULL || place->up->base)
		return psprintf("Element %d of the document", place->index);
	if (!slice_present(place->up->key))
		return psprintf("Element %d of an array", place->index);
	return psprintf("Element %d of %s", place->index, place_name(place->up));
}

void
place_fault(const DocumentPlace *place, ProblemList *list, const char *code,
			const char *format,...)
{
	va_list		args;

	if (problem_is_beyond(list))
		return;
	va_start(args, format);
	problem_add(list, place_path(place), code, "%s %s", place_name(place), text_of_format(format, args));
	va_end(args);
}

char *
place_quote(Slice text)
{
	int			shown = text.len;

	if (shown > TEXT_SHOWN)
		shown = pg_mbcliplen(text.s, text.len, TEXT_SHOWN);
	return psprintf("\"%.*s%s\"", shown, text.s, shown < text.len ? "..." : "");
}
