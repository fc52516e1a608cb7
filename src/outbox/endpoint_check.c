/*-------------------------------------------------------------------------
 *
 * endpoint_check.c
 *	  Checking a row of clutch.endpoint.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/document.h"
#include "miscadmin.h"
#include "outbox/endpoint_part.h"
#include "protocol/place.h"
#include "protocol/value.h"
#include "settings.h"
#include "utils/array.h"
#include "utils/builtins.h"

#define MOST_NAME_BYTES		63
#define MOST_ATTEMPTS		100
#define MOST_PAUSE_S		604800
#define MOST_FIRST_PAUSE_S	86400
#define MOST_PATIENCE_S		604800

/* a reference to an artifact has about as many bytes */
#define LEAST_ARTIFACT_BYTES	256

/* columns that have defaults, but must not be null */
static const struct
{
	int			attno;
	const char *path;
}			endpoint_required[] = {
	{Anum_endpoint_name, "/name"},
	{Anum_endpoint_url, "/url"},
	{Anum_endpoint_adapter, "/adapter"},
	{Anum_endpoint_agents, "/agents"},
	{Anum_endpoint_max_attempts, "/max_attempts"},
	{Anum_endpoint_first_pause_s, "/first_pause_s"},
	{Anum_endpoint_longest_pause_s, "/longest_pause_s"},
	{Anum_endpoint_patience_s, "/patience_s"},
	{Anum_endpoint_paused, "/paused"},
	{Anum_endpoint_former_names, "/former_names"},
};

/* numeric columns and their ranges */
static const struct
{
	int			attno;
	const char *path;
	int			least;
	int			most;
}			endpoint_numbers[] = {
	{Anum_endpoint_max_attempts, "/max_attempts", 1, MOST_ATTEMPTS},
	{Anum_endpoint_first_pause_s, "/first_pause_s", 0, MOST_FIRST_PAUSE_S},
	{Anum_endpoint_longest_pause_s, "/longest_pause_s", 0, MOST_PAUSE_S},
	{Anum_endpoint_patience_s, "/patience_s", 1, MOST_PATIENCE_S},
	{Anum_endpoint_artifacts_from, "/artifacts_from", LEAST_ARTIFACT_BYTES, PG_INT32_MAX},
};

/* ----------------------------------------------------------- name and URL */

static void
endpoint_check_name(Slice name, const char *path, ProblemList *faults)
{
	bool		valid = slice_present(name) && name.len > 0 && name.len <= MOST_NAME_BYTES &&
		name.s[0] >= 'a' && name.s[0] <= 'z';

	for (int i = 1; valid && i < name.len; i++)
		valid = (name.s[i] >= 'a' && name.s[i] <= 'z') || (name.s[i] >= '0' && name.s[i] <= '9') ||
			name.s[i] == '_' || name.s[i] == '-';
	if (slice_present(name) && !valid)
		problem_add(faults, path, "WRONG_FORMAT",
					"%s is not a name: a name begins with a lower-case letter, and consists of at most %d lower-case letters, digits, hyphens and underscores.",
					place_quote(name), MOST_NAME_BYTES);
}

static Slice
endpoint_url_rest(Slice url)
{
	static const Slice schemes[] = {{"https://", 8}, {"http://", 7}};

	for (int i = 0; i < lengthof(schemes); i++)
		if (slice_starts(url, schemes[i]))
			return slice_after(url, schemes[i].len);
	return SLICE_NONE;
}

/*
 * Is it a name, an IPv4 address or an IPv6 address in brackets, possibly with
 * a port?  HTTP clients refuse anything else.
 */
static bool
endpoint_host_is_valid(Slice host)
{
	const char *bracket = host.len > 0 && host.s[0] == '[' ? memchr(host.s, ']', host.len) : NULL;
	int			name = bracket != NULL ? bracket - host.s + 1 : 0;
	int			port = 0;

	while (bracket == NULL && name < host.len && host.s[name] != ':')
	{
		if (host.s[name] == '[' || host.s[name] == ']' || host.s[name] == '\\')
			return false;
		name++;
	}
	if (name == 0 || name == host.len)
		return name > 0;
	for (int i = name + 1; i < host.len && port <= 65535; i++)
	{
		if (host.s[i] < '0' || host.s[i] > '9')
			return false;
		port = port * 10 + (host.s[i] - '0');
	}
	return host.s[name] == ':' && port > 0 && port <= 65535;
}

