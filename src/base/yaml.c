/*-------------------------------------------------------------------------
 *
 * yaml.c
 *	  Reading YAML as jsonb: the only user of libyaml.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/yaml.h"

#include <ctype.h>
#include <yaml.h>

#include "base/array.h"
#include "base/document.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* A longer number, or one with a larger exponent, is read as a string. */
#define LONGEST_NUMBER		40
#define MOST_EXPONENT		3	/* in digits */

/* an open mapping or sequence */
typedef struct YamlLevel
{
	bool		is_mapping;
	bool		has_key;		/* a value comes next */
	int			nkeys;
	int			room;
	Slice	   *keys;			/* keys of a mapping, so far */
} YamlLevel;

typedef struct YamlReader
{
	Slice		text;
	yaml_parser_t parser;
	yaml_event_t event;			/* the current event, if has_event */
	bool		has_event;
	bool		is_over;		/* what libyaml allocated has been freed */
	MemoryContextCallback at_end;
	YamlFault  *fault;
	DocumentBuilder builder;
	int			documents;
	int			nodes;
	int			depth;
	YamlLevel	levels[YAML_MOST_DEPTH];
} YamlReader;

/* ---------------------------------------------------------------- libyaml */

/* Also called when the memory context is deleted after an error. */
static void
yaml_release(void *arg)
{
	YamlReader *reader = arg;

	if (reader->is_over)
		return;
	if (reader->has_event)
		yaml_event_delete(&reader->event);
	reader->has_event = false;
	yaml_parser_delete(&reader->parser);
	reader->is_over = true;
}

static YamlReader *
yaml_begin(Slice text, YamlFault *fault)
{
	YamlReader *reader = palloc0(sizeof(YamlReader));

	reader->text = text;
	reader->fault = fault;
	reader->is_over = true;
	reader->at_end.func = yaml_release;
	reader->at_end.arg = reader;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &reader->at_end);
	if (!yaml_parser_initialize(&reader->parser))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	reader->is_over = false;
	yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader->parser, (const unsigned char *) text.s, text.len);
	return reader;
}

/*
 * Sets the fault, and returns false, as do all functions below that find one.
 */
static bool
yaml_refuse_at(YamlReader *reader, yaml_mark_t mark, const char *what)
{
	reader->fault->line = (int) mark.line + 1;
	reader->fault->column = (int) mark.column + 1;
	reader->fault->what = pstrdup(what);
	return false;
}

static bool
yaml_refuse(YamlReader *reader, const char *what)
{
	return yaml_refuse_at(reader, reader->event.start_mark, what);
}

/*
 * What cannot be read as text, such as a control character, has only an offset
 * in bytes.
 */
static yaml_mark_t
yaml_mark_of_offset(const YamlReader *reader, size_t offset)
{
	yaml_mark_t mark = {0};

	for (size_t i = 0; i < Min(offset, reader->text.len); i++)
	{
		unsigned char c = reader->text.s[i];

		/* all bytes of a character in UTF-8 but the first begin with the bits 10 */
		if (c == '\n')
			mark = (yaml_mark_t) {.line = mark.line + 1};
		else if ((c & 0xC0) != 0x80)
			mark.column++;
	}
	return mark;
}

static bool
yaml_next(YamlReader *reader)
{
	const yaml_parser_t *parser = &reader->parser;

	if (reader->has_event)
		yaml_event_delete(&reader->event);
	reader->has_event = false;
	if (!yaml_parser_parse(&reader->parser, &reader->event))
	{
		if (parser->error == YAML_MEMORY_ERROR)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory")));
		return yaml_refuse_at(reader, parser->error == YAML_READER_ERROR ?
							  yaml_mark_of_offset(reader, parser->problem_offset) : parser->problem_mark,
							  parser->problem != NULL ? parser->problem : "it cannot be read");
	}
	reader->has_event = true;
	return true;
}

/* ----------------------------------------------------------------- scalars */

/* Returns the length of a run of digits. */
static int
yaml_count_digits(const char *s)
{
	int			n = 0;

	while (isdigit((unsigned char) s[n]))
		n++;
	return n;
}

/* Is it a number in the syntax of JSON? */
static bool
yaml_is_number(Slice text)
{
	char		copy[LONGEST_NUMBER + 1];
	const char *s = copy;
	int			n;

	if (text.len > LONGEST_NUMBER)
		return false;
	memcpy(copy, text.s, text.len);
	copy[text.len] = '\0';
	s += *s == '-';
	n = yaml_count_digits(s);
	if (n == 0 || (n > 1 && *s == '0'))
		return false;
	s += n;
	if (*s == '.')
	{
		n = yaml_count_digits(s + 1);
		if (n == 0)
			return false;
		s += 1 + n;
	}
	if (*s == 'e' || *s == 'E')
	{
		s++;
		s += *s == '+' || *s == '-';
		n = yaml_count_digits(s);
		if (n == 0 || n > MOST_EXPONENT)
			return false;
		s += n;
	}
	return *s == '\0' && s == copy + text.len;
}

static void
yaml_add_plain(DocumentBuilder *builder, Slice text)
{
	JsonbValue	value;

	if (text.len == 0 || slice_equal(text, SLICE_OF("~")) || slice_equal(text, SLICE_OF("null")))
	{
		document_add_null(builder);
		return;
	}
	if (slice_equal(text, SLICE_OF("true")) || slice_equal(text, SLICE_OF("false")))
	{
		value.type = jbvBool;
		value.val.boolean = text.s[0] == 't';
	}
	else if (yaml_is_number(text))
	{
		value.type = jbvNumeric;
		value.val.numeric = DatumGetNumeric(DirectFunctionCall3(numeric_in,
																CStringGetDatum(slice_cstring(text)),
																ObjectIdGetDatum(InvalidOid),
																Int32GetDatum(-1)));
	}
	else
	{
		document_add_text(builder, slice_copy(text));
		return;
	}
	document_add_value(builder, &value);
}

