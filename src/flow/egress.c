/*-------------------------------------------------------------------------
 *
 * egress.c
 *	  Checking which hosts the arguments of a tool.call name.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/egress.h"
#include "miscadmin.h"
#include "protocol/host.h"
#include "protocol/problem.h"
#include "protocol/url.h"
#include "protocol/value.h"

/* what is being judged, and by which list */
typedef struct EgressCheck
{
	const Envelope *call;
	const SliceList *hosts;
	const char *whose;
} EgressCheck;

static void
egress_refuse(const EgressCheck *check, const char *path, Slice host)
{
	Slice		from = check->call->from_agent;

	if (!host_is_valid(host))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem(path, "HOST_NOT_ALLOWED"),
				 errmsg("\"%.*s\" may not call \"%.*s\" with a URL whose host cannot be read",
						from.len, from.s, check->call->tool.len, check->call->tool.s),
				 errhint("%s allows certain hosts only. Write the host of the URL as a plain name or address, as in https://api.example.com/path.", check->whose)));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errproblem(path, "HOST_NOT_ALLOWED"),
			 errmsg("\"%.*s\" may not call \"%.*s\" with the host \"%.*s\"",
					from.len, from.s, check->call->tool.len, check->call->tool.s, host.len, host.s),
			 errhint("%s does not have that host in its egress_allowlist.", check->whose)));
}

static void
egress_check_text(const EgressCheck *check, const char *path, Slice text)
{
	UrlScan		scan;
	Slice		host;

	url_begin(&scan, text);
	while (url_next_host(&scan, &host))
	{
		CHECK_FOR_INTERRUPTS();
		if (!host_is_valid(host) || !host_pattern_is_within(host, check->hosts))
			egress_refuse(check, path, host);
	}
}

/* The recursion is limited by clutch.max_depth. */
static void
egress_check_value(const EgressCheck *check, const char *path, const JsonbValue *value)
{
	const JsonbContainer *container = value->type == jbvBinary ? value->val.binary.data : NULL;
	int			n = container != NULL ? JsonContainerSize(container) : 0;
	int			i;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (value->type == jbvString)
		egress_check_text(check, path, document_text(value));
	for (i = 0; i < n; i++)
	{
		Slice		key = JsonContainerIsObject(container) ? value_key_at(container, i) : SLICE_NONE;
		char	   *below = slice_present(key) ? problem_path(path, key.s, key.len) :
			problem_path_index(path, i);
		JsonbValue	child;

		value_at(container, i, &child);
		if (slice_present(key))
			egress_check_text(check, below, key);
		egress_check_value(check, below, &child);
		pfree(below);
	}
}

void
egress_check(const Envelope *call, const SliceList *hosts, const char *whose)
{
	EgressCheck check = {call, hosts, whose};
	JsonbValue	args;

	if (document_get(call->payload.val.binary.data, "args", &args))
		egress_check_value(&check, "/payload/args", &args);
}
