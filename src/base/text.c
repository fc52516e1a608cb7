/*-------------------------------------------------------------------------
 *
 * text.c
 *	  Slices: comparing, copying and hashing; and formatted strings.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/text.h"

#include "common/hashfn.h"
#include "compat.h"		/* varatt.h, from PostgreSQL 16 on */
#include "lib/stringinfo.h"

int
slice_compare(Slice a, Slice b)
{
	int			common = Min(a.len, b.len);
	int			order = common > 0 ? memcmp(a.s, b.s, common) : 0;

	return order != 0 ? order : a.len - b.len;
}

char *
text_of_format(const char *format, va_list args)
{
	int			save_errno = errno;
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		va_list		again;
		int			needed;

		va_copy(again, args);
		errno = save_errno;
		needed = appendStringInfoVA(&buf, format, again);
		va_end(again);
		if (needed == 0)
			return buf.data;
		enlargeStringInfo(&buf, needed);
	}
}

Slice
slice_of_cstring(const char *s)
{
	return s ? (Slice) {s, strlen(s)} : SLICE_NONE;
}

Slice
slice_of_text(const struct varlena *t)
{
	return (Slice) {VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t)};
}

char *
slice_cstring(Slice a)
{
	return slice_present(a) ? pnstrdup(a.s, a.len) : NULL;
}

struct varlena *
slice_to_text(Slice a)
{
	struct varlena *text = palloc(VARHDRSZ + a.len);

	SET_VARSIZE(text, VARHDRSZ + a.len);
	memcpy(VARDATA(text), a.s, a.len);
	return text;
}

Slice
slice_copy(Slice a)
{
	return (Slice) {slice_cstring(a), a.len};
}

uint64
slice_hash(Slice a)
{
	return hash_bytes_extended((const unsigned char *) a.s, a.len, 0);
}

int
slice_find(Slice a, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		if (words[i] != NULL && slice_is(a, words[i]))
			return i;
	return -1;
}

bool
slices_have(SliceList list, Slice text)
{
	for (int i = 0; i < list.n; i++)
		if (slice_equal(list.items[i], text))
			return true;
	return false;
}

bool
slices_equal(SliceList a, SliceList b)
{
	if (a.n != b.n)
		return false;
	for (int i = 0; i < a.n; i++)
		if (!slice_equal(a.items[i], b.items[i]))
			return false;
	return true;
}

SliceList
slices_copy(SliceList list)
{
	SliceList	copy = {list.n, palloc(sizeof(Slice) * list.n)};

	for (int i = 0; i < list.n; i++)
		copy.items[i] = slice_copy(list.items[i]);
	return copy;
}

List *
slice_list_add(List *list, Slice a)
{
	Slice	   *copy = palloc(sizeof(Slice));

	*copy = slice_copy(a);
	return lappend(list, copy);
}

bool
slice_list_has(const List *list, Slice a)
{
	const ListCell *cell;

	foreach(cell, list)
		if (slice_equal(*(const Slice *) lfirst(cell), a))
			return true;
	return false;
}

static int
slice_list_compare(const ListCell *a, const ListCell *b)
{
	return slice_compare(*(const Slice *) lfirst(a), *(const Slice *) lfirst(b));
}

List *
slice_list_sort_unique(List *list)
{
	List	   *unique = NIL;
	ListCell   *cell;

	list_sort(list, slice_list_compare);
	foreach(cell, list)
		if (unique == NIL || !slice_equal(*(Slice *) llast(unique), *(Slice *) lfirst(cell)))
			unique = lappend(unique, lfirst(cell));
	return unique;
}
