/*-------------------------------------------------------------------------
 *
 * pattern_translate.c
 *	  Translation of regular expressions of ECMA-262 (with flag u) to those of
 *	  PostgreSQL.
 *
 * One pass from left to right.  Inside of brackets, the bytes of characters
 * outside of ASCII are copied one by one: no server encoding uses ASCII bytes
 * inside of them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/pattern_part.h"

#include <ctype.h>

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"

#define MOST_REPEATS	255		/* limit of the engine */
#define REPEAT_BLOCK	32		/* how many copies make a block, see below */

/* for use inside brackets; what negates a class goes up to the last character of the engine */
#define DIGITS			"0-9"
#define WORD			"A-Za-z0-9_"
#define SPACES			"\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
#define NO_DIGITS		"\\u0001-\\u002f\\u003a-\\U7ffffffe"
#define NO_WORD			"\\u0001-\\u002f\\u003a-\\u0040\\u005b-\\u005e\\u0060\\u007b-\\U7ffffffe"
#define NO_SPACES		"\\u0001-\\u0008\\u000e-\\u001f\\u0021-\\u009f\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027" \
	"\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\ufefe\\uff00-\\U7ffffffe"
#define NO_LINE_BREAK	"[^\\u000a\\u000d\\u2028\\u2029]"

/* \b and \B; for \y and \Y of the engine, words have all letters of Unicode */
#define EDGE			"(?:(?<![" WORD "])(?=[" WORD "])|(?<=[" WORD "])(?![" WORD "]))"
#define NO_EDGE			"(?:(?<![" WORD "])(?![" WORD "])|(?<=[" WORD "])(?=[" WORD "]))"

typedef struct Translation
{
	Slice		in;
	int			at;				/* position of the next character */
	StringInfoData out;
	const char *fault;			/* NULL if none so far */
	bool		repeatable;		/* what was written last can be repeated */
	int			single;			/* where it begins, if it matches a single
								 * character; otherwise, -1 */
	PatternSize	size;
} Translation;

static bool
pattern_is_over(const Translation *t)
{
	return t->fault != NULL || t->at >= t->in.len;
}

/* Returns the character after n others, or NUL. */
static char
pattern_peek(const Translation *t, int n)
{
	return t->at + n < t->in.len ? t->in.s[t->at + n] : '\0';
}

/* Skips the text if it comes next, and returns whether it did. */
static bool
pattern_take(Translation *t, const char *text)
{
	int			len = strlen(text);

	if (t->in.len - t->at < len || memcmp(t->in.s + t->at, text, len) != 0)
		return false;
	t->at += len;
	return true;
}

static void
pattern_put(Translation *t, const char *text)
{
	appendStringInfoString(&t->out, text);
}

/* ----------------------------------------------------------------- escapes */

/*
 * Takes n hexadecimal digits and returns their value.  Returns -1, and takes
 * nothing, if there are fewer.
 */
