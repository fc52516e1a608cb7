/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  Every clutch.* setting, a paragraph each.
 *
 * Limits protect the server, so only a superuser (or who was granted SET on
 * them) changes them; what changes no more than the caller's own comfort may
 * be set by anybody.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "miscadmin.h"
#include "protocol/retry_policy.h"
#include "settings.h"
#include "utils/guc.h"

/*
 * The agent that stands for the database: a request addressed to it is
 * routed, and what the database writes itself comes from it.
 */
char	   *clutch_orchestrator = NULL;

/*
 * Size of an envelope as stored (jsonb, before compression).  Large results
 * belong in an artifact that the envelope names.
 */
int			clutch_max_envelope_bytes = 1024 * 1024;

/* How deep objects and arrays may nest, the envelope itself being level 1. */
int			clutch_max_depth = 64;

/* How many values, keys not counted, a document may hold. */
int			clutch_max_nodes = 50000;

/* Length in bytes of an identifier, a capability, a key of idempotency. */
int			clutch_max_id_bytes = 256;

/* Length in bytes of any other string of the protocol, not of the payload. */
int			clutch_max_string_bytes = 4096;

/* How many recipients "to" may name. */
int			clutch_max_recipients = 64;

/* How many elements requires, prefers, attachments, an allowlist may have. */
int			clutch_max_list = 64;

/*
 * How many candidates a routing.decision names.  explain_route shows all;
 * the event stays small when ten thousand agents would do.
 */
int			clutch_decision_candidates = 20;

/*
 * Up to this many eligible agents have their load read for every choice;
 * with more, a backend trusts what it read a moment ago.  Either way the
 * slot decides, so a limit is never exceeded: only the order may be stale.
 */
int			clutch_exact_load_candidates = 32;

/* What a matched preference weighs, by its kind; 0 ignores the kind. */
double		clutch_weight_skill = 1.0;
double		clutch_weight_tool = 1.0;
double		clutch_weight_tag = 1.0;
double		clutch_weight_domain = 1.0;

/*
 * Who wakes listeners.  "worker": the background worker of the database,
 * when the transaction is over and what it wrote can be read; where there is
 * none, or it cannot keep up, as "transaction".  "transaction": the writing
 * transaction sends one hint per channel at commit, which makes commits wait
 * for one another.  "off": nobody is woken, readers poll.
 */
int			clutch_notify = NOTIFY_TRANSACTION;

/*
 * How many channels one transaction wakes; beyond that only listeners of
 * 'all' are woken.
 */
int			clutch_notify_channels = 64;

/*
 * How often, in seconds, an agent must give a sign of life whose card does not
 * say; after three that it missed it is lost.  0: such agents are not watched.
 */
int			clutch_heartbeat_interval = 30;

/*
 * How long a task is held by an agent that accepts it with an envelope of its
 * own instead of clutch.claim.
 */
int			clutch_default_lease = 60;

/*
 * An entry of a queue counts as one level of priority higher for each time
 * that it has stood there for so long, in seconds; 0: it does not.
 */
int			clutch_aging = 60;

/* How many tasks one tick moves at most; call it again for more. */
int			clutch_tick_batch = 1000;

/*
 * How often the background worker ticks, in seconds, while something waits
 * whose time nobody can tell, such as for an agent.
 */
int			clutch_tick_interval = 10;

/* How long a request may take that names no deadline, in seconds; 0: for ever. */
int			clutch_default_deadline = 24 * 3600;

/* Codes of errors that are tried again unless the report says otherwise. */
char	   *clutch_retryable_errors = NULL;

/*
 * How often a failed task is tried again, and after how long: the first delay,
 * the longest, and by how much each is longer than the one before.  Requests,
 * payload types and cards may say otherwise.
 */
int			clutch_retry_max = 3;
int			clutch_retry_initial = 1000;
int			clutch_retry_max_delay = 10000;
double		clutch_retry_factor = 2.0;

/*
 * How many agents may lose their lease on a task before it is held to be the
 * task that kills them, and fails.  0: never.
 */
int			clutch_max_lease_losses = 10;

