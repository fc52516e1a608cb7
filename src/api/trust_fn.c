/*-------------------------------------------------------------------------
 *
 * trust_fn.c
 *	  The SQL functions canonical, signing_bytes, ed25519_verify, add_key,
 *	  revoke_key and check_signature.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "base/clock.h"
#include "compat.h"
#include "flow/restored.h"
#include "protocol/canonical.h"
#include "protocol/envelope.h"
#include "protocol/place.h"
#include "protocol/value.h"
#include "settings.h"
#include "store/audit.h"
#include "trust/key.h"
#include "trust/principal.h"
#include "trust/signature.h"
#include "trust/traffic.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(clutch_canonical);
PG_FUNCTION_INFO_V1(clutch_signing_bytes);
PG_FUNCTION_INFO_V1(clutch_ed25519_verify);
PG_FUNCTION_INFO_V1(clutch_add_key);
PG_FUNCTION_INFO_V1(clutch_revoke_key);
PG_FUNCTION_INFO_V1(clutch_keys_changed);
PG_FUNCTION_INFO_V1(clutch_principals_changed);
PG_FUNCTION_INFO_V1(clutch_check_signature);

/* --------------------------------------------------------------- documents */

Datum
clutch_canonical(PG_FUNCTION_ARGS)
{
	ProblemList *list = problem_list();
	StringInfoData out;

	initStringInfo(&out);
	canonical_append(&out, PG_GETARG_JSONB_P(0), CANONICAL_ROUNDED, NULL, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "document");
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}

Datum
clutch_signing_bytes(PG_FUNCTION_ARGS)
{
	ProblemList *list = problem_list();
	StringInfoData out;

	initStringInfo(&out);
	signature_append_bytes(&out, PG_GETARG_JSONB_P(0), list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "envelope");
	PG_RETURN_BYTEA_P(cstring_to_text_with_len(out.data, out.len));
}

Datum
clutch_ed25519_verify(PG_FUNCTION_ARGS)
{
	bytea	   *message = PG_GETARG_BYTEA_PP(0);
	bytea	   *signature = PG_GETARG_BYTEA_PP(1);
	bytea	   *key = PG_GETARG_BYTEA_PP(2);

	PG_RETURN_BOOL(VARSIZE_ANY_EXHDR(signature) == CRYPTO_SIGNATURE_BYTES &&
				   VARSIZE_ANY_EXHDR(key) == CRYPTO_PUBLIC_KEY_BYTES &&
				   crypto_signature_fits((uint8 *) VARDATA_ANY(signature), VARDATA_ANY(message),
										 VARSIZE_ANY_EXHDR(message), (uint8 *) VARDATA_ANY(key)));
}

/* -------------------------------------------------------------------- keys */

static Slice
key_argument_agent(FunctionCallInfo fcinfo)
{
	Slice		agent_id = argument_text(fcinfo, 0, "agent_id");

	if (!slice_starts(agent_id, SLICE_OF("agent:")) || agent_id.len == strlen("agent:"))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("agent_id", "WRONG_PREFIX"),
				 errmsg("invalid agent ID %s", place_quote(agent_id)),
				 errhint("An agent ID begins with \"agent:\", like \"agent:researcher\".")));
	return agent_id;
}

static Slice
key_argument_kid(FunctionCallInfo fcinfo)
{
	Slice		kid = argument_text(fcinfo, 1, "kid");

	if (kid.len == 0 || kid.len > clutch_limits.max_id_bytes || identifier_find_control(kid) >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("kid", "WRONG_FORMAT"),
				 errmsg("invalid name %s of a key", place_quote(kid)),
				 errhint("Use between 1 and %d bytes without control characters, such as \"key_01\".", clutch_limits.max_id_bytes)));
	return kid;
}

static void
key_argument_bytes(FunctionCallInfo fcinfo, AgentKey *key)
{
	bytea	   *bytes = argument_bytes(fcinfo, 2, "public_key");

	if (VARSIZE_ANY_EXHDR(bytes) == CRYPTO_PUBLIC_KEY_BYTES)
		memcpy(key->public_key, VARDATA_ANY(bytes), CRYPTO_PUBLIC_KEY_BYTES);
	if (VARSIZE_ANY_EXHDR(bytes) != CRYPTO_PUBLIC_KEY_BYTES ||
		!crypto_public_key_is_sound(key->public_key))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("public_key", "WRONG_FORMAT"),
				 errmsg("the public key is not one of Ed25519"),
				 errhint("Pass the %d bytes of the key as bytea. If the key is in base64, use decode(key, 'base64'); in a DER file, the key is at the end.", CRYPTO_PUBLIC_KEY_BYTES)));
}

