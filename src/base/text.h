/*-------------------------------------------------------------------------
 *
 * text.h
 *	  Slices: strings that lie inside a larger value.
 *
 * The strings of a jsonb document are read in place: a Slice points to such a
 * string without copying it.  It is not terminated by NUL, and lives as long
 * as the document.  If s is NULL, the Slice is absent; if only len is 0, it is
 * an empty string.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TEXT_H
#define CLUTCH_TEXT_H

#include "clutch.h"

#include "nodes/pg_list.h"

struct Slice
{
	const char *s;
	int			len;
};

typedef struct SliceList
{
	int			n;
	Slice	   *items;			/* a palloc'd array */
} SliceList;

#define SLICE_NONE				((Slice) {NULL, 0})
#define SLICE_OF(literal)		((Slice) {(literal), sizeof(literal) - 1})

static inline bool
slice_present(Slice a)
{
	return a.s != NULL;
}

static inline bool
slice_equal(Slice a, Slice b)
{
	return a.len == b.len &&
		(a.s == b.s || (a.s != NULL && b.s != NULL && memcmp(a.s, b.s, a.len) == 0));
}

/* Is it this word?  An absent Slice equals no word, not even the empty one. */
static inline bool
slice_is(Slice a, const char *word)
{
	return slice_equal(a, (Slice) {word, strlen(word)});
}

static inline bool
slice_starts(Slice a, Slice prefix)
{
	return a.len >= prefix.len && memcmp(a.s, prefix.s, prefix.len) == 0;
}

/* Returns the text without its first n bytes. */
static inline Slice
slice_after(Slice a, int n)
{
	return (Slice) {a.s + n, a.len - n};
}

/*
 * Compares by bytes; a prefix comes before longer strings.  Suitable for
 * qsort.
 */
extern int	slice_compare(Slice a, Slice b);

/* Compares keys in the order of jsonb: shorter ones come first. */
static inline int
slice_compare_keys(Slice a, Slice b)
{
	if (a.len != b.len || a.len == 0)
		return a.len - b.len;
	/* most keys of the same length differ in their first byte */
	if (a.s[0] != b.s[0])
		return (unsigned char) a.s[0] - (unsigned char) b.s[0];
	return memcmp(a.s, b.s, a.len);
}

extern Slice slice_of_cstring(const char *s);
extern Slice slice_of_text(const struct varlena *t);	/* t must be detoasted */

/* Formats a string as printf does, palloc'd in the current context. */
extern char *text_of_format(const char *format, va_list args) pg_attribute_printf(1, 0);

/* Return copies, palloc'd in the current context. */
extern char *slice_cstring(Slice a);
extern struct varlena *slice_to_text(Slice a);
extern Slice slice_copy(Slice a);

extern uint64 slice_hash(Slice a);

/* Returns the index of the text among n words, of which some may be NULL, or -1. */
extern int	slice_find(Slice a, const char *const *words, int n);

/* Does an element of the list equal the text? */
extern bool slices_have(SliceList list, Slice text);

/* Do the lists have the same elements, in the same order? */
extern bool slices_equal(SliceList a, SliceList b);

/* Copies the list and its texts, palloc'd in the current context. */
extern SliceList slices_copy(SliceList list);

/* Appends a copy of a Slice to a List of Slice *. */
extern List *slice_list_add(List *list, Slice a);

/* Does such a list have the text? */
extern bool slice_list_has(const List *list, Slice a);

/*
 * Sorts such a list, and returns a new list of the same Slices in which each
 * text occurs once.
 */
extern List *slice_list_sort_unique(List *list);

#endif							/* CLUTCH_TEXT_H */
