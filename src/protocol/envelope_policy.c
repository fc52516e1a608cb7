/*-------------------------------------------------------------------------
 *
 * envelope_policy.c
 *	  "security": the signature of an envelope, and the policy for its handling.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/envelope_part.h"
#include "protocol/host.h"
#include "protocol/level.h"

#define ADVICE	"\"security\" contains only what the database enforces"

enum
{
	SECURITY_AUTH,
	SECURITY_POLICY
};

static const Slice security_names[] = {
	FIELD("auth"),
	FIELD("policy"),
};
static const FieldTable security_fields = FIELD_TABLE(security_names, ADVICE);

enum
{
	AUTH_KID,
	AUTH_SIG,
	AUTH_SCHEME
};

static const Slice auth_names[] = {
	FIELD("kid"),
	FIELD("sig"),
	FIELD("scheme"),
};
static const FieldTable auth_fields = FIELD_TABLE(auth_names, ADVICE);

enum
{
	POLICY_NETWORK,
	POLICY_SANDBOX,
	POLICY_TRUST_LEVEL,
	POLICY_TOOL_ALLOWLIST,
	POLICY_EGRESS_ALLOWLIST
};

static const Slice policy_names[] = {
	FIELD("network"),
	FIELD("sandbox"),
	FIELD("trust_level"),
	FIELD("tool_allowlist"),
	FIELD("egress_allowlist"),
};
static const FieldTable policy_fields = FIELD_TABLE(policy_names, ADVICE);

static const char *const auth_schemes[] = {"ed25519", NULL};

/* Checks only the form of the signature; trust/ verifies it. */
static void
envelope_read_auth(const JsonbValue *auth, const DocumentPlace *place, Envelope *envelope,
				   ProblemList *list)
{
	Fields		f;

	envelope->is_signed = true;
	if (!fields_open(&f, &auth_fields, auth, place, list))
		return;
	(void) fields_word(&f, AUTH_SCHEME, REQUIRED, auth_schemes);
	envelope->auth_kid = fields_text(&f, AUTH_KID, REQUIRED, TEXT_ID);
	envelope->auth_sig = fields_text(&f, AUTH_SIG, REQUIRED, TEXT_STRING);
}

static void
envelope_read_policy(const JsonbValue *value, const DocumentPlace *place, MessagePolicy *policy,
					 ProblemList *list)
{
	Fields		f;
	int			level;

	if (!fields_open(&f, &policy_fields, value, place, list))
		return;
	(void) fields_bool(&f, POLICY_SANDBOX, OPTIONAL, &policy->sandbox);
	if ((level = fields_word(&f, POLICY_NETWORK, OPTIONAL, level_network)) >= 0)
		policy->network = level;
	if ((level = fields_word(&f, POLICY_TRUST_LEVEL, OPTIONAL, level_trust)) >= 0)
		policy->trust = level;
	policy->has_allowlist = fields_present(&f, POLICY_TOOL_ALLOWLIST);
	fields_identifiers(&f, POLICY_TOOL_ALLOWLIST, OPTIONAL, ID_TOOL, &policy->tool_allowlist);
	policy->has_egress = fields_present(&f, POLICY_EGRESS_ALLOWLIST);
	host_read_patterns(&f, POLICY_EGRESS_ALLOWLIST, &policy->egress_allowlist);
}

void
envelope_read_security(const JsonbValue *security, const DocumentPlace *place,
					   Envelope *envelope, ProblemList *list)
{
	Fields		f;
	DocumentPlace auth;
	DocumentPlace policy;

	if (!fields_open(&f, &security_fields, security, place, list))
		return;
	auth = fields_place(&f, SECURITY_AUTH);
	policy = fields_place(&f, SECURITY_POLICY);
	if (fields_present(&f, SECURITY_AUTH))
		envelope_read_auth(&f.values[SECURITY_AUTH], &auth, envelope, list);
	if (fields_present(&f, SECURITY_POLICY))
		envelope_read_policy(&f.values[SECURITY_POLICY], &policy, &envelope->policy, list);
}
