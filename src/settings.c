/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  Every clutch.* setting, each with a paragraph that explains it.
 *
 * Most settings are limits that protect the server, or decide how work is
 * shared out, so only superusers and roles that were granted SET on a setting
 * can change it.  Anyone can set what affects only their own session.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "compat.h"
#include "miscadmin.h"
#include "protocol/retry_policy.h"
#include "settings.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

/*
 * The agent that stands for the database.  A request addressed to it is
 * routed, and it is the sender of the events that the database writes.
 */
char	   *clutch_orchestrator = NULL;

/*
 * The limits on a document.
 *
 * max_envelope_bytes: the size of an envelope as stored, that is, as jsonb
 * before compression.  A large result belongs in an artifact that the envelope
 * refers to.
 * max_depth: how deep objects and arrays may nest; the envelope is level 1.
 * max_nodes: how many values the document may contain, not counting keys.
 * max_id_bytes: the length of an identifier, a capability or an idempotency
 * key.
 * max_string_bytes: the length of any other string of the protocol outside the
 * payload.
 * max_recipients: how many recipients "to" may name.
 * max_list: how many elements requires, prefers, attachments and the tool
 * allowlist may each have.
 */
Limits		clutch_limits = {
	.max_envelope_bytes = 1024 * 1024,
	.max_depth = 64,
	.max_nodes = 50000,
	.max_id_bytes = 256,
	.max_string_bytes = 4096,
	.max_recipients = 64,
	.max_list = 64,
	.any_character = false
};

/*
 * The settings may have been lowered, and the check for control characters
 * introduced, after a document was admitted.  What no setting can raise stays
 * limited.
 */
const Limits clutch_limits_admitted = {
	.max_envelope_bytes = PG_INT32_MAX,
	.max_depth = 2 * MAX_DEPTH,	/* the database itself puts documents into envelopes */
	.max_nodes = PG_INT32_MAX,
	.max_id_bytes = MAX_ID_BYTES,
	.max_string_bytes = PG_INT32_MAX,
	.max_recipients = PG_INT32_MAX,
	.max_list = PG_INT32_MAX,
	.any_character = true
};

/*
 * How many candidates a routing.decision names.  clutch.explain_route shows
 * all of them; the event stays small even if ten thousand agents qualify.
 */
int			clutch_decision_candidates = 20;

/*
 * If at most this many agents are eligible, their load is read anew for each
 * choice; if more are, the backend uses loads that it read a moment ago.  The
 * slot decides in either case, so a concurrency limit is never exceeded: only
 * the order of the candidates may be out of date.
 */
int			clutch_exact_load_candidates = 32;

/* The weight of a matched preference, by its kind; 0 ignores that kind. */
double		clutch_weight_skill = 1.0;
double		clutch_weight_tool = 1.0;
double		clutch_weight_tag = 1.0;
double		clutch_weight_domain = 1.0;

/*
 * Who wakes the listeners.  "worker": the background worker of the database
 * does so once the transaction has ended and its rows can be read; if no
 * worker runs, or it cannot keep up, the same happens as for "transaction".
 * "transaction": the writing transaction sends one notification per channel
 * at commit, which makes concurrent commits wait for one another.  "off":
 * nobody is woken; readers have to poll.
 */
int			clutch_notify = NOTIFY_TRANSACTION;

/*
 * How many channels one transaction notifies.  If it concerns more, only the
 * listeners of 'all' are notified.
 */
int			clutch_notify_channels = 64;

/*
 * How often, in seconds, an agent must give a sign of life if its card does
 * not say.  An agent that misses three of them is lost.  With 0, agents whose
 * cards do not say are not watched.
 */
int			clutch_heartbeat_interval = 30;

/*
 * The lease, in seconds, of an agent that accepts a task with an envelope of
 * its own instead of clutch.claim.
 */
int			clutch_default_lease = 60;

/*
 * A queued task counts as one level of priority higher for each period of this
 * length, in seconds, that it has waited.  With 0, waiting changes nothing.
 */
int			clutch_aging = 60;
/*
 * How long, in seconds, a task may stay ready without being claimed before
 * agents other than its own may have it.  With 0, it stays with its agent.
 */
int			clutch_claim_timeout = 60;

/*
 * How many kinds of waiting tasks the requests of one agent may form.  Tasks
 * are of the same kind if they have the same requester, requirements,
 * preferences and restrictions.
 */
int			clutch_max_waiting_kinds = 1000;

/*
 * The number of results that break the contract of their step after which an
 * attempt fails.
 */
int			clutch_max_contract_faults = 3;

/* How many tasks one tick moves at most; another tick moves the next ones. */
int			clutch_tick_batch = 1000;

/*
 * How often, in seconds, the background worker ticks while something waits
 * for an event whose time is not known, such as a free agent.
 */
