/*-------------------------------------------------------------------------
 *
 * payload_type_row.c
 *	  Rows of clutch.payload_type, and what a schema_ref means.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/payload_type_part.h"

#include "protocol/identifier.h"

#define REF_PREFIX	"schema://clutch/"

const char *const payload_type_enforcements[] = {"off", "workflow", "always", NULL};
const char *const payload_type_compatibilities[] = {"none", "backward", "forward", "full", NULL};

/*
 * Returns the index of the word in the list.  A CHECK constraint ensures that
 * it is there.
 */
static int
payload_type_word(Slice word, const char *const *words)
{
	int			i = 0;

	while (words[i + 1] != NULL && !slice_is(word, words[i]))
		i++;
	return i;
}

static void
payload_type_fill_row(const RowScan *scan, PayloadTypeRow *row)
{
	row->tid = rows_tid(scan);
	row->name = rows_text_copy(scan, Anum_payload_type_payload_type);
	row->version = rows_int4(scan, Anum_payload_type_version);
	row->schema = rows_jsonb(scan, Anum_payload_type_schema);
	row->enforcement = payload_type_word(rows_text(scan, Anum_payload_type_enforce),
										 payload_type_enforcements);
	row->compatibility = payload_type_word(rows_text(scan, Anum_payload_type_compatibility),
										   payload_type_compatibilities);
	row->builtin = rows_bool(scan, Anum_payload_type_builtin);
}

/* Reads the last row that this scan finds with its keys, and ends the scan. */
static bool
payload_type_last_row(RowScan *scan, PayloadTypeRow *row)
{
	bool		found;

	rows_start(scan);
	found = rows_previous(scan);
	if (found)
		payload_type_fill_row(scan, row);
	rows_end(scan);
	return found;
}

/* a version that is being registered, or NULL */
static const PayloadTypeRow *pretended = NULL;
static Slice pretended_id;

void
payload_type_pretend(const PayloadTypeRow *row, Slice id)
{
	pretended = row;
	pretended_id = id;
}

List *
payload_type_list_names(void)
{
	return rows_list_different_texts(TABLE_PAYLOAD_TYPE, INDEX_PAYLOAD_TYPE, Anum_payload_type_payload_type);
}

bool
payload_type_row(Slice name, int version, PayloadTypeRow *row)
{
	RowScan		scan;

	if (pretended != NULL && slice_equal(name, pretended->name) &&
		(version == 0 || version == pretended->version))
	{
		*row = *pretended;
		return true;
	}
	rows_begin(&scan, TABLE_PAYLOAD_TYPE, INDEX_PAYLOAD_TYPE, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
	if (version > 0)
		rows_key_int4(&scan, 2, BTEqualStrategyNumber, version);
	return payload_type_last_row(&scan, row);
}

static bool
payload_type_row_of_id(Slice id, PayloadTypeRow *row)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_PAYLOAD_TYPE, INDEX_PAYLOAD_TYPE_SCHEMA_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, id);
	return payload_type_last_row(&scan, row);
}

/*
 * Returns the version after the last @, or 0 if there is none, or -1 if it is
 * not a number.
 */
static int
payload_type_split_ref(Slice ref, Slice *path)
{
	Slice		version;
	int			n = 0;
	int			i;

	identifier_split_version(ref, path, &version);
	if (!slice_present(version))
		return 0;
	if (version.len < 1 || version.len > 9)
		return -1;
	for (i = 0; i < version.len; i++)
	{
		if (version.s[i] < '0' || version.s[i] > '9')
			return -1;
		n = n * 10 + version.s[i] - '0';
	}
	return n > 0 ? n : -1;
}

bool
payload_type_row_of_ref(Slice ref, PayloadTypeRow *row)
{
	Slice		path;
	char	   *name;
	int			version;
	int			i;

	if (pretended != NULL && slice_present(pretended_id) && slice_equal(ref, pretended_id))
	{
		*row = *pretended;
		return true;
	}
	if (payload_type_row_of_id(ref, row))
		return true;
	if (!slice_starts(ref, SLICE_OF(REF_PREFIX)))
		return false;
	version = payload_type_split_ref(slice_after(ref, strlen(REF_PREFIX)),
									 &path);
	name = slice_cstring(path);
	for (i = 0; i < path.len; i++)
		if (name[i] == '/')
			name[i] = '.';
	if (version < 0)
		return false;
	if (version > 0 && payload_type_row(slice_of_cstring(psprintf("%s.v%d", name, version)), 0, row))
		return true;
	return payload_type_row(slice_of_cstring(name), version, row);
}

/*
 * Returns the length of the name before its .v and number, or 0 if it has
 * none.
 */
static int
payload_type_stem(Slice name)
{
	int			n = name.len;

	while (n > 0 && name.s[n - 1] >= '0' && name.s[n - 1] <= '9')
		n--;
	return n < name.len && n > 2 && name.s[n - 1] == 'v' && name.s[n - 2] == '.' ? n - 2 : 0;
}

Slice
payload_type_uri(Slice name, int version)
{
	int			stem = payload_type_stem(name);
	char	   *path = slice_cstring((Slice) {name.s, stem > 0 ? stem : name.len});
	char	   *c;

	for (c = path; *c != '\0'; c++)
		if (*c == '.')
			*c = '/';
	if (stem > 0)
		return slice_of_cstring(psprintf(REF_PREFIX "%s@%s", path,
										 slice_cstring(slice_after(name, stem + 2))));
	return slice_of_cstring(psprintf(REF_PREFIX "%s@%d", path, version));
}

Jsonb *
payload_type_find_document(Slice uri)
{
	PayloadTypeRow row;

	return payload_type_row_of_ref(uri, &row) ? row.schema : NULL;
}

Jsonb *
payload_type_document(Slice what)
{
	PayloadTypeRow row;

	return payload_type_row(what, 0, &row) || payload_type_row_of_ref(what, &row) ? row.schema : NULL;
}

bool
payload_type_name_valid(Slice name)
{
	return identifier_is_valid(ID_WORD, name) && !memchr(name.s, '/', name.len) && !memchr(name.s, '@', name.len) &&
		!memchr(name.s, ' ', name.len);
}
