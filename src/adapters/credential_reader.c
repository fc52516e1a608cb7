/*-------------------------------------------------------------------------
 *
 * credential_reader.c
 *	  Removing credentials from documents that come from outside: reading JSON
 *	  that is written as a text.
 *
 * We cannot use jsonb for this, because it keeps only the last of several
 * members with the same name, does not preserve how a number is written,
 * refuses what other parsers read, and parses nested JSON recursively.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/credential_part.h"

#include <ctype.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#define FENCE	"```"

static bool
credential_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static Slice
credential_trimmed(Slice text)
{
	for (; text.len > 0 && credential_is_blank(text.s[0]); text.len--)
		text.s++;
	while (text.len > 0 && credential_is_blank(text.s[text.len - 1]))
		text.len--;
	return text;
}

/*
 * Returns the text within a fence, as models write it: a line that begins with
 * ```, the text, and ```.
 */
static Slice
credential_unfenced(Slice text)
{
	int			mark = strlen(FENCE);
	const char *end = text.s + text.len - mark;
	const char *first = text.len > 2 * mark ? memchr(text.s, '\n', text.len) : NULL;

	if (first == NULL || first >= end || memcmp(end, FENCE, mark) != 0)
		return SLICE_NONE;
	return credential_trimmed((Slice) {first + 1, end - (first + 1)});
}

/* ------------------------------------------------------------------ tokens */

/*
 * Returns the value of the four hexadecimal digits at s, or -1 if there are
 * other characters.
 */
static int
credential_hex(const char *s, const char *end)
{
	int			code = 0;

	if (end - s < 4)
		return -1;
	for (int i = 0; i < 4; i++)
	{
		if (!isxdigit((unsigned char) s[i]))
			return -1;
		code = code * 16 + (isdigit((unsigned char) s[i]) ? s[i] - '0' : (s[i] & 7) + 9);
	}
	return code;
}

static void
credential_skip_blanks(CredentialReader *reader)
{
	while (reader->s < reader->end && credential_is_blank(*reader->s))
		reader->s++;
}

static bool
credential_take(CredentialReader *reader, char c)
{
	if (reader->s == reader->end || *reader->s != c)
		return false;
	reader->s++;
	return true;
}

/*
 * Returns the number of bytes of the escape sequence at s, which begins with a
 * backslash, or 0 if it is not a valid one.
 */
static int
credential_escape(const char *s, const char *end)
{
	if (end - s < 2)
		return 0;
	if (s[1] == 'u')
		return credential_hex(s + 2, end) >= 0 ? 6 : 0;
	return memchr("\"\\/bfnrt", s[1], 8) != NULL ? 2 : 0;
}

/*
 * Returns what is between the quotes of a text, with its escapes, or an absent
 * slice if there is no text.
 */
static Slice
credential_take_text(CredentialReader *reader)
{
	const char *from = reader->s + 1;
	const char *s = from;
	int			n;

	if (!credential_take(reader, '"'))
		return SLICE_NONE;
	while (s < reader->end && *s != '"')
	{
		n = *s == '\\' ? credential_escape(s, reader->end) : 1;
		if (n == 0)
			return SLICE_NONE;
		s += n;
	}
	if (s == reader->end)
		return SLICE_NONE;
	reader->s = s + 1;
	return (Slice) {from, s - from};
}

static void
credential_push(CredentialReader *reader, char close)
{
	if (reader->depth == reader->room)
	{
		reader->room *= 2;
		if (reader->levels == reader->few)
			reader->levels = memcpy(palloc(reader->room), reader->few, FEW_LEVELS);
		else
			reader->levels = repalloc(reader->levels, reader->room);
	}
	reader->levels[reader->depth++] = close;
	reader->is_first = true;
}

static bool
credential_take_digits(CredentialReader *reader)
{
	const char *from = reader->s;

	while (reader->s < reader->end && isdigit((unsigned char) *reader->s))
		reader->s++;
	return reader->s > from;
}

static bool
credential_take_number(CredentialReader *reader)
{
	(void) credential_take(reader, '-');
	if (!credential_take(reader, '0') && !credential_take_digits(reader))
		return false;
	if (credential_take(reader, '.') && !credential_take_digits(reader))
		return false;
	if (!credential_take(reader, 'e') && !credential_take(reader, 'E'))
		return true;
	if (!credential_take(reader, '+'))
		(void) credential_take(reader, '-');
	return credential_take_digits(reader);
}

static CredentialToken
credential_take_word(CredentialReader *reader)
{
	static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity", NULL};

	for (const char *const *word = words; *word != NULL; word++)
		if (**word == *reader->s && slice_starts((Slice) {reader->s, reader->end - reader->s}, slice_of_cstring(*word)))
		{
			reader->s += strlen(*word);
			return TOKEN_WORD;
		}
	return credential_take_number(reader) ? TOKEN_NUMBER : TOKEN_FAULT;
}

static CredentialToken
credential_take_value(CredentialReader *reader)
{
	if (reader->s == reader->end)
		return TOKEN_FAULT;
	if (*reader->s == '"')
	{
		reader->text = credential_take_text(reader);
		return slice_present(reader->text) ? TOKEN_TEXT : TOKEN_FAULT;
	}
	if (*reader->s != '{' && *reader->s != '[')
		return credential_take_word(reader);
	credential_push(reader, *reader->s++ == '{' ? '}' : ']');
	return TOKEN_OPEN;
}

