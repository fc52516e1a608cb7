/*-------------------------------------------------------------------------
 *
 * catalog_check.c
 *	  Checking a row of clutch.adapter.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/catalog_part.h"
#include "base/column.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "utils/varlena.h"

#define MOST_NAME_BYTES		32

/*
 * the columns that name functions; a user-defined adapter needs all but the
 * first
 */
static const struct
{
	int			attno;
	const char *path;
}			catalog_functions[] = {
	{Anum_adapter_can_handle, "/can_handle"},
	{Anum_adapter_inbound, "/inbound"},
	{Anum_adapter_outbound, "/outbound"},
};

static void
catalog_check_name(Slice name, bool builtin, ProblemList *faults)
{
	bool		valid = name.len > 0 && name.len <= MOST_NAME_BYTES && name.s[0] >= 'a' && name.s[0] <= 'z';

	for (int i = 1; valid && i < name.len; i++)
		valid = (name.s[i] >= 'a' && name.s[i] <= 'z') || (name.s[i] >= '0' && name.s[i] <= '9') ||
			name.s[i] == '_';
	if (!slice_present(name))
		problem_add(faults, "/name", "REQUIRED", "An adapter needs a name.");
	else if (!valid)
		problem_add(faults, "/name", "WRONG_FORMAT",
					"%s is not a name: a name begins with a lower-case letter, and consists of at most %d lower-case letters, digits and underscores.",
					place_quote(name), MOST_NAME_BYTES);
	/*
	 * in requests by the orchestrator, meta.rule is what a routing rule notes
	 */
	else if (slice_is(name, "clutch") || slice_is(name, "rule"))
		problem_add(faults, "/name", "NOT_ALLOWED", "meta.%.*s belongs to clutch itself; choose another name.",
					name.len, name.s);
	/*
	 * a restore would fail at such a row, because the extension has already
	 * created the row of the built-in adapter
	 */
	else if (!builtin && catalog_is_built_in(name))
		problem_add(faults, "/name", "NOT_ALLOWED", "%s is a built-in adapter; choose another name.", place_quote(name));
	else if (builtin && !catalog_is_built_in(name))
		problem_add(faults, "/name", "WRONG_VALUE", "There is no built-in adapter %s.", place_quote(name));
}

/* Is it a JSON pointer (RFC 6901) to a place below the document? */
static bool
catalog_is_pointer(Slice path)
{
	for (int i = 0; i < path.len; i++)
		if (path.s[i] == '~' && (i + 1 == path.len || (path.s[i + 1] != '0' && path.s[i + 1] != '1')))
			return false;
	return path.len >= 2 && path.s[0] == '/';
}

/* Is it the name of a function, quoted or not, behind that of its schema? */
static bool
catalog_is_qualified(Slice name)
{
	List	   *names = NIL;

	return SplitIdentifierString(slice_cstring(name), '.', &names) && list_length(names) == 2;
}

/*
 * Does the name end with an argument list?  A quoted name is not checked,
 * because it may contain parentheses.
 */
static bool
catalog_has_arguments(Slice name)
{
	return name.len > 0 && name.s[name.len - 1] == ')' && memchr(name.s, '"', name.len) == NULL;
}

static void
catalog_check_functions(const Datum *values, const bool *nulls, bool builtin, ProblemList *faults)
{
	for (int i = 0; i < lengthof(catalog_functions); i++)
	{
		int			attno = catalog_functions[i].attno;
		const char *path = catalog_functions[i].path;
		Slice		name = column_text(values, nulls, attno);

		if (builtin && slice_present(name))
			problem_add(faults, path, "NOT_ALLOWED", "A built-in adapter has no functions in SQL.");
		else if (!builtin && !slice_present(name) && attno != Anum_adapter_can_handle)
			problem_add(faults, path, "REQUIRED", "An adapter needs the functions inbound and outbound.");
		else if (slice_present(name) && !catalog_is_qualified(name))
			problem_add(faults, path, "WRONG_FORMAT",
						"%s is not the name of a function with its schema, like \"app.read\".", place_quote(name));
		else if (slice_present(name) && catalog_has_arguments(name))
			problem_add(faults, path, "WRONG_FORMAT",
						"%s has a list of arguments; name the function without it, like \"app.read\".", place_quote(name));
	}
}

void
catalog_check(const Datum *values, const bool *nulls)
{
	Slice		name = column_text(values, nulls, Anum_adapter_name);
	Slice		carrier = column_text(values, nulls, Anum_adapter_carrier);
	bool		builtin = !nulls[Anum_adapter_builtin - 1] && DatumGetBool(values[Anum_adapter_builtin - 1]);
	ProblemList *faults = problem_list();

	catalog_check_name(name, builtin, faults);
	if (nulls[Anum_adapter_place - 1])
		problem_add(faults, "/place", "REQUIRED",
					"An adapter needs a place; adapters are asked in the order of this number.");
	if (nulls[Anum_adapter_builtin - 1])
		problem_add(faults, "/builtin", "REQUIRED", "The column must not be null; leave it out.");
	catalog_check_functions(values, nulls, builtin, faults);
	if (slice_present(carrier) && !catalog_is_pointer(carrier))
		problem_add(faults, "/carrier", "WRONG_FORMAT",
					"%s is not a path into a document, like \"/metadata/clutch\".", place_quote(carrier));
	if (faults->n > 0)
		problem_raise(faults, ERRCODE_INVALID_PARAMETER_VALUE,
					  slice_present(name) ? psprintf("adapter %s", place_quote(name)) : "adapter");
}