/* The key must outlive the event from which it was read, so it is copied. */
static bool
yaml_take_key(YamlReader *reader, YamlLevel *level, Slice key)
{
	int			i;

	for (i = 0; i < level->nkeys; i++)
		if (slice_equal(level->keys[i], key))
			return yaml_refuse(reader, "a key is there twice");
	array_make_room(level->keys, level->nkeys, level->room);
	level->keys[level->nkeys] = slice_copy(key);
	document_key(&reader->builder, level->keys[level->nkeys++]);
	level->has_key = true;
	return true;
}

static bool
yaml_take_scalar(YamlReader *reader)
{
	YamlLevel  *level;
	Slice		text = {(const char *) reader->event.data.scalar.value,
	(int) reader->event.data.scalar.length};

	if (reader->event.data.scalar.anchor != NULL || reader->event.data.scalar.tag != NULL)
		return yaml_refuse(reader, "anchors, aliases and tags are not supported");
	if (reader->depth == 0)
		return yaml_refuse(reader, "it must be a mapping");
	level = &reader->levels[reader->depth - 1];
	if (memchr(text.s, '\0', text.len) != NULL)
		return yaml_refuse(reader, "a text contains the character U+0000");
	if (level->is_mapping && !level->has_key)
		return yaml_take_key(reader, level, text);
	level->has_key = false;
	if (reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		yaml_add_plain(&reader->builder, text);
	else
		document_add_text(&reader->builder, slice_copy(text));
	return true;
}

/* ---------------------------------------------------------------- structure */

static bool
yaml_open(YamlReader *reader, bool is_mapping, bool is_plain)
{
	YamlLevel  *level = reader->depth > 0 ? &reader->levels[reader->depth - 1] : NULL;

	if (!is_plain)
		return yaml_refuse(reader, "anchors, aliases and tags are not supported");
	if (level == NULL && !is_mapping)
		return yaml_refuse(reader, "it must be a mapping");
	if (level != NULL && level->is_mapping && !level->has_key)
		return yaml_refuse(reader, "a key must be a scalar");
	if (reader->depth == YAML_MOST_DEPTH)
		return yaml_refuse(reader, psprintf("it is deeper than %d levels", YAML_MOST_DEPTH));
	if (level != NULL)
	{
		level->has_key = false;
		if (is_mapping)
			document_open_object(&reader->builder, NULL);
		else
			document_open_array(&reader->builder, NULL);
	}
	reader->levels[reader->depth++] = (YamlLevel) {is_mapping};
	return true;
}

/* Closes a level.  The outermost level is the document itself. */
static void
yaml_close(YamlReader *reader)
{
	YamlLevel  *level = &reader->levels[--reader->depth];

	if (reader->depth == 0)
		return;
	if (level->is_mapping)
		document_close_object(&reader->builder);
	else
		document_close_array(&reader->builder);
}

static bool
yaml_take_event(YamlReader *reader)
{
	const yaml_event_t *event = &reader->event;
	bool		is_node = event->type == YAML_SCALAR_EVENT || event->type == YAML_MAPPING_START_EVENT ||
		event->type == YAML_SEQUENCE_START_EVENT;

	if (is_node && ++reader->nodes > YAML_MOST_NODES)
		return yaml_refuse(reader, psprintf("it has more than %d nodes", YAML_MOST_NODES));
	switch (event->type)
	{
		case YAML_DOCUMENT_START_EVENT:
			return reader->documents++ == 0 || yaml_refuse(reader, "a second document begins");
		case YAML_ALIAS_EVENT:
			return yaml_refuse(reader, "anchors, aliases and tags are not supported");
		case YAML_SCALAR_EVENT:
			return yaml_take_scalar(reader);
		case YAML_MAPPING_START_EVENT:
			return yaml_open(reader, true, event->data.mapping_start.anchor == NULL &&
							 event->data.mapping_start.tag == NULL);
		case YAML_SEQUENCE_START_EVENT:
			return yaml_open(reader, false, event->data.sequence_start.anchor == NULL &&
							 event->data.sequence_start.tag == NULL);
		case YAML_MAPPING_END_EVENT:
		case YAML_SEQUENCE_END_EVENT:
			yaml_close(reader);
			return true;
		default:
			return true;
	}
}

static bool
yaml_read_all(YamlReader *reader)
{
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!yaml_next(reader) || !yaml_take_event(reader))
			return false;
	} while (reader->event.type != YAML_STREAM_END_EVENT);
	return reader->documents > 0 || yaml_refuse(reader, "it is empty");
}

Jsonb *
yaml_read(Slice text, YamlFault *fault)
{
	YamlReader *reader;
	Jsonb	   *document = NULL;

	if (text.len > YAML_MOST_BYTES)
	{
		*fault = (YamlFault) {1, 1, psprintf("it has more than %d bytes", YAML_MOST_BYTES)};
		return NULL;
	}
	reader = yaml_begin(text, fault);
	document_begin(&reader->builder);
	if (yaml_read_all(reader))
		document = document_end(&reader->builder);
	yaml_release(reader);
	return document;
}
