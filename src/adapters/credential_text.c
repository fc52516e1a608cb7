/*-------------------------------------------------------------------------
 *
 * credential_text.c
 *	  Removing credentials from documents that come from outside: JSON that is
 *	  written as a text, or within one.
 *
 * Credentials are cut out of the text, so that all its other bytes stay as
 * they are.  A string within the JSON is unescaped to be searched, and the
 * cuts are then made in the escaped original.  Each level of such strings at
 * least doubles the backslashes before a quote, so the recursion is not deep.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/credential_part.h"

#include "base/array.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

/* pieces to be cut out of a text, in the order of their position */
typedef struct CredentialCuts
{
	int			n;
	int			room;
	struct
	{
		int			from;
		int			to;
	}		   *items;
} CredentialCuts;

/* what had been found at some point of the search */
typedef struct CredentialMark
{
	CredentialList list;
	int			paths;
	int			cuts;
} CredentialMark;

/*
 * An array whose name is that of a credential.  It is a credential if it has
 * texts or numbers, and neither objects nor arrays.
 */
typedef struct CredentialArray
{
	int			depth;			/* depth of its elements; 0 if there is no such
								 * array */
	bool		has_value;		/* a text or a number */
	bool		was_kept;		/* whether an earlier member has been kept */
	const char *from;			/* start of what is to be cut in that case */
	CredentialMark mark;
} CredentialArray;

typedef struct CredentialSearch
{
	CredentialReader reader;
	const char *start;			/* where the positions of cuts are counted from */
	const CredentialPlace *at;	/* place of the text, or NULL if it is the
								 * document */
	CredentialPlace *place;		/* palloc'd; the innermost open container that
								 * has a place, or NULL if none has */
	int			beyond;			/* number of open containers within that one,
								 * whose paths are too long */
	CredentialArray array;
	CredentialList *list;
	CredentialCuts *cuts;
} CredentialSearch;

/* -------------------------------------------------------------------- cuts */

static void
credential_cut(CredentialCuts *cuts, int from, int to)
{
	array_make_room(cuts->items, cuts->n, cuts->room);
	cuts->items[cuts->n].from = from;
	cuts->items[cuts->n].to = to;
	cuts->n++;
}

/* Returns a palloc'd copy of the text without the cuts. */
static Slice
credential_without(Slice text, const CredentialCuts *cuts)
{
	char	   *left = palloc(text.len);
	int			n = 0;
	int			at = 0;

	for (int i = 0; i < cuts->n; i++)
	{
		memcpy(left + n, text.s + at, cuts->items[i].from - at);
		n += cuts->items[i].from - at;
		at = cuts->items[i].to;
	}
	memcpy(left + n, text.s + at, text.len - at);
	return (Slice) {left, n + text.len - at};
}

/* Advances in "raw" until "plain" bytes without escapes have been read. */
static int
credential_walk(const char **s, const char *end, int read, int plain)
{
	char		ignored[MAX_MULTIBYTE_CHAR_LEN];

	while (read < plain)
		read += credential_step(s, end, ignored);
	return read;
}

/*
 * Converts the cuts from number "first" on, which are positions in the
 * unescaped text, to positions in the place where the text is written as
 * "raw".
 */
static void
credential_place_cuts(CredentialCuts *cuts, int first, Slice raw, const char *start)
{
	const char *s = raw.s;
	const char *end = raw.s + raw.len;
	int			read = 0;

	for (int i = first; i < cuts->n; i++)
	{
		read = credential_walk(&s, end, read, cuts->items[i].from);
		cuts->items[i].from = s - start;
		read = credential_walk(&s, end, read, cuts->items[i].to);
		cuts->items[i].to = s - start;
	}
}

/* ------------------------------------------------------------------- marks */

static CredentialMark
credential_mark(const CredentialList *list, const CredentialCuts *cuts)
{
	return (CredentialMark) {*list, list->paths != NULL ? list->paths->n : 0, cuts->n};
}

/* Forgets what has been found since the mark. */
static void
credential_forget(CredentialMark mark, CredentialList *list, CredentialCuts *cuts)
{
	mark.list.containers = list->containers;
	*list = mark.list;
	if (list->paths != NULL)
		list->paths->n = mark.paths;
	cuts->n = mark.cuts;
}

/* ------------------------------------------------------- JSON among words */

/* longer names in running text are not considered */
#define MOST_NAME_BYTES	64

/*
 * Does it have a digit?  Code in a chat has placeholders like
 * "sk-your-key-goes-here", whereas hardly any key is without a digit.
 */
static bool
credential_has_digit(Slice value)
{
	for (int i = 0; i < value.len; i++)
		if (value.s[i] >= '0' && value.s[i] <= '9')
			return true;
	return false;
}

/*
 * Returns what is between the quotes before the colon, or an absent slice if
 * there are none.  *quote is set to the kind of quote.
 */