/*
 * After how many failures in a row an agent is given no work (0: it always
 * is), for how long, and how many tasks it must then do before it gets all.
 */
int			clutch_breaker_failures = 5;
int			clutch_breaker_reset = 60;
int			clutch_breaker_probes = 3;

/*
 * The time, for tests: an RFC 3339 text, or empty for the real one.  Only a
 * superuser may set it, because deadlines and leases are judged by it.
 */
char	   *clutch_clock = NULL;

static const struct config_enum_entry notify_modes[] = {
	{"worker", NOTIFY_WORKER, false},
	{"transaction", NOTIFY_TRANSACTION, false},
	{"off", NOTIFY_OFF, false},
	{NULL, 0, false}
};

/* both are told when they are set, not at the first event */
static bool
check_orchestrator(char **newval, void **extra, GucSource source)
{
	Slice		name = slice_of_cstring(*newval);

	if (slice_present(name) && name.len > (int) strlen("agent:") && name.len <= 256 &&
		slice_starts(name, SLICE_OF("agent:")))
		return true;
	GUC_check_errdetail("It is not the id of an agent, which begins with agent: and has at most 256 bytes.");
	return false;
}

static bool
check_clock(char **newval, void **extra, GucSource source)
{
	TimestampTz t;

	if (*newval == NULL || (*newval)[0] == '\0' ||
		clock_parse_rfc3339(slice_of_cstring(*newval), &t))
		return true;
	GUC_check_errdetail("It is not an RFC 3339 timestamp such as 2026-02-01T13:20:11Z.");
	return false;
}

static void
define_limit(const char *name, const char *what, int *variable, int boot,
			 int least, int most, int flags)
{
	DefineCustomIntVariable(name, what, NULL, variable, boot, least, most,
							PGC_SUSET, flags, NULL, NULL, NULL);
}

static void
define_weight(const char *name, const char *what, double *variable)
{
	DefineCustomRealVariable(name, what, "0 ignores preferences of this kind.",
							 variable, 1.0, 0.0, 1000.0,
							 PGC_SUSET, 0, NULL, NULL, NULL);
}

static void
define_failures(void)
{
	DefineCustomStringVariable("clutch.retryable_errors",
							   "Codes of task.error that are tried again.",
							   "Separated by commas; \"retryable\" in the report goes before it.",
							   &clutch_retryable_errors, "TIMEOUT,UNAVAILABLE",
							   PGC_SUSET, 0, NULL, NULL, NULL);
	define_limit("clutch.retry_max", "How often a failed task is tried again.",
				 &clutch_retry_max, 3, 0, RETRY_MOST, 0);
	define_limit("clutch.retry_initial", "Delay before the first retry.",
				 &clutch_retry_initial, 1000, 0, PG_INT32_MAX, GUC_UNIT_MS);
	define_limit("clutch.retry_max_delay", "Longest delay before a retry.",
				 &clutch_retry_max_delay, 10000, 0, PG_INT32_MAX, GUC_UNIT_MS);
	DefineCustomRealVariable("clutch.retry_factor",
							 "By how much each delay is longer than the one before.", NULL,
							 &clutch_retry_factor, 2.0, 1.0, RETRY_STEEPEST,
							 PGC_SUSET, 0, NULL, NULL, NULL);
	define_limit("clutch.max_lease_losses",
				 "How many leases on a task may be lost before it fails.",
				 &clutch_max_lease_losses, 10, 0, 1000000, 0);
	define_limit("clutch.breaker_failures",
				 "After how many failures in a row an agent is given no work.",
				 &clutch_breaker_failures, 5, 0, 1000, 0);
	define_limit("clutch.breaker_reset", "For how long it is given none.",
				 &clutch_breaker_reset, 60, 1, 86400, GUC_UNIT_S);
	define_limit("clutch.breaker_probes",
				 "How many tasks it must then do before it is given all.",
				 &clutch_breaker_probes, 3, 1, 1000, 0);
}

