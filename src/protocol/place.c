/*-------------------------------------------------------------------------
 *
 * place.c
 *	  Where in a document a value stands, and what is wrong with it there.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/place.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"

/* bytes of a user's text that a sentence shows */
#define TEXT_SHOWN		80

/* palloc'd; "" for the document */
static char *
path_of(const Place *place)
{
	char	   *parent;

	if (place == NULL)
		return pstrdup("");
	if (place->base)
		return pstrdup(place->base);

	/* a few frames: the fields of the protocol do not nest deeper */
	parent = path_of(place->up);
	if (slice_present(place->key))
		return problem_path(parent, place->key.s, place->key.len);
	return problem_path_index(parent, place->index);
}

/* what stands there, as a sentence begins: "ts", or: Element 2 of "requires" */
static char *
name_of(const Place *place)
{
	if (place == NULL || place->base)
		return pstrdup("The document");
	if (slice_present(place->key))
		return place_quote(place->key);
	return psprintf("Element %d of %s", place->index, name_of(place->up));
}

void
place_fault(const Place *place, ProblemList *list, const char *code,
			const char *format,...)
{
	StringInfoData sentence;

	if (list->n == PROBLEM_MAX)
	{
		list->dropped++;		/* without spelling what nobody will read */
		return;
	}

	initStringInfo(&sentence);
	appendStringInfo(&sentence, "%s ", name_of(place));
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, format);
		needed = appendStringInfoVA(&sentence, format, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&sentence, needed);
	}
	problem_add(list, path_of(place), code, "%s", sentence.data);
}

char *
place_quote(Slice text)
{
	int			shown = text.len;

	if (shown > TEXT_SHOWN)
		shown = pg_mbcliplen(text.s, text.len, TEXT_SHOWN);
	return psprintf("\"%.*s%s\"", shown, text.s, shown < text.len ? "..." : "");
}
