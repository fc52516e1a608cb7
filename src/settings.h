/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  Every clutch.* setting.  What each means: settings.c, docs/operations.md.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SETTINGS_H
#define CLUTCH_SETTINGS_H

typedef enum NotifyMode
{
	NOTIFY_OFF,
	NOTIFY_TRANSACTION,
	NOTIFY_WORKER
} NotifyMode;

/* names */
extern char *clutch_orchestrator;

/* limits of a document */
extern int	clutch_max_envelope_bytes;
extern int	clutch_max_depth;
extern int	clutch_max_nodes;
extern int	clutch_max_id_bytes;
/* what it may be set to: three of them fit into one entry of a btree (2704 bytes) */
#define MAX_ID_BYTES	880
extern int	clutch_max_string_bytes;
extern int	clutch_max_recipients;
extern int	clutch_max_list;

/* routing */
extern int	clutch_decision_candidates;
extern int	clutch_exact_load_candidates;
extern double clutch_weight_skill;
extern double clutch_weight_tool;
extern double clutch_weight_tag;
extern double clutch_weight_domain;

/* delivery */
extern int	clutch_notify;
extern int	clutch_notify_channels;
extern int	clutch_heartbeat_interval;	/* seconds */
extern int	clutch_default_lease;	/* seconds */
extern int	clutch_aging;		/* seconds; 0: off */
extern int	clutch_tick_batch;
extern int	clutch_tick_interval;	/* seconds */
extern int	clutch_default_deadline;	/* seconds; 0: none */

/* failures */
extern char *clutch_retryable_errors;
extern int	clutch_retry_max;
extern int	clutch_retry_initial;	/* milliseconds */
extern int	clutch_retry_max_delay; /* milliseconds */
extern double clutch_retry_factor;
extern int	clutch_max_lease_losses;
extern int	clutch_breaker_failures;
extern int	clutch_breaker_reset;	/* seconds */
extern int	clutch_breaker_probes;

/* tests */
extern char *clutch_clock;

extern void settings_define(void);

#endif							/* CLUTCH_SETTINGS_H */
