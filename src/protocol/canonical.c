/*-------------------------------------------------------------------------
 *
 * canonical.c
 *	  Canonical form of JSON documents (RFC 8785).
 *
 * The walk reads the entries of the containers directly, as in limits.c.
 * Memory is needed only for sorting keys, because jsonb sorts them by length
 * first.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/canonical.h"

#include <float.h>
#include <math.h>

#include "base/document.h"
#include "base/number.h"
#include "base/text.h"
#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "protocol/place.h"
#include "protocol/value.h"
#include "utils/builtins.h"

typedef struct CanonicalWalk
{
	StringInfo	out;
	CanonicalNumbers numbers;
	ProblemList *list;
} CanonicalWalk;

static void canonical_append_value(CanonicalWalk *walk, const JsonbValue *value,
								   const DocumentPlace *place, const char *const *without);

/* ----------------------------------------------------------------- strings */

/* Appends a string with its quotes. */
static void
canonical_append_string(StringInfo out, Slice text)
{
	static const char hex[] = "0123456789abcdef";
	static const char short_escapes[] = "btn\0fr";	/* for the characters 8 to
													 * 13 */
	int			done = 0;
	int			i;

	appendStringInfoCharMacro(out, '"');
	for (i = 0; i < text.len; i++)
	{
		unsigned char c = (unsigned char) text.s[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		appendBinaryStringInfo(out, text.s + done, i - done);
		done = i + 1;
		appendStringInfoCharMacro(out, '\\');
		if (c >= 0x20)
			appendStringInfoCharMacro(out, c);
		else if (c >= 8 && c <= 13 && short_escapes[c - 8] != '\0')
			appendStringInfoCharMacro(out, short_escapes[c - 8]);
		else
		{
			appendBinaryStringInfo(out, "u00", 3);
			appendStringInfoCharMacro(out, hex[c >> 4]);
			appendStringInfoCharMacro(out, hex[c & 15]);
		}
	}
	appendBinaryStringInfo(out, text.s + done, text.len - done);
	appendStringInfoCharMacro(out, '"');
}

/* ----------------------------------------------------------------- numbers */

/* from here on, all doubles are integers, but not all integers are doubles */
#define CANONICAL_2_53		9007199254740992.0

/* 0.digits * 10^point, without zeros at either end */
typedef struct CanonicalDecimal
{
	char		digits[DOUBLE_SHORTEST_DECIMAL_LEN];
	int			n;
	int			point;
} CanonicalDecimal;

static void
canonical_read_decimal(const char *text, CanonicalDecimal *decimal)
{
	bool		is_fraction = false;

	decimal->n = 0;
	decimal->point = 0;
	for (; *text != '\0' && *text != 'e'; text++)
	{
		if (*text == '.')
			is_fraction = true;
		else if (*text != '0' || decimal->n > 0)
		{
			decimal->digits[decimal->n++] = *text;
			decimal->point += is_fraction ? 0 : 1;
		}
		else if (is_fraction)
			decimal->point--;
	}
	if (*text == 'e')
		decimal->point += atoi(text + 1);
	while (decimal->n > 0 && decimal->digits[decimal->n - 1] == '0')
		decimal->n--;
}

/*
 * Shortens a decimal.  The server never writes a decimal that lies exactly
 * half way between two doubles, although a reader that rounds to even would
 * find the right one: it writes 9.999999999999999e+22 for 1e23.  ECMAScript
 * does write it if it has fewer digits.  Such decimals occur only among
 * integers from 2^53 on, and among subnormal numbers; elsewhere they have more
 * than 17 digits.
 */
static void
canonical_shorten(double number, CanonicalDecimal *decimal)
{
	uint64		shorter = 0;
	int			i;

	if (decimal->n < 2 || (number < CANONICAL_2_53 && number >= DBL_MIN))
		return;
	for (i = 0; i < decimal->n - 1; i++)
		shorter = shorter * 10 + (decimal->digits[i] - '0');
	for (i = 0; i < 2; i++)
	{
		char		text[DOUBLE_SHORTEST_DECIMAL_LEN + 8];

		snprintf(text, sizeof(text), UINT64_FORMAT "e%d", shorter + i,
				 decimal->point - (decimal->n - 1));
		if (strtod(text, NULL) != number)
			continue;
		canonical_read_decimal(text, decimal);
		return;
	}
}

/* Appends a number as ECMAScript's Number::toString does. */
static void
canonical_append_decimal(StringInfo out, const CanonicalDecimal *decimal)
{
	int			n = decimal->n;
	int			point = decimal->point;

	if (point >= n && point <= 21)
	{
		appendBinaryStringInfo(out, decimal->digits, n);
		appendStringInfo(out, "%.*s", point - n, "000000000000000000000");
	}
	else if (point > 0 && point <= 21)
	{
		appendBinaryStringInfo(out, decimal->digits, point);
		appendStringInfoCharMacro(out, '.');
		appendBinaryStringInfo(out, decimal->digits + point, n - point);
	}
	else if (point > -6 && point <= 0)
	{
		appendStringInfo(out, "0.%.*s", -point, "00000");
		appendBinaryStringInfo(out, decimal->digits, n);
	}
	else
	{
		appendStringInfoCharMacro(out, decimal->digits[0]);
		if (n > 1)
			appendStringInfoCharMacro(out, '.');
		appendBinaryStringInfo(out, decimal->digits + 1, n - 1);
		appendStringInfo(out, "e%+d", point - 1);
	}
}

/* Appends a finite number. */
static void
canonical_append_double(StringInfo out, double number)
{
	char		text[DOUBLE_SHORTEST_DECIMAL_LEN];
	CanonicalDecimal decimal;

	if (number == 0)
	{
		appendStringInfoCharMacro(out, '0');	/* also for -0 */
		return;
	}
	if (number < 0)
		appendStringInfoCharMacro(out, '-');
	(void) double_to_shortest_decimal_buf(fabs(number), text);
	canonical_read_decimal(text, &decimal);
	canonical_shorten(fabs(number), &decimal);
	canonical_append_decimal(out, &decimal);
}

/* ----------------------------------------------------------------- objects */

typedef struct CanonicalKey
{
	Slice		key;
	int			child;			/* its index in the object */
} CanonicalKey;

/*
 * Compares by UTF-16 code units.  That is the byte order of UTF-8, except that
 * characters above U+FFFF (lead byte F0 and above), which are surrogates in
 * UTF-16, come before U+E000 to U+FFFF (lead bytes EE and EF).
 */
static int
canonical_compare_keys(const void *a, const void *b)
{
	Slice		x = ((const CanonicalKey *) a)->key;
	Slice		y = ((const CanonicalKey *) b)->key;
	int			common = Min(x.len, y.len);
	int			i = 0;
	unsigned char c;
	unsigned char d;

	while (i < common && x.s[i] == y.s[i])
		i++;
	if (i == common)
		return x.len - y.len;
	c = (unsigned char) x.s[i];
	d = (unsigned char) y.s[i];
	if (c >= 0xEE && d >= 0xEE && (c >= 0xF0) != (d >= 0xF0))
		return c >= 0xF0 ? -1 : 1;
	return c < d ? -1 : 1;
}

static void
canonical_append_object(CanonicalWalk *walk, const JsonbContainer *object,
						const DocumentPlace *place, const char *const *without)
{
	int			n = JsonContainerSize(object);
	CanonicalKey *keys = palloc(sizeof(CanonicalKey) * n);
	Slice		left_out = without != NULL ? slice_of_cstring(without[0]) : SLICE_NONE;
	bool		first = true;
	int			i;

	for (i = 0; i < n; i++)
		keys[i] = (CanonicalKey) {value_key_at(object, i), i};
	qsort(keys, n, sizeof(CanonicalKey), canonical_compare_keys);

	appendStringInfoCharMacro(walk->out, '{');
	for (i = 0; i < n; i++)
	{
		DocumentPlace one = {place, keys[i].key};
		bool		on_path = slice_present(left_out) && slice_equal(keys[i].key, left_out);
		JsonbValue	value;

		if (on_path && without[1] == NULL)
			continue;
		if (!first)
			appendStringInfoCharMacro(walk->out, ',');
		first = false;
		canonical_append_string(walk->out, keys[i].key);
		appendStringInfoCharMacro(walk->out, ':');
		value_at(object, keys[i].child, &value);
		canonical_append_value(walk, &value, &one, on_path ? without + 1 : NULL);
	}
	appendStringInfoCharMacro(walk->out, '}');
	pfree(keys);
}

static void
canonical_append_array(CanonicalWalk *walk, const JsonbContainer *array,
					   const DocumentPlace *place)
{
	DocumentPlace one = {place, SLICE_NONE};
	int			n = JsonContainerSize(array);

	appendStringInfoCharMacro(walk->out, '[');
	for (; one.index < n; one.index++)
	{
		JsonbValue	value;

		if (one.index > 0)
			appendStringInfoCharMacro(walk->out, ',');
		value_at(array, one.index, &value);
		canonical_append_value(walk, &value, &one, NULL);
	}
	appendStringInfoCharMacro(walk->out, ']');
}

/* -------------------------------------------------------------- any value */

static void
canonical_append_number(CanonicalWalk *walk, Numeric number, const DocumentPlace *place)
{
	int64		integer;
	int			start = walk->out->len;

	if (number_to_int64(number, &integer))
	{
		char		text[MAXINT8LEN + 1];

		appendBinaryStringInfo(walk->out, text, pg_lltoa(integer, text));
		return;
	}
	if (!number_fits_double(number))
	{
		place_fault(place, walk->list, "NUMBER_OUT_OF_RANGE",
					"is out of range for a double (about 1.8e308); send it as a string.");
		return;
	}
	canonical_append_double(walk->out, number_to_double(number));
	if (walk->numbers == CANONICAL_EXACT &&
		!number_equals_text(number, walk->out->data + start))
		place_fault(place, walk->list, "NUMBER_NOT_EXACT",
					"is not what a double can hold, and would be read as %s; send it as a string.",
					walk->out->data + start);
}

static void
canonical_append_value(CanonicalWalk *walk, const JsonbValue *value,
					   const DocumentPlace *place, const char *const *without)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (value->type)
	{
		case jbvString:
			canonical_append_string(walk->out, document_text(value));
			break;
		case jbvNumeric:
			canonical_append_number(walk, value->val.numeric, place);
			break;
		case jbvBool:
			appendStringInfoString(walk->out, value->val.boolean ? "true" : "false");
			break;
		case jbvBinary:
			if (JsonContainerIsObject(value->val.binary.data))
				canonical_append_object(walk, value->val.binary.data, place, without);
			else
				canonical_append_array(walk, value->val.binary.data, place);
			break;
		default:
			appendStringInfoString(walk->out, "null");
			break;
	}
}

void
canonical_append(StringInfo out, Jsonb *document, CanonicalNumbers numbers,
				 const char *const *without, ProblemList *list)
{
	CanonicalWalk walk = {out, numbers, list};
	JsonbValue	value = document_value(document);

	canonical_append_value(&walk, &value, NULL, without);
}