static void
key_argument_times(FunctionCallInfo fcinfo, AgentKey *key)
{
	key->added_at = clock_now();
	key->valid_from = argument_is_null(fcinfo, 3) ? key->added_at : PG_GETARG_TIMESTAMPTZ(3);
	key->valid_until = argument_is_null(fcinfo, 4) ? DT_NOEND : PG_GETARG_TIMESTAMPTZ(4);
	key->revoked_at = DT_NOEND;
	if (key->valid_until <= key->valid_from)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("valid_until", "WRONG_VALUE"),
				 errmsg("the key would never be valid: \"valid_until\" must be later than \"valid_from\"")));
}

/*
 * Raises an error unless the role may add a key.  Whoever adds a key can speak
 * for the agent from then on.
 */
static void
require_right_to_add(Slice agent_id)
{
	if (principal_is_operator(principal_role()))
		return;
	if (!clutch_agents_add_keys)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("", "NOT_AN_OPERATOR"),
				 errmsg("only an operator may add a key"),
				 errhint("Ask an operator to add it, or a superuser to set clutch.agents_add_keys, which lets the roles of agents add keys.")));
	principal_require(agent_id, "agent_id");
}

static void
append_audit(const char *what, Slice agent_id, Slice kid, const AgentKey *key)
{
	DocumentBuilder b;

	audit_begin(&b);
	document_put_text(&b, "agent_id", agent_id);
	document_put_text(&b, "kid", kid);
	if (key != NULL)
	{
		document_put_cstring(&b, "public_key",
							 crypto_encode_base64(key->public_key, CRYPTO_PUBLIC_KEY_BYTES));
		if (!TIMESTAMP_NOT_FINITE(key->valid_from))
			document_put_timestamp(&b, "valid_from", key->valid_from);
		if (!TIMESTAMP_NOT_FINITE(key->valid_until))
			document_put_timestamp(&b, "valid_until", key->valid_until);
	}
	(void) audit_append(what, document_end(&b));
}

Datum
clutch_add_key(PG_FUNCTION_ARGS)
{
	Slice		agent_id = key_argument_agent(fcinfo);
	Slice		kid = key_argument_kid(fcinfo);
	AgentKey	key;

	key_argument_bytes(fcinfo, &key);
	key_argument_times(fcinfo, &key);
	require_right_to_add(agent_id);
	(void) restored_epoch();
	if (key_add(agent_id, kid, &key, PG_ARGISNULL(3), PG_ARGISNULL(4)))
	{
		traffic_add_command(true);
		append_audit(AUDIT_KEY_ADDED, agent_id, kid, &key);
	}
	PG_RETURN_VOID();
}

/*
 * Whoever speaks for the agent may revoke its keys, because that gives nobody
 * any rights.
 */
Datum
clutch_revoke_key(PG_FUNCTION_ARGS)
{
	Slice		agent_id = key_argument_agent(fcinfo);
	Slice		kid = argument_text(fcinfo, 1, "kid");

	principal_require(agent_id, "agent_id");
	(void) restored_epoch();
	if (key_revoke(agent_id, kid, clock_now()))
	{
		traffic_add_command(false);
		append_audit(AUDIT_KEY_REVOKED, agent_id, kid, NULL);
	}
	PG_RETURN_VOID();
}

/* Tells all backends, which cache the keys, that SQL has changed the table. */
Datum
clutch_keys_changed(PG_FUNCTION_ARGS)
{
	argument_require_trigger(fcinfo, "keys_changed");
	key_announce();
	PG_RETURN_POINTER(NULL);
}

/*
 * Tells all backends, which cache which role speaks for which agent, that SQL
 * has changed that.
 */
Datum
clutch_principals_changed(PG_FUNCTION_ARGS)
{
	argument_require_trigger(fcinfo, "principals_changed");
	principal_announce();
	PG_RETURN_POINTER(NULL);
}

/* --------------------------------------------------------------- signatures */

static void
check_document(Jsonb *document, SignatureTime at, ProblemList *list)
{
	Envelope	envelope;

	envelope_read_admitted(document, &envelope, list);
	if (list->n > 0)
		return;
	if (envelope.is_signed)
		signature_check(&envelope, at, list);
	else
		problem_add(list, "/security/auth", "REQUIRED", "The envelope is not signed.");
}

/*
 * This must not be strict, because for an SQL NULL it would return no rows,
 * which means that the signature is valid.
 */
Datum
clutch_check_signature(PG_FUNCTION_ARGS)
{
	ProblemList *list = problem_list_admitted();

	if (argument_is_null(fcinfo, 0))
		problem_add(list, "", "NULL_VALUE", "The envelope is null.");
	else
		check_document(PG_GETARG_JSONB_P(0), argument_is_null(fcinfo, 1) ? (SignatureTime) {clock_now(), true} :
					   (SignatureTime) {PG_GETARG_TIMESTAMPTZ(1), false}, list);
	result_put_problems(fcinfo, list);
	return (Datum) 0;
}