/* of what is sent */
static void
define_sizes(void)
{
	define_limit("clutch.max_envelope_bytes", "Largest envelope, in bytes.",
				 &clutch_max_envelope_bytes, 1024 * 1024, 1024, 256 * 1024 * 1024,
				 GUC_UNIT_BYTE);
	define_limit("clutch.max_depth", "Deepest nesting of an envelope.",
				 &clutch_max_depth, 64, 8, 1024, 0);
	define_limit("clutch.max_nodes", "Most values in an envelope.",
				 &clutch_max_nodes, 50000, 100, 100 * 1000 * 1000, 0);
	define_limit("clutch.max_id_bytes", "Longest identifier, in bytes.",
				 &clutch_max_id_bytes, 256, 32, MAX_ID_BYTES, GUC_UNIT_BYTE);
	define_limit("clutch.max_string_bytes",
				 "Longest string of the protocol outside the payload, in bytes.",
				 &clutch_max_string_bytes, 4096, 256, 1024 * 1024, GUC_UNIT_BYTE);
	define_limit("clutch.max_recipients", "Most recipients of an envelope.",
				 &clutch_max_recipients, 64, 1, 1024, 0);
	define_limit("clutch.max_list",
				 "Most elements in requires, prefers, attachments, an allowlist.",
				 &clutch_max_list, 64, 1, 1024, 0);
}

void
settings_define(void)
{
	DefineCustomStringVariable("clutch.orchestrator",
							   "The agent that stands for the database.",
							   "A request addressed to it is routed.",
							   &clutch_orchestrator, "agent:orchestrator",
							   PGC_SUSET, 0, check_orchestrator, NULL, NULL);
	DefineCustomEnumVariable("clutch.notify",
							 "Who wakes listeners: the worker, the writing transaction, or nobody.",
							 NULL, &clutch_notify,
							 process_shared_preload_libraries_in_progress ?
							 NOTIFY_WORKER : NOTIFY_TRANSACTION, notify_modes,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("clutch.clock",
							   "The time as RFC 3339 text, for tests.",
							   "Empty: the real time.",
							   &clutch_clock, "",
							   PGC_SUSET, 0, check_clock, NULL, NULL);

	define_sizes();
	define_limit("clutch.decision_candidates",
				 "Most candidates named by a routing.decision.",
				 &clutch_decision_candidates, 20, 1, 1000, 0);
	define_limit("clutch.exact_load_candidates",
				 "Up to this many eligible agents have their load read anew for each choice.",
				 &clutch_exact_load_candidates, 32, 0, 100000, 0);
	define_limit("clutch.notify_channels",
				 "Most channels one transaction wakes.",
				 &clutch_notify_channels, 64, 0, 10000, 0);
	define_limit("clutch.heartbeat_interval",
				 "How often an agent must give a sign of life.",
				 &clutch_heartbeat_interval, 30, 0, 86400, GUC_UNIT_S);
	define_limit("clutch.default_lease",
				 "Lease of a task accepted without clutch.claim.",
				 &clutch_default_lease, 60, 1, 86400, GUC_UNIT_S);
	define_limit("clutch.aging",
				 "How long a task waits until it counts as one level of priority higher.",
				 &clutch_aging, 60, 0, 7 * 86400, GUC_UNIT_S);
	define_limit("clutch.tick_batch", "Most tasks one tick moves.",
				 &clutch_tick_batch, 1000, 1, 1000000, 0);
	DefineCustomIntVariable("clutch.tick_interval",
							"How often the worker ticks while something waits.", NULL,
							&clutch_tick_interval, 10, 1, 3600,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);

	define_limit("clutch.default_deadline", "How long a request may take that names no deadline.",
				 &clutch_default_deadline, 24 * 3600, 0, 366 * 24 * 3600, GUC_UNIT_S);
	define_failures();

	define_weight("clutch.weight_skill", "Weight of a preferred skill.", &clutch_weight_skill);
	define_weight("clutch.weight_tool", "Weight of a preferred tool.", &clutch_weight_tool);
	define_weight("clutch.weight_tag", "Weight of a preferred tag.", &clutch_weight_tag);
	define_weight("clutch.weight_domain", "Weight of a preferred domain.", &clutch_weight_domain);

	MarkGUCPrefixReserved("clutch");
}