static int
pattern_take_hex(Translation *t, int n)
{
	int			code = 0;

	for (int i = 0; i < n; i++)
	{
		unsigned char c = pattern_peek(t, i);

		if (!isxdigit(c))
			return -1;
		code = code * 16 + (isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	t->at += n;
	return code;
}

/* Reads what follows \u{. */
static int
pattern_take_braced_code(Translation *t)
{
	int			code = 0;
	int			digits = 0;
	int			digit;

	while (digits++ < 8 && (digit = pattern_take_hex(t, 1)) >= 0)
		code = code * 16 + digit;
	return pattern_take(t, "}") && code <= 0x10FFFF ? code : -1;
}

/* Reads what follows \u: four hexadecimal digits, digits in braces, or a pair of surrogates. */
static int
pattern_take_unicode(Translation *t)
{
	int			code;
	int			low;

	if (pattern_take(t, "{"))
		return pattern_take_braced_code(t);
	code = pattern_take_hex(t, 4);
	if (code < 0xD800 || code > 0xDBFF || !pattern_take(t, "\\u"))
		return code;
	low = pattern_take_hex(t, 4);
	return low >= 0xDC00 && low <= 0xDFFF ? 0x10000 + (code - 0xD800) * 0x400 + low - 0xDC00 : -1;
}

static void
pattern_put_code(Translation *t, int code)
{
	if (code < 0)
		t->fault = "has an escape of a character that is not complete.";
	else
		appendStringInfo(&t->out, "\\U%08x", code);
}

static const struct
{
	const char *names;			/* names, each between two bars */
	const char *name;			/* the name of the POSIX class */
}			pattern_properties[] = {
	{"|L|Letter|Alphabetic|Alpha|", "[:alpha:]"},
	{"|Lu|Uppercase_Letter|Uppercase|", "[:upper:]"},
	{"|Ll|Lowercase_Letter|Lowercase|", "[:lower:]"},
	{"|N|Number|Nd|Decimal_Number|digit|", "[:digit:]"},
	{"|P|Punctuation|punct|", "[:punct:]"},
	{"|Z|Separator|Zs|Space_Separator|White_Space|space|", "[:space:]"},
};

/* Translates what follows \p or \P: {Name} or {General_Category=Name}. */
static void
pattern_put_property(Translation *t, bool negated, bool in_brackets)
{
	const char *brace = memchr(t->in.s + t->at, '}', t->in.len - t->at);
	const char *equals;
	char	   *name;
	int			i;

	t->fault = "has an escape \\p that is not supported; use \\p{L}, \\p{Lu}, \\p{Ll}, \\p{N}, \\p{P} or \\p{Z}.";
	if (!pattern_take(t, "{") || brace == NULL || (negated && in_brackets))
		return;
	name = pnstrdup(t->in.s + t->at, brace - t->in.s - t->at);
	t->at = brace - t->in.s + 1;
	equals = strchr(name, '=');
	name = psprintf("|%s|", equals ? equals + 1 : name);
	for (i = 0; i < lengthof(pattern_properties) && t->fault != NULL; i++)
		if (strstr(pattern_properties[i].names, name) != NULL)
		{
			appendStringInfo(&t->out, in_brackets ? "%s%s%s" : "[%s%s%s", negated ? "^" : "",
							 pattern_properties[i].name, in_brackets ? "" : "]");
			t->fault = NULL;
		}
}

/*
 * Translates \d, \w, \s and their opposites.  Returns false if c is not one of
 * these letters.
 */
static bool
pattern_put_class(Translation *t, char c, bool in_brackets)
{
	static const struct
	{
		char		letter;
		const char *members;
	}			classes[] = {
		{'d', DIGITS}, {'D', NO_DIGITS}, {'w', WORD}, {'W', NO_WORD}, {'s', SPACES}, {'S', NO_SPACES},
	};

	for (int i = 0; i < lengthof(classes); i++)
		if (classes[i].letter == c)
		{
			appendStringInfo(&t->out, in_brackets ? "%s" : "[%s]", classes[i].members);
			return true;
		}
	return false;
}

/*
 * Translates an escape that means the same inside and outside of brackets.
 * The backslash has been read.
 */
static void
pattern_put_escape(Translation *t, bool in_brackets)
{
	char		c = pattern_peek(t, 0);

	t->at++;
	if (c == '\0')
		t->fault = "ends with a backslash.";
	else if (IS_HIGHBIT_SET(c))
		t->fault = "has a backslash before a character that is not ASCII; write the character alone.";
	else if (pattern_put_class(t, c, in_brackets))
		return;
	else if (strchr("tnvfr", c) != NULL || !isalnum((unsigned char) c))
		appendStringInfo(&t->out, "\\%c", c);
	else if (c == 'u')
		pattern_put_code(t, pattern_take_unicode(t));
	else if (c == 'x')
		pattern_put_code(t, pattern_take_hex(t, 2));
	else if (c == 'c' && isalpha((unsigned char) pattern_peek(t, 0)))
		pattern_put_code(t, t->in.s[t->at++] & 31);
	else if (c == 'p' || c == 'P')
		pattern_put_property(t, c == 'P', in_brackets);
	else if (c == '0')
		t->fault = "has the escape \\0, which means U+0000; no text in the database contains this character.";
	else if (isdigit((unsigned char) c) || c == 'k')
		t->fault = "has a back reference; the database does not run these.";
	else
		t->fault = psprintf("has the escape \\%c, which is not one of ECMA-262.", c);
}

/* ---------------------------------------------------------------- brackets */

/* Translates what follows [ and an optional ^. */
static void
pattern_put_members(Translation *t)
{
	bool		after_class = false;

	while (!pattern_is_over(t) && pattern_peek(t, 0) != ']')
	{
		char		c = pattern_peek(t, 0);
		bool		is_class = c == '\\' && strchr("dDwWsSpP", pattern_peek(t, 1)) != NULL;

		t->at++;
		if (c == '\\' && pattern_peek(t, 0) == 'b')
		{
			t->at++;
			pattern_put(t, "\\u0008");
		}
		else if (c == '\\')
			pattern_put_escape(t, true);
		else if (c == '[' || (c == '-' && (after_class || pattern_peek(t, 0) == ']')))
			appendStringInfo(&t->out, "\\%c", c);
		else
			appendStringInfoChar(&t->out, c);
		after_class = is_class;
	}
	if (t->fault == NULL && !pattern_take(t, "]"))
		t->fault = "has a bracket [ that is not closed.";
}

static void
pattern_put_brackets(Translation *t)
{
	t->single = t->out.len;
	if (pattern_take(t, "[]"))
		pattern_put(t, "(?!)");		/* matches no character */
	else if (pattern_take(t, "[^]"))
		pattern_put(t, "(?:.)");	/* also matches line breaks */
	else
	{
		pattern_put(t, pattern_take(t, "[^") ? "[^" : pattern_take(t, "[") ? "[" : "");
		pattern_put_members(t);
		pattern_put(t, "]");
	}
	t->repeatable = true;
	pattern_size_character(&t->size);
}

/* ------------------------------------------------------- groups and repeats */

/* Translates the beginning of a lookaround.  Returns false if there is none. */
static bool
pattern_put_lookaround(Translation *t)
{
	static const char *const beginnings[] = {"?=", "?!", "?<=", "?<!"};

	for (int i = 0; i < lengthof(beginnings); i++)
		if (pattern_take(t, beginnings[i]))
		{
			pattern_size_open(&t->size, true);
			appendStringInfo(&t->out, "(%s", beginnings[i]);
			return true;
		}
	return false;
}

/*
 * Translates what follows (.  Nothing can refer to a group, so none captures.
 */
static void
pattern_put_group(Translation *t)
{
	const char *name_end;

	t->repeatable = false;
	if (pattern_put_lookaround(t))
		return;
	pattern_size_open(&t->size, false);
	if (pattern_take(t, "?:") || pattern_peek(t, 0) != '?')
		pattern_put(t, "(?:");
	else if (pattern_take(t, "?<") &&
			 (name_end = memchr(t->in.s + t->at, '>', t->in.len - t->at)) != NULL)
	{
		t->at = name_end - t->in.s + 1;
		pattern_put(t, "(?:");
	}
	else
		t->fault = "has a group (? that is not one of ECMA-262.";
}

/*
 * Returns the length of {m}, {m,} or {m,n}, or 0 if the brace stands for
 * itself.
 */
static int
pattern_bound_length(const Translation *t)
{
	int			n = 1;

	if (!isdigit((unsigned char) pattern_peek(t, n)))
		return 0;
	while (isdigit((unsigned char) pattern_peek(t, n)))
		n++;
	if (pattern_peek(t, n) == ',')
		n++;
	while (isdigit((unsigned char) pattern_peek(t, n)))
		n++;
	return pattern_peek(t, n) == '}' ? n + 1 : 0;
}

/*
 * Writes more copies than the engine can count.  Exactly n copies are blocks
 * followed by the rest; up to n copies are up to so many blocks, followed by
 * up to so many single copies that no number below n is left out.
 */
static void
pattern_put_blocks(Translation *t, long least, bool is_open, long most)
{
	char	   *one = pstrdup(t->out.data + t->single);
	long		optional = Max(most - least, 0);
	long		blocks = Max(optional - REPEAT_BLOCK + 1, 0) / REPEAT_BLOCK;

	t->out.len = t->single;
	appendStringInfo(&t->out, "(?:(?:%s{%d}){%ld}%s{%ld}", one, REPEAT_BLOCK, least / REPEAT_BLOCK,
					 one, least % REPEAT_BLOCK);
	if (is_open)
		appendStringInfo(&t->out, "%s*)", one);
	else
		appendStringInfo(&t->out, "(?:%s{%d}){0,%ld}%s{0,%ld})", one, REPEAT_BLOCK, blocks,
						 one, optional - blocks * REPEAT_BLOCK);
}

static void
pattern_put_bound(Translation *t, int len)
{
	char	   *bound = pnstrdup(t->in.s + t->at, len);
	char	   *comma = strchr(bound, ',');
	long		least = strtol(bound + 1, NULL, 10);
	bool		is_open = comma != NULL && comma[1] == '}';
	long		most = comma == NULL || is_open ? least : strtol(comma + 1, NULL, 10);

	pattern_size_repeat(&t->size, least, Max(least, most), is_open);
	t->at += len;
	if (least > most)
		t->fault = "has a repetition whose first number is greater than its second one.";
	else if (most <= MOST_REPEATS)
		pattern_put(t, bound);
	else if (t->single < 0)
		t->fault = "repeats a group more than 255 times; use an asterisk or a plus, and maxLength.";
	else if (pattern_size_fault(&t->size) == NULL)
		pattern_put_blocks(t, least, is_open, most);
}

/*
 * Translates a quantifier, possibly followed by ?.  Returns false if there is
 * none.
 */
static bool
pattern_put_quantifier(Translation *t)
{
	char		c = pattern_peek(t, 0);
	int			bound = c == '{' ? pattern_bound_length(t) : 0;

	if (c != '*' && c != '+' && c != '?' && bound == 0)
		return false;
	if (!t->repeatable)
		t->fault = "repeats nothing: a quantifier must follow what it repeats.";
	else if (bound > 0)
		pattern_put_bound(t, bound);
	else
	{
		pattern_size_repeat(&t->size, c == '+' ? 1 : 0, 1, c != '?');
		appendStringInfoChar(&t->out, c);
		t->at++;
	}
	/* greediness affects what is matched, but not whether there is a match */
	(void) pattern_take(t, "?");
	t->repeatable = false;
	return true;
}

/* ---------------------------------------------------------------- the whole */

/* Translates the character before the current position, which is no escape. */
static void
pattern_put_character(Translation *t, char c)
{
	t->repeatable = c != '^' && c != '$' && c != '|';
	t->single = c == ')' ? -1 : t->out.len;
	if (c == ')')
		pattern_size_close(&t->size);
	else if (c == '|')
		pattern_size_alternative(&t->size);
	else if (t->repeatable)
		pattern_size_character(&t->size);
	else if (c == '^' && t->at == 1)
		t->size.at_start = true;
	if (c == '.')
		pattern_put(t, NO_LINE_BREAK);
	else if (c == '{' || c == '}' || c == ']')
		appendStringInfo(&t->out, "\\%c", c);
	else if (IS_HIGHBIT_SET(c))
	{
		const char *whole = t->in.s + t->at - 1;

		appendBinaryStringInfo(&t->out, whole, pg_mblen(whole));
		t->at += pg_mblen(whole) - 1;
	}
	else
		appendStringInfoChar(&t->out, c);
}

static void
pattern_put_next(Translation *t)
{
	char		c = pattern_peek(t, 0);

	if (pattern_put_quantifier(t))
		return;
	if (c == '[')
	{
		pattern_put_brackets(t);
		return;
	}
	t->at++;
	if (c == '(')
		pattern_put_group(t);
	else if (c != '\\')
		pattern_put_character(t, c);
	else if (pattern_peek(t, 0) == 'b' || pattern_peek(t, 0) == 'B')
	{
		pattern_put(t, pattern_peek(t, 0) == 'b' ? EDGE : NO_EDGE);
		t->at++;
		t->repeatable = false;
	}
	else
	{
		t->single = t->out.len;
		pattern_put_escape(t, false);
		t->repeatable = true;
		pattern_size_character(&t->size);
	}
}

char *
pattern_translate(Slice source, PatternReach *reach, const char **fault)
{
	Translation t = {.in = source};

	initStringInfo(&t.out);
	pattern_size_begin(&t.size, source.len);
	while (!pattern_is_over(&t))
		pattern_put_next(&t);
	*reach = pattern_size_reach(&t.size);
	*fault = t.fault != NULL ? t.fault : pattern_size_fault(&t.size);
	return *fault == NULL ? t.out.data : NULL;
}
