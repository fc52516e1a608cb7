/*-------------------------------------------------------------------------
 *
 * document_level.c
 *	  The containers of a document that is being built.
 *
 * The values of a container are written when it is closed, and a finished
 * container is copied unchanged.  The format is the one that utils/jsonb.h
 * describes, byte for byte what the server makes from the same values.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document_part.h"

typedef struct DocumentEntry
{
	Slice		key;			/* in an object only */
	JEntry		type;
	uint32		start;			/* its bytes in the level's data */
	uint32		len;
	int			no;				/* number in the order of adding */
} DocumentEntry;

#define FEW_ENTRIES		24
#define FEW_BYTES		512

/* an open container */
struct DocumentLevel
{
	DocumentLevel *parent;
	bool		is_array;
	Slice		key;			/* key of the next value, or of this level in
								 * its parent */
	int			n;
	int			room;
	DocumentEntry *entries;
	uint32		len;
	uint32		size;
	char	   *data;
	DocumentEntry few[FEW_ENTRIES];
	char		bytes[FEW_BYTES];
};

/* ----------------------------------------------------------- opening, adding */

void
document_level_open(DocumentBuilder *b, bool is_array)
{
	DocumentLevel *level = b->spare;

	if (level != NULL)
		b->spare = level->parent;
	else
	{
		level = palloc(sizeof(DocumentLevel));
		level->entries = level->few;
		level->room = FEW_ENTRIES;
		level->data = level->bytes;
		level->size = FEW_BYTES;
	}
	level->parent = b->level;
	level->is_array = is_array;
	level->key = SLICE_NONE;
	level->n = 0;
	level->len = 0;
	b->level = level;
}

/* Raises an error if a container would become larger than jsonb allows. */
static void
document_level_check_size(uint64 size)
{
	if (size > JENTRY_OFFLENMASK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("total size of jsonb elements exceeds the maximum of %u bytes",
						JENTRY_OFFLENMASK)));
}

static pg_noinline void
document_level_grow(DocumentLevel *level, uint64 needed)
{
	document_level_check_size(needed);
	level->size = Max((uint64) level->size * 2, needed);
	if (level->data == level->bytes)
		level->data = memcpy(palloc(level->size), level->bytes, level->len);
	else
		level->data = repalloc(level->data, level->size);
}

/*
 * Makes room for so many more bytes, which are added to the length of the
 * level.
 */
static inline char *
document_level_extend(DocumentLevel *level, uint32 len)
{
	uint64		needed = (uint64) level->len + len;
	char	   *at;

	if (needed > level->size)
		document_level_grow(level, needed);
	at = level->data + level->len;
	level->len = needed;
	return at;
}

static inline DocumentEntry *
document_level_entry(DocumentLevel *level, JEntry type)
{
	DocumentEntry *entry;

	if (level->n == level->room)
	{
		Size		old = level->room * sizeof(DocumentEntry);

		level->room *= 2;
		if (level->entries == level->few)
			level->entries = memcpy(palloc(old * 2), level->few, old);
		else
			level->entries = repalloc_huge(level->entries, old * 2);
	}
	entry = &level->entries[level->n++];
	entry->key = level->key;
	entry->type = type;
	entry->start = level->len;
	entry->len = 0;
	entry->no = level->n;
	return entry;
}

/* Numbers and containers must be aligned, with zeros as padding. */
static inline void
document_level_align(DocumentLevel *level)
{
	while (level->len % sizeof(uint32) != 0)
		*document_level_extend(level, 1) = 0;
}

void
document_level_set_key(DocumentLevel *level, Slice key)
{
	level->key = key;
}

void
document_level_add_word(DocumentLevel *level, JEntry type)
{
	(void) document_level_entry(level, type);
}

void
document_level_add(DocumentLevel *level, JEntry type, const void *bytes, uint32 len)
{
	DocumentEntry *entry;

	if (type == JENTRY_ISNUMERIC || type == JENTRY_ISCONTAINER)
		document_level_align(level);
	entry = document_level_entry(level, type);
	entry->len = len;
	memcpy(document_level_extend(level, len), bytes, len);
}

/* ------------------------------------------------------------------ closing */

/* Among equal keys, the one that was added last comes last. */
static int
document_entry_compare(const void *a, const void *b)
{
	const DocumentEntry *x = a;
	const DocumentEntry *y = b;
	int			order = slice_compare_keys(x->key, y->key);

	return order != 0 ? order : x->no - y->no;
}

#define FEW_TO_SORT		40

/*
 * Sorts the entries of an object.  Among equal keys, only the last one is
 * kept.
 */
