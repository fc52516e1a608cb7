/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  The clutch.* settings, as C variables.  settings.c and docs/operations.md
 *	  explain them.
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

/* the limits on documents, from the settings clutch.max_* */
typedef struct Limits
{
	int			max_envelope_bytes;
	int			max_depth;
	int			max_nodes;
	int			max_id_bytes;
	int			max_string_bytes;
	int			max_recipients;
	int			max_list;
	bool		any_character;	/* not a setting: identifiers may contain
								 * control characters */
} Limits;

extern Limits clutch_limits;

/*
 * the limits on documents that were admitted before, which no setting raises
 */
extern const Limits clutch_limits_admitted;

/*
 * upper limit of max_id_bytes: an entry of a btree (2704 bytes) must hold
 * three IDs
 */
#define MAX_ID_BYTES	880

/* upper limit of max_depth */
#define MAX_DEPTH		1024

/* schemas */
extern int	clutch_max_schema_bytes;
extern int	clutch_max_schema_depth;
extern int	clutch_max_schema_keywords;
extern int	clutch_max_schema_patterns;
extern int	clutch_max_pattern_bytes;
extern int	clutch_max_schema_steps;
extern int	clutch_max_schema_recursion;
extern bool clutch_assert_formats;

/* routing */
extern int	clutch_decision_candidates;
extern int	clutch_exact_load_candidates;
extern double clutch_weight_skill;
extern double clutch_weight_tool;
extern double clutch_weight_tag;
extern double clutch_weight_domain;

/* work and notification */
extern int	clutch_notify;
extern int	clutch_notify_channels;
extern int	clutch_heartbeat_interval;	/* seconds */
extern int	clutch_default_lease;	/* seconds */
extern int	clutch_aging;		/* seconds; 0 if off */
extern int	clutch_claim_timeout;	/* seconds; 0 if never */
extern int	clutch_max_waiting_kinds;
extern int	clutch_max_contract_faults;
extern int	clutch_tick_batch;
extern int	clutch_tick_interval;	/* seconds */
extern int	clutch_default_deadline;	/* seconds; 0 if none */

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

/* retention */
extern bool clutch_prune_unread;
extern char *clutch_retention;
extern int64 clutch_retention_time;	/* clutch_retention in microseconds; 0 if
									 * off */

/* proofs */
extern int	clutch_seal_interval;	/* seconds; 0 if ticks do not seal */
extern char *clutch_log_origin;
extern bool clutch_allow_ddl;
/* signatures: settings_trust.c */
typedef enum SignatureNeed
{
	SIGNATURE_OFF,
	SIGNATURE_KEYED,
	SIGNATURE_ALWAYS
} SignatureNeed;

#define SIGNED_TYPE(type)	(UINT32_C(1) << (type)) /* bit for a MessageType */
#define SIGNED_ANSWERS		(UINT32_C(1) << 31)

extern char *clutch_audience;
extern int	clutch_signature_skew;	/* seconds */
extern int	clutch_require_signature;	/* a SignatureNeed */
extern uint32 clutch_signed_types;	/* a set of SIGNED_* bits */
extern bool clutch_agents_add_keys;

/* artifacts */
typedef enum DanglingMode
{
	DANGLING_ALLOW,
	DANGLING_REFUSE
} DanglingMode;

extern int	clutch_max_artifact_size;	/* megabytes */
extern int	clutch_max_body_size;	/* megabytes */
extern int	clutch_artifact_grace;	/* seconds */
extern int	clutch_outbox_keep;	/* seconds */
extern int	clutch_dangling_artifacts;

/* tests */
extern char *clutch_clock;

extern void settings_define(void);

/* only for settings*.c: the parts of settings_define */
extern void settings_define_data(void);
extern void settings_define_schemas(void);
extern void settings_define_trust(void);
extern void settings_define_integer(const char *name, const char *what, int *variable, int boot,
									int least, int most, int flags);

#endif							/* CLUTCH_SETTINGS_H */