int			clutch_tick_interval = 10;

/*
 * How long, in seconds, a request without a deadline may take.  With 0, it may
 * take forever.
 */
int			clutch_default_deadline = 24 * 3600;

/* The error codes that are retried, unless the report itself says otherwise. */
char	   *clutch_retryable_errors = NULL;

/*
 * How often a failed task is retried, and after what delay: the first delay,
 * the longest one, and the factor by which each exceeds the one before.
 * Requests, payload types and agent cards can override these.
 */
int			clutch_retry_max = 3;
int			clutch_retry_initial = 1000;
int			clutch_retry_max_delay = 10000;
double		clutch_retry_factor = 2.0;

/*
 * How many leases on a task may expire before the task is taken to be the
 * cause of its agents' deaths, and fails.  With 0, any number may expire.
 */
int			clutch_max_lease_losses = 10;

/*
 * The circuit breaker: after how many consecutive failures an agent is given
 * no work (0: never), for how many seconds, and how many tasks it must then
 * complete before it is given work without restriction.
 */
int			clutch_breaker_failures = 5;
int			clutch_breaker_reset = 60;
int			clutch_breaker_probes = 3;

/*
 * How long the worker keeps finished runs in the log: an interval, or "off".
 * Older ones are removed in small batches.
 */
char	   *clutch_retention = NULL;
int64		clutch_retention_time = 0;

/*
 * Whether events are removed even if a subscription has not handled them yet.
 * Otherwise a subscription that nobody reads any more would keep them forever.
 */
bool		clutch_prune_unread = false;

/*
 * The current time, for tests: an RFC 3339 timestamp, or empty for the real
 * time.  Only superusers can set it, because deadlines and leases depend on
 * it.
 */
char	   *clutch_clock = NULL;

static const struct config_enum_entry settings_notify_modes[] = {
	{"worker", NOTIFY_WORKER, false},
	{"transaction", NOTIFY_TRANSACTION, false},
	{"off", NOTIFY_OFF, false},
	{NULL, 0, false}
};

/* ------------------------------------------------------------ check hooks */

static bool
settings_check_orchestrator(char **newval, void **extra, GucSource source)
{
	Slice		name = slice_of_cstring(*newval);

	if (slice_present(name) && name.len > (int) strlen("agent:") && name.len <= 256 &&
		slice_starts(name, SLICE_OF("agent:")))
		return true;
	GUC_check_errdetail("The value must be the ID of an agent, which begins with \"agent:\" and has at most 256 bytes.");
	return false;
}

/*
 * Reads an interval as interval_in does.  Returns false if it is none.  This
 * must not raise an error, because the postmaster reads postgresql.conf as
 * well, and would shut down.
 */
static bool
settings_parse_interval(const char *text, struct pg_itm_in *interval)
{
	char		buffer[256];
	char	   *field[MAXDATEFIELDS];
	int			ftype[MAXDATEFIELDS];
	int			nf;
	int			dtype;
	int			error;

	memset(interval, 0, sizeof(*interval));
	if (strlen(text) >= sizeof(buffer))
		return false;
	error = ParseDateTime(text, buffer, sizeof(buffer), field, ftype, MAXDATEFIELDS, &nf);
	if (error == 0)
		error = DecodeInterval(field, ftype, nf, INTERVAL_FULL_RANGE, &dtype, interval);
	if (error == DTERR_BAD_FORMAT)
	{
		strcpy(buffer, text);
		error = DecodeISO8601Interval(buffer, &dtype, interval);
	}
	return error == 0 && dtype == DTK_DELTA;
}

/*
 * Converts an interval to microseconds, counting a month as 30 days.  Returns
 * 0 if it is negative, or longer than a thousand years.
 */
static int64
settings_microseconds(const struct pg_itm_in *interval)
{
	double		months = interval->tm_mon + interval->tm_year * (double) MONTHS_PER_YEAR;
	double		days = interval->tm_mday + months * DAYS_PER_MONTH;

	if (days < 0 || days > 365000 || interval->tm_usec < 0 || interval->tm_usec / USECS_PER_DAY > 365000)
		return 0;
	return (int64) days * USECS_PER_DAY + interval->tm_usec;
}

/* A number without a unit would count seconds, while whoever writes it has days in mind. */
static bool
settings_check_retention(char **newval, void **extra, GucSource source)
{
	int64	   *value = setting_extra_alloc_compat(sizeof(int64));
	struct pg_itm_in interval;

	if (value == NULL)
		return false;
	*extra = value;
	*value = 0;
	if (pg_strcasecmp(*newval, "off") == 0)
		return true;
	if (strspn(*newval, "0123456789.+- ") < strlen(*newval) && settings_parse_interval(*newval, &interval))
		*value = settings_microseconds(&interval);
	if (*value > 0)
		return true;
	GUC_check_errdetail("The value must be off, or an interval of more than zero with its unit, such as \"30 days\".");
	return false;
}