static void
endpoint_check_url(Slice url, ProblemList *faults)
{
	Slice		rest = slice_present(url) ? endpoint_url_rest(url) : SLICE_NONE;
	int			host = 0;

	if (!slice_present(url))
		return;
	if (!slice_present(rest))
	{
		problem_add(faults, "/url", "WRONG_FORMAT", "%s does not begin with \"https://\" or \"http://\".",
					place_quote(url));
		return;
	}
	while (host < rest.len && rest.s[host] != '/' && rest.s[host] != '?' && rest.s[host] != '#')
		host++;
	if (host == 0)
		problem_add(faults, "/url", "WRONG_FORMAT", "%s names no host.", place_quote(url));
	if (memchr(rest.s, '@', host) != NULL)
		problem_add(faults, "/url", "NOT_ALLOWED",
					"The URL has a user or a password; name a secret in auth_secret instead.");
	else if (memchr(rest.s, '#', rest.len) != NULL)
		problem_add(faults, "/url", "NOT_ALLOWED", "%s has a fragment, which is never sent.",
					place_quote(url));
	else if (identifier_find_control(url) >= 0 || memchr(url.s, ' ', url.len) != NULL)
		problem_add(faults, "/url", "WRONG_FORMAT", "%s has a blank or a control character.",
					place_quote(url));
	else if (host > 0 && !endpoint_host_is_valid((Slice) {rest.s, host}))
		problem_add(faults, "/url", "WRONG_FORMAT",
					"%s is not a host with or without a port; write it like \"shop.example\", \"shop.example:8080\" or \"[::1]:8080\".",
					place_quote((Slice) {rest.s, host}));
}

/* ------------------------------------------------------------------- lists */

/* Is an array a list without NULLs?  Adds the fault if it is not. */
static bool
endpoint_check_list(Datum texts, const char *path, ProblemList *faults)
{
	ArrayType  *array = DatumGetArrayTypeP(texts);

	if (ARR_NDIM(array) > 1)
		problem_add(faults, path, "WRONG_FORMAT", "The array has %d dimensions; it must be a list.", ARR_NDIM(array));
	else if (array_contains_nulls(array))
		problem_add(faults, path, "NULL_VALUE", "An element of the list is null.");
	else
		return true;
	return false;
}

static void
endpoint_check_serves(Slice agent_id, ProblemList *faults)
{
	identifier_check(ID_AGENT, agent_id, "/serves", faults);
	if (slice_is(agent_id, clutch_orchestrator))
		problem_add(faults, "/serves", "NOT_ALLOWED",
					"%s is the orchestrator, which does no tasks; name the agent that the URL belongs to.",
					place_quote(agent_id));
}

static void
endpoint_check_agents(Datum agents, ProblemList *faults)
{
	SliceList	list;

	if (!endpoint_check_list(agents, "/agents", faults))
		return;
	list = column_texts_of(agents);
	for (int i = 0; i < list.n; i++)
		if (!slice_is(list.items[i], "*"))
			identifier_check(ID_AGENT, list.items[i], problem_path_index("/agents", i), faults);
}

static void
endpoint_check_former_names(Datum names, ProblemList *faults)
{
	SliceList	list;

	if (!endpoint_check_list(names, "/former_names", faults))
		return;
	list = column_texts_of(names);
	for (int i = 0; i < list.n; i++)
		endpoint_check_name(list.items[i], problem_path_index("/former_names", i), faults);
}

/* -------------------------------------------------------------- documents */

/* Is it a header name that we accept?  HTTP allows more than this. */
static bool
endpoint_header_name_is_valid(Slice name)
{
	bool		valid = name.len > 0;

	for (int i = 0; valid && i < name.len; i++)
		valid = (name.s[i] >= 'a' && name.s[i] <= 'z') || (name.s[i] >= 'A' && name.s[i] <= 'Z') ||
			(name.s[i] >= '0' && name.s[i] <= '9') || strchr("_.-", name.s[i]) != NULL;
	return valid;
}

/*
 * headers that only the database or the connection may set; nor may people who
 * can read this table see an authorization
 */
static const struct
{
	const char *name;
	const char *fault;
}			endpoint_reserved[] = {
	{"authorization", "Readers could read its value here; name a secret in auth_secret instead."},
	{"webhook-id", "The database writes this header."},
	{"webhook-timestamp", "The database writes this header."},
	{"webhook-signature", "The database writes this header; name a secret in signing_secret."},
	{"content-length", "The gateway sets this header itself."},
	{"transfer-encoding", "The gateway sets this header itself."},
	{"connection", "The gateway sets this header itself."},
	{"host", "The host is that of the URL."}
};

static bool
endpoint_same_header(Slice a, Slice b)
{
	return a.len == b.len && pg_strncasecmp(a.s, b.s, a.len) == 0;
}

static void
endpoint_check_header_name(JsonbContainer *headers, int no, const char *path, ProblemList *faults)
{
	Slice		name = value_key_at(headers, no);

	if (!endpoint_header_name_is_valid(name))
		problem_add(faults, path, "WRONG_FORMAT",
					"%s is not the name of a header: it consists of letters, digits, hyphens, underscores and dots.",
					place_quote(name));
	for (int i = 0; i < lengthof(endpoint_reserved); i++)
		if (endpoint_same_header(name, slice_of_cstring(endpoint_reserved[i].name)))
			problem_add(faults, path, "NOT_ALLOWED", "%s", endpoint_reserved[i].fault);
	for (int i = 0; i < no; i++)
		if (endpoint_same_header(name, value_key_at(headers, i)))
			problem_add(faults, path, "DUPLICATE_VALUE", "%s is the same header as %s.", place_quote(name),
						place_quote(value_key_at(headers, i)));
}