static void
document_level_sort(DocumentLevel *level)
{
	DocumentEntry *entries = level->entries;
	bool		sorted = true;
	int			n = 0;
	int			i;
	int			at;

	for (i = 1; i < level->n && sorted; i++)
		sorted = slice_compare_keys(entries[i - 1].key, entries[i].key) < 0;
	if (sorted || level->is_array)
		return;
	if (level->n > FEW_TO_SORT)
		qsort(entries, level->n, sizeof(DocumentEntry), document_entry_compare);
	else
		for (i = 1; i < level->n; i++)
		{
			DocumentEntry entry = entries[i];

			for (at = i; at > 0 && slice_compare_keys(entry.key, entries[at - 1].key) < 0; at--)
				entries[at] = entries[at - 1];
			entries[at] = entry;
		}
	for (i = 0; i < level->n; i++)
	{
		if (i + 1 < level->n && slice_compare_keys(entries[i].key, entries[i + 1].key) == 0)
			continue;
		entries[n++] = entries[i];
	}
	level->n = n;
}

/* Returns an upper bound for the size of what document_level_write writes. */
static uint64
document_level_size(const DocumentLevel *level)
{
	uint64		size = sizeof(uint32) + (uint64) level->len +
		(uint64) level->n * (2 * sizeof(JEntry) + sizeof(uint32));
	int			i;

	for (i = 0; !level->is_array && i < level->n; i++)
		size += level->entries[i].key.len;
	return size;
}

/*
 * Every so many entries store the end of the child, and the others store its
 * length.
 */
static inline JEntry
document_entry_header(int child, JEntry type, uint32 start, uint32 end)
{
	if (child % JB_OFFSET_STRIDE == 0)
		return type | JENTRY_HAS_OFF | end;
	return type | (end - start);
}

/* The data of an array is in order already. */
static uint32
document_level_write_array(const DocumentLevel *level, char *to)
{
	JEntry	   *headers = (JEntry *) (to + sizeof(uint32));
	char	   *data = (char *) (headers + level->n);
	uint32		end = 0;
	int			i;

	*(uint32 *) to = level->n | JB_FARRAY;
	for (i = 0; i < level->n; i++)
	{
		const DocumentEntry *entry = &level->entries[i];
		uint32		start = end;

		end = entry->start + entry->len;
		headers[i] = document_entry_header(i, entry->type, start, end);
	}
	memcpy(data, level->data, end);
	return data + end - to;
}

/* Writes the keys in order, followed by the values in the same order. */
static uint32
document_level_write_object(const DocumentLevel *level, char *to)
{
	int			nkeys = level->n;
	JEntry	   *headers = (JEntry *) (to + sizeof(uint32));
	char	   *data = (char *) (headers + 2 * nkeys);
	uint32		end = 0;
	int			i;

	*(uint32 *) to = nkeys | JB_FOBJECT;
	for (i = 0; i < nkeys; i++)
	{
		Slice		key = level->entries[i].key;
		uint32		start = end;

		memcpy(data + start, key.s, key.len);
		end = start + key.len;
		headers[i] = document_entry_header(i, JENTRY_ISSTRING, start, end);
	}
	for (i = 0; i < nkeys; i++)
	{
		const DocumentEntry *entry = &level->entries[i];
		uint32		start = end;

		if (entry->type == JENTRY_ISNUMERIC || entry->type == JENTRY_ISCONTAINER)
			for (; end % sizeof(uint32) != 0; end++)
				data[end] = 0;
		memcpy(data + end, level->data + entry->start, entry->len);
		end += entry->len;
		headers[nkeys + i] = document_entry_header(nkeys + i, entry->type, start, end);
	}
	return data + end - to;
}

/* Writes the container.  Returns the number of bytes. */
static inline uint32
document_level_write(const DocumentLevel *level, char *to)
{
	return level->is_array ? document_level_write_array(level, to) :
		document_level_write_object(level, to);
}

void
document_level_close(DocumentBuilder *b)
{
	DocumentLevel *level = b->level;
	DocumentLevel *parent = level->parent;
	DocumentEntry *entry;
	uint32		begin;
	char	   *to;

	document_level_sort(level);
	document_level_check_size(document_level_size(level));
	/*
	 * the bytes will be aligned in the parent's data, so write them there
	 * directly
	 */
	document_level_align(parent);
	entry = document_level_entry(parent, JENTRY_ISCONTAINER);
	begin = parent->len;
	to = document_level_extend(parent, document_level_size(level));
	entry->len = document_level_write(level, to);
	parent->len = begin + entry->len;
	level->parent = b->spare;
	b->spare = level;
	b->level = parent;
}

Jsonb *
document_level_finish(const DocumentBuilder *b)
{
	DocumentLevel *level = b->level;
	Jsonb	   *document;

	document_level_sort(level);
	document_level_check_size(document_level_size(level));
	document = palloc(VARHDRSZ + document_level_size(level));
	SET_VARSIZE(document, VARHDRSZ + document_level_write(level, (char *) &document->root));
	return document;
}