static void
settings_assign_retention(const char *newval, void *extra)
{
	clutch_retention_time = *(int64 *) extra;
}

static bool
settings_check_clock(char **newval, void **extra, GucSource source)
{
	TimestampTz t;

	if (*newval == NULL || (*newval)[0] == '\0' ||
		clock_parse_rfc3339(slice_of_cstring(*newval), &t))
		return true;
	GUC_check_errdetail("The value must be an RFC 3339 timestamp, such as 2026-02-01T13:20:11Z.");
	return false;
}

/* ------------------------------------------------------------- definitions */

void
settings_define_integer(const char *name, const char *what, int *variable, int boot,
						int least, int most, int flags)
{
	DefineCustomIntVariable(name, what, NULL, variable, boot, least, most,
							PGC_SUSET, flags, NULL, NULL, NULL);
}

static void
settings_define_weight(const char *name, const char *what, double *variable)
{
	DefineCustomRealVariable(name, what, "0 ignores preferences of this kind.",
							 variable, 1.0, 0.0, 1000.0,
							 PGC_SUSET, 0, NULL, NULL, NULL);
}

static void
settings_define_limits(void)
{
	settings_define_integer("clutch.max_envelope_bytes",
							"Sets the maximum size of an envelope.",
							&clutch_limits.max_envelope_bytes, 1024 * 1024,
							1024, 256 * 1024 * 1024, GUC_UNIT_BYTE);
	settings_define_integer("clutch.max_depth",
							"Sets the maximum nesting depth of an envelope.",
							&clutch_limits.max_depth, 64, 8, MAX_DEPTH, 0);
	settings_define_integer("clutch.max_nodes",
							"Sets the maximum number of values in an envelope.",
							&clutch_limits.max_nodes, 50000, 100, 100 * 1000 * 1000, 0);
	settings_define_integer("clutch.max_id_bytes",
							"Sets the maximum length of an identifier.",
							&clutch_limits.max_id_bytes, 256, 32, MAX_ID_BYTES, GUC_UNIT_BYTE);
	settings_define_integer("clutch.max_string_bytes",
							"Sets the maximum length of a protocol string outside the payload.",
							&clutch_limits.max_string_bytes, 4096, 256, 1024 * 1024,
							GUC_UNIT_BYTE);
	settings_define_integer("clutch.max_recipients",
							"Sets the maximum number of recipients of an envelope.",
							&clutch_limits.max_recipients, 64, 1, 1024, 0);
	settings_define_integer("clutch.max_list",
							"Sets the maximum number of elements in requires, prefers, attachments or an allowlist.",
							&clutch_limits.max_list, 64, 1, 1024, 0);
}

static void
settings_define_routing(void)
{
	settings_define_integer("clutch.decision_candidates",
							"Sets the maximum number of candidates named by a routing.decision.",
							&clutch_decision_candidates, 20, 1, 1000, 0);
	settings_define_integer("clutch.exact_load_candidates",
							"Sets the number of eligible agents up to which every choice reads their current load.",
							&clutch_exact_load_candidates, 32, 0, 100000, 0);
	settings_define_weight("clutch.weight_skill", "Sets the weight of a preferred skill.",
						   &clutch_weight_skill);
	settings_define_weight("clutch.weight_tool", "Sets the weight of a preferred tool.",
						   &clutch_weight_tool);
	settings_define_weight("clutch.weight_tag", "Sets the weight of a preferred tag.",
						   &clutch_weight_tag);
	settings_define_weight("clutch.weight_domain", "Sets the weight of a preferred domain.",
						   &clutch_weight_domain);
}