/* Reads the key of a member and the colon after it. */
static bool
credential_take_key(CredentialReader *reader)
{
	reader->key = credential_take_text(reader);
	if (!slice_present(reader->key))
		return false;
	credential_skip_blanks(reader);
	if (!credential_take(reader, ':'))
		return false;
	credential_skip_blanks(reader);
	return true;
}

CredentialToken
credential_next(CredentialReader *reader)
{
	char		close = reader->depth > 0 ? reader->levels[reader->depth - 1] & ~LEVEL_KEPT : '\0';
	bool		is_first = reader->is_first;

	credential_skip_blanks(reader);
	if (reader->depth == 0 && !is_first)
		return reader->s == reader->end ? TOKEN_END : TOKEN_FAULT;
	reader->is_first = false;
	if (reader->depth > 0 && credential_take(reader, close))
	{
		reader->depth--;
		return TOKEN_CLOSE;
	}
	reader->comma = is_first ? NULL : reader->s;
	if (!is_first && !credential_take(reader, ','))
		return TOKEN_FAULT;
	credential_skip_blanks(reader);
	reader->from = reader->s;
	reader->key = SLICE_NONE;
	if (close == '}' && !credential_take_key(reader))
		return TOKEN_FAULT;
	return credential_take_value(reader);
}

void
credential_read(CredentialReader *reader, Slice json)
{
	reader->s = json.s;
	reader->end = json.s + json.len;
	reader->levels = reader->few;
	reader->depth = 0;
	reader->room = FEW_LEVELS;
	reader->is_first = true;
}

void
credential_end(CredentialReader *reader)
{
	if (reader->levels != reader->few)
		pfree(reader->levels);
}

/* ------------------------------------------------------------ is it JSON? */

static bool
credential_is_json(Slice json)
{
	CredentialReader reader;
	CredentialToken token;

	credential_read(&reader, json);
	do
	{
		CHECK_FOR_INTERRUPTS();
		token = credential_next(&reader);
	} while (token != TOKEN_END && token != TOKEN_FAULT);
	credential_end(&reader);
	return token == TOKEN_END;
}

Slice
credential_json_of(Slice text)
{
	char		last;

	/* most texts are ruled out here */
	while (text.len > 0 && credential_is_blank(text.s[0]))
	{
		text.s++;
		text.len--;
	}
	if (text.len < 2 || (text.s[0] != '{' && text.s[0] != '[' && text.s[0] != '"' && text.s[0] != '`'))
		return SLICE_NONE;
	text = credential_trimmed(text);
	if (slice_starts(text, SLICE_OF(FENCE)))
		text = credential_unfenced(text);
	if (text.len < 2)
		return SLICE_NONE;
	last = text.s[text.len - 1];
	if ((text.s[0] != '{' || last != '}') && (text.s[0] != '[' || last != ']') && (text.s[0] != '"' || last != '"'))
		return SLICE_NONE;
	return credential_is_json(text) ? text : SLICE_NONE;
}

/* ----------------------------------------------------------------- escapes */

/*
 * Encodes a character.  One that a text of the database cannot contain becomes
 * another one that is neither a letter nor a digit, just like the original.
 */
static int
credential_encode(pg_wchar code, char *plain)
{
	if (code == 0)
		code = '?';
	else if (is_utf16_surrogate_first(code) || is_utf16_surrogate_second(code))
		code = 0xFFFD;
	unicode_to_utf8(code, (unsigned char *) plain);
	return pg_utf_mblen((unsigned char *) plain);
}

/*
 * Reads the four digits of a \u escape, to which *s points, and the second
 * half of a surrogate pair.
 */
static int
credential_step_unicode(const char **s, const char *end, char *plain)
{
	int			code = credential_hex(*s, end);
	int			second = -1;

	Assert(code >= 0);
	*s += 4;
	if (is_utf16_surrogate_first(code) && end - *s >= 6 && (*s)[0] == '\\' && (*s)[1] == 'u')
		second = credential_hex(*s + 2, end);
	if (second >= 0 && is_utf16_surrogate_second(second))
	{
		*s += 6;
		code = surrogate_pair_to_codepoint(code, second);
	}
	return credential_encode(code, plain);
}

int
credential_step(const char **s, const char *end, char *plain)
{
	static const char letters[] = "bfnrt";
	static const char meant[] = "\b\f\n\r\t";
	const char *letter;

	*plain = *(*s)++;
	if (*plain != '\\')
		return 1;
	*plain = *(*s)++;
	if (*plain == 'u')
		return credential_step_unicode(s, end, plain);
	letter = strchr(letters, *plain);
	if (letter != NULL)
		*plain = meant[letter - letters];
	return 1;
}

Slice
credential_unescaped(Slice raw)
{
	const char *s = raw.s;
	const char *end = raw.s + raw.len;
	char	   *text;
	int			n = 0;

	if (memchr(raw.s, '\\', raw.len) == NULL)
		return raw;
	/* no character gets longer when its escape is removed */
	text = palloc(raw.len);
	while (s < end)
		n += credential_step(&s, end, text + n);
	return (Slice) {text, n};
}