/*
 * Gateways send these bytes unchanged, and the receivers may decode them in
 * any encoding, or take a line break as the start of another header.
 */
static void
endpoint_check_header_value(Slice value, const char *path, ProblemList *faults)
{
	if (identifier_find_control(value) >= 0)
	{
		problem_add(faults, path, "CONTROL_CHARACTER", "The value of a header has a line break or another control character.");
		return;
	}
	for (int i = 0; i < value.len; i++)
		if ((unsigned char) value.s[i] > '~')
		{
			problem_add(faults, path, "WRONG_FORMAT",
						"The value of a header has a character that is not ASCII; encode it in the way that the receiver expects.");
			return;
		}
}

static void
endpoint_check_headers(Jsonb *headers, ProblemList *faults)
{
	if (!JB_ROOT_IS_OBJECT(headers))
	{
		problem_add(faults, "/headers", "WRONG_TYPE", "\"headers\" must be an object of texts.");
		return;
	}
	for (int i = 0; i < JsonContainerSize(&headers->root); i++)
	{
		Slice		name = value_key_at(&headers->root, i);
		char	   *path = problem_path("/headers", name.s, name.len);
		JsonbValue	value;

		CHECK_FOR_INTERRUPTS();
		value_at(&headers->root, i, &value);
		endpoint_check_header_name(&headers->root, i, path, faults);
		if (value.type != jbvString)
			problem_add(faults, path, "WRONG_TYPE", "The value of a header must be a text.");
		else
			endpoint_check_header_value(document_text(&value), path, faults);
	}
}

static void
endpoint_check_filter(Jsonb *document, ProblemList *faults)
{
	ProblemList *own = problem_list();
	Filter		filter;

	if (!JB_ROOT_IS_OBJECT(document))
	{
		problem_add(faults, "/filter", "WRONG_TYPE", "\"filter\" must be an object; write {} for all events.");
		return;
	}
	filter_parse(document, &filter, own);
	for (int i = 0; i < own->n; i++)
		problem_add(faults, psprintf("/filter%s", own->items[i].path), own->items[i].code, "%s",
					own->items[i].message);
}

/* ----------------------------------------------------------------- the row */

static void
endpoint_check_numbers(const Datum *values, const bool *nulls, ProblemList *faults)
{
	for (int i = 0; i < lengthof(endpoint_numbers); i++)
	{
		int			column = endpoint_numbers[i].attno - 1;
		int			value = nulls[column] ? 0 : DatumGetInt32(values[column]);

		if (!nulls[column] && (value < endpoint_numbers[i].least || value > endpoint_numbers[i].most))
			problem_add(faults, endpoint_numbers[i].path, "NUMBER_OUT_OF_RANGE",
						"The value is %d; it must be between %d and %d.", value,
						endpoint_numbers[i].least, endpoint_numbers[i].most);
	}
}

void
endpoint_check(const Datum *values, const bool *nulls)
{
	Slice		name = column_text(values, nulls, Anum_endpoint_name);
	Slice		serves = column_text(values, nulls, Anum_endpoint_serves);
	ProblemList *faults = problem_list();

	for (int i = 0; i < lengthof(endpoint_required); i++)
		if (nulls[endpoint_required[i].attno - 1])
			problem_add(faults, endpoint_required[i].path, "REQUIRED", "The column must not be null.");
	endpoint_check_name(name, "/name", faults);
	endpoint_check_url(column_text(values, nulls, Anum_endpoint_url), faults);
	if (!nulls[Anum_endpoint_agents - 1])
		endpoint_check_agents(values[Anum_endpoint_agents - 1], faults);
	if (!nulls[Anum_endpoint_former_names - 1])
		endpoint_check_former_names(values[Anum_endpoint_former_names - 1], faults);
	if (slice_present(serves))
		endpoint_check_serves(serves, faults);
	if (!nulls[Anum_endpoint_filter - 1])
		endpoint_check_filter(DatumGetJsonbP(values[Anum_endpoint_filter - 1]), faults);
	if (!nulls[Anum_endpoint_headers - 1])
		endpoint_check_headers(DatumGetJsonbP(values[Anum_endpoint_headers - 1]), faults);
	endpoint_check_numbers(values, nulls, faults);
	if (faults->n > 0)
		problem_raise(faults, ERRCODE_INVALID_PARAMETER_VALUE,
					  slice_present(name) ? psprintf("endpoint %s", place_quote(name)) : "endpoint");
}