static Slice
credential_name_before(Slice text, const char *colon, char *quote)
{
	const char *end = colon;
	const char *s;

	while (end > text.s && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	if (end == text.s || (end[-1] != '"' && end[-1] != '\''))
		return SLICE_NONE;
	*quote = *--end;
	s = end;
	while (s > text.s && end - s < MOST_NAME_BYTES && s[-1] != *quote)
		s--;
	return s > text.s && s[-1] == *quote ? (Slice) {s, end - s} : SLICE_NONE;
}

/* The same for what follows the colon.  The quotes may be escaped. */
static Slice
credential_value_behind(Slice text, const char *colon, char quote)
{
	const char *end = text.s + text.len;
	const char *s = colon + 1;
	Slice		value;

	while (s < end && strchr(" \t\r\n\\", *s) != NULL)
		s++;
	if (s == end || *s != quote)
		return SLICE_NONE;
	value.s = s + 1;
	s = memchr(value.s, quote, end - value.s);
	if (s == NULL)
		return SLICE_NONE;
	value.len = s - value.s;
	while (value.len > 0 && value.s[value.len - 1] == '\\')
		value.len--;
	return value;
}

/*
 * Returns the value of a member whose name and value are both those of a
 * credential, or an absent slice if it is not one.
 */
static Slice
credential_at_colon(Slice text, const char *colon)
{
	char		quote;
	Slice		name = credential_name_before(text, colon, &quote);
	Slice		value;

	if (!slice_present(name))
		return SLICE_NONE;
	value = credential_value_behind(text, colon, quote);
	return credential_is_value(value) && credential_has_digit(value) && credential_is_name(name, value) ? value : SLICE_NONE;
}

/*
 * Cuts out the values of such members.  Each of them is listed with the path
 * of the text.
 */
static void
credential_search_words(Slice text, const CredentialPlace *at, CredentialList *list, CredentialCuts *cuts)
{
	const char *end = text.s + text.len;
	const char *s = text.s;
	int			before = cuts->n;

	while (s < end && (s = memchr(s, ':', end - s)) != NULL)
	{
		Slice		value = credential_at_colon(text, s);

		CHECK_FOR_INTERRUPTS();
		s++;
		if (!slice_present(value))
			continue;
		/* do not cut again within it */
		s = value.s + value.len;
		credential_cut(cuts, value.s - text.s, s - text.s);
	}
	if (cuts->n > before)
		credential_note(at, list);
}

/* ------------------------------------------------------------------- texts */

static bool credential_search_json(Slice json, const char *start, const CredentialPlace *at, CredentialList *list, CredentialCuts *cuts);

/*
 * Cuts the credentials out of a text.  If the text as a whole is a credential,
 * returns true, and neither cuts nor lists anything.
 */
static bool
credential_search_text(Slice text, const CredentialPlace *at, CredentialList *list, CredentialCuts *cuts)
{
	Slice		json;
	CredentialMark mark;

	if (credential_is_value(text))
		return true;
	json = credential_json_of(text);
	if (!slice_present(json))
	{
		credential_search_words(text, at, list, cuts);
		return false;
	}
	check_stack_depth();
	mark = credential_mark(list, cuts);
	if (!credential_search_json(json, text.s, at, list, cuts))
		return false;
	credential_forget(mark, list, cuts);
	return true;
}

/* The same for a text that is written as "raw" within another one. */
static bool
credential_search_raw(Slice raw, const char *start, const CredentialPlace *at, CredentialList *list, CredentialCuts *cuts)
{
	Slice		text = credential_unescaped(raw);
	int			first = cuts->n;
	bool		is_whole = credential_search_text(text, at, list, cuts);

	credential_place_cuts(cuts, first, raw, start);
	if (text.s != raw.s)
		pfree(unconstify(char *, text.s));
	return is_whole;
}

bool
credential_clean(Slice *text, const CredentialPlace *place, CredentialList *list)
{
	CredentialCuts cuts = {0};

	if (credential_search_text(*text, place, list, &cuts))
		return true;
	if (cuts.n > 0)
	{
		*text = credential_without(*text, &cuts);
		pfree(cuts.items);
	}
	return false;
}

/* -------------------------------------------------------------- containers */

static const CredentialPlace *
credential_here(const CredentialSearch *search)
{
	return search->place != NULL ? search->place : search->at;
}

static void
credential_open(CredentialSearch *search)
{
	const CredentialPlace *up = credential_here(search);

	if (search->beyond > 0 || (up != NULL && up->bytes > MOST_PATH_BYTES))
	{
		search->beyond++;
		return;
	}
	search->place = palloc(sizeof(CredentialPlace));
	credential_enter(search->place, up, search->list);
	search->place->index = -1;
	search->place->is_raw = true;
}

static void
credential_leave(CredentialSearch *search)
{
	CredentialPlace *place = search->place;

	if (search->beyond > 0)
	{
		search->beyond--;
		return;
	}
	search->place = place->up != search->at ? unconstify(CredentialPlace *, place->up) : NULL;
	pfree(place);
}

/* Cuts out the item that ends at the reader's position. */
static void
credential_drop(CredentialSearch *search, const char *from)
{
	credential_note(credential_here(search), search->list);
	credential_cut(search->cuts, from - search->start, search->reader.s - search->start);
}

/*
 * Handles the end of a container: cuts it out if it is an array that is a
 * credential.
 */
static void
credential_close(CredentialSearch *search)
{
	CredentialArray *array = &search->array;
	int			depth = search->reader.depth;

	credential_leave(search);
	if (array->depth != depth + 1)
		return;
	array->depth = 0;
	if (!array->has_value)
		return;
	credential_forget(array->mark, search->list, search->cuts);
	credential_drop(search, array->from);
	if (!array->was_kept)
		search->reader.levels[depth - 1] &= ~LEVEL_KEPT;
}

/* a longer text is no token, and need not be unescaped only for its name */
#define MOST_TOKEN_BYTES	8192

/* Is the name of the item that was read last that of a credential? */
static bool
credential_has_name(const CredentialReader *reader, CredentialToken token)
{
	Slice		raw = token == TOKEN_TEXT && reader->text.len <= MOST_TOKEN_BYTES ? reader->text : SLICE_NONE;
	Slice		key;
	Slice		text;
	bool		is_name;

	if (!slice_present(reader->key))
		return false;
	key = credential_unescaped(reader->key);
	text = slice_present(raw) ? credential_unescaped(raw) : raw;
	is_name = credential_is_name(key, text);
	if (key.s != reader->key.s)
		pfree(unconstify(char *, key.s));
	if (text.s != raw.s)
		pfree(unconstify(char *, text.s));
	return is_name;
}

/*
 * Is the item that was read last a credential?  Credentials within a text are
 * cut out.
 */
static bool
credential_is_item(CredentialSearch *search, CredentialToken token, bool has_name)
{
	Slice		text = search->reader.text;

	if (token == TOKEN_TEXT)
		return (has_name && text.len > 0) ||
			credential_search_raw(text, search->start, credential_here(search), search->list, search->cuts);
	return token == TOKEN_NUMBER && has_name;
}

/* Handles an item that has been read in the container of this depth. */
static void
credential_take_item(CredentialSearch *search, CredentialToken token, int depth)
{
	CredentialReader *reader = &search->reader;
	bool		was_kept = (reader->levels[depth - 1] & LEVEL_KEPT) != 0;
	const char *from = was_kept ? reader->comma : reader->from;
	bool		has_name = credential_has_name(reader, token);

	if (search->beyond == 0)
	{
		search->place->index++;
		search->place->key = reader->key;
	}
	if (search->array.depth == depth)
	{
		search->array.has_value |= token == TOKEN_TEXT || token == TOKEN_NUMBER;
		if (token == TOKEN_OPEN)
			search->array.depth = 0;
	}
	/* if everything before the item has been cut out, cut the comma, too */
	if (!was_kept && reader->comma != NULL)
		credential_cut(search->cuts, reader->comma - search->start, reader->from - search->start);
	if (credential_is_item(search, token, has_name))
	{
		credential_drop(search, from);
		return;
	}
	reader->levels[depth - 1] |= LEVEL_KEPT;
	if (token != TOKEN_OPEN)
		return;
	if (has_name && reader->levels[depth] == ']')
		search->array = (CredentialArray) {reader->depth, false, was_kept, from, credential_mark(search->list, search->cuts)};
	credential_open(search);
}

/*
 * Searches JSON.  Returns true if it is a text that as a whole is a
 * credential.
 */
static bool
credential_search_json(Slice json, const char *start, const CredentialPlace *at, CredentialList *list, CredentialCuts *cuts)
{
	CredentialSearch search = {.start = start, .at = at, .list = list, .cuts = cuts};
	CredentialReader *reader = &search.reader;
	CredentialToken token;
	bool		is_whole = false;
	int			depth;

	credential_read(reader, json);
	while ((token = credential_next(reader)) != TOKEN_END)
	{
		CHECK_FOR_INTERRUPTS();
		Assert(token != TOKEN_FAULT);
		depth = token == TOKEN_OPEN ? reader->depth - 1 : reader->depth;
		if (token == TOKEN_CLOSE)
			credential_close(&search);
		else if (depth > 0)
			credential_take_item(&search, token, depth);
		else if (token == TOKEN_OPEN)
			credential_open(&search);
		else if (token == TOKEN_TEXT)
			is_whole = credential_search_raw(reader->text, start, at, list, cuts);
	}
	credential_end(reader);
	return is_whole;
}