static void
settings_define_notification(void)
{
	DefineCustomEnumVariable("clutch.notify",
							 "Selects who wakes listeners: the worker, the writing transaction, or nobody.",
							 NULL, &clutch_notify,
							 process_shared_preload_libraries_in_progress ?
							 NOTIFY_WORKER : NOTIFY_TRANSACTION, settings_notify_modes,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	settings_define_integer("clutch.notify_channels",
							"Sets the maximum number of channels that one transaction notifies.",
							&clutch_notify_channels, 64, 0, 10000, 0);
}

static void
settings_define_work(void)
{
	settings_define_integer("clutch.heartbeat_interval",
							"Sets how often an agent must give a sign of life.",
							&clutch_heartbeat_interval, 30, 0, 86400, GUC_UNIT_S);
	settings_define_integer("clutch.default_lease",
							"Sets the lease of a task that is accepted without clutch.claim.",
							&clutch_default_lease, 60, 1, 86400, GUC_UNIT_S);
	settings_define_integer("clutch.aging",
							"Sets how long a task waits before it counts as one level of priority higher.",
							&clutch_aging, 60, 0, 7 * 86400, GUC_UNIT_S);
	settings_define_integer("clutch.claim_timeout",
							"Sets how long a task may be ready before agents other than its own may claim it.",
							&clutch_claim_timeout, 60, 0, 7 * 86400, GUC_UNIT_S);
	settings_define_integer("clutch.default_deadline",
							"Sets how long a request without a deadline may take.",
							&clutch_default_deadline, 24 * 3600, 0, 366 * 24 * 3600, GUC_UNIT_S);
	settings_define_integer("clutch.max_waiting_kinds",
							"Sets in how many different ways the requests of one agent may wait for agents.",
							&clutch_max_waiting_kinds, 1000, 1, 1000000, 0);
	settings_define_integer("clutch.max_contract_faults",
							"Sets after how many results that violate the contract of their step an attempt fails.",
							&clutch_max_contract_faults, 3, 1, 1000, 0);
	settings_define_integer("clutch.tick_batch",
							"Sets the maximum number of tasks that one tick moves.",
							&clutch_tick_batch, 1000, 1, 1000000, 0);
	DefineCustomIntVariable("clutch.tick_interval",
							"Sets how often the worker ticks while something waits.", NULL,
							&clutch_tick_interval, 10, 1, 3600,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
}

static void
settings_define_failures(void)
{
	DefineCustomStringVariable("clutch.retryable_errors",
							   "Lists the codes of task.error that are retried.",
							   "Separated by commas.  \"retryable\" in a report takes precedence.",
							   &clutch_retryable_errors, "TIMEOUT,UNAVAILABLE",
							   PGC_SUSET, 0, NULL, NULL, NULL);
	settings_define_integer("clutch.retry_max", "Sets how often a failed task is retried.",
							&clutch_retry_max, 3, 0, RETRY_MOST, 0);
	settings_define_integer("clutch.retry_initial", "Sets the delay before the first retry.",
							&clutch_retry_initial, 1000, 0, PG_INT32_MAX, GUC_UNIT_MS);
	settings_define_integer("clutch.retry_max_delay", "Sets the longest delay before a retry.",
							&clutch_retry_max_delay, 10000, 0, PG_INT32_MAX, GUC_UNIT_MS);
	DefineCustomRealVariable("clutch.retry_factor",
							 "Sets the factor by which each delay exceeds the one before.", NULL,
							 &clutch_retry_factor, 2.0, 1.0, RETRY_STEEPEST,
							 PGC_SUSET, 0, NULL, NULL, NULL);
	settings_define_integer("clutch.max_lease_losses",
							"Sets how many leases on a task may expire before it fails.",
							&clutch_max_lease_losses, 10, 0, 1000000, 0);
	settings_define_integer("clutch.breaker_failures",
							"Sets after how many consecutive failures an agent is given no work.",
							&clutch_breaker_failures, 5, 0, 1000, 0);
	settings_define_integer("clutch.breaker_reset",
							"Sets for how long such an agent is given no work.",
							&clutch_breaker_reset, 60, 1, 86400, GUC_UNIT_S);
	settings_define_integer("clutch.breaker_probes",
							"Sets how many tasks it must then complete before the restriction ends.",
							&clutch_breaker_probes, 3, 1, 1000, 0);
}

static void
settings_define_retention(void)
{
	DefineCustomStringVariable("clutch.retention",
							   "Sets for how long the worker keeps runs that are over.",
							   "An interval, or off.",
							   &clutch_retention, "off",
							   PGC_SUSET, 0, settings_check_retention,
							   settings_assign_retention, NULL);
	DefineCustomBoolVariable("clutch.prune_unread",
							 "Removes events even if a subscription has not handled them.", NULL,
							 &clutch_prune_unread, false,
							 PGC_SUSET, 0, NULL, NULL, NULL);
}

void
settings_define(void)
{
	DefineCustomStringVariable("clutch.orchestrator",
							   "Sets the agent that stands for the database.",
							   "A request addressed to it is routed.",
							   &clutch_orchestrator, "agent:orchestrator",
							   PGC_SUSET, 0, settings_check_orchestrator, NULL, NULL);
	DefineCustomStringVariable("clutch.clock",
							   "Sets the current time, for tests.",
							   "An RFC 3339 timestamp, or empty for the real time.",
							   &clutch_clock, "",
							   PGC_SUSET, 0, settings_check_clock, NULL, NULL);
	settings_define_limits();
	settings_define_schemas();
	settings_define_routing();
	settings_define_notification();
	settings_define_work();
	settings_define_failures();
	settings_define_retention();
	settings_define_trust();
	settings_define_data();

	MarkGUCPrefixReserved("clutch");
}
