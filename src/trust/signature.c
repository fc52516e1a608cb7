/*-------------------------------------------------------------------------
 *
 * signature.c
 *	  Signatures of envelopes.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/canonical.h"
#include "protocol/place.h"
#include "settings.h"
#include "trust/key.h"
#include "trust/principal.h"
#include "trust/signature.h"
#include "utils/timestamp.h"

#define SIGNATURE_TAG		CLUTCH_PROTOCOL " envelope\n"

static const char *const signature_place[] = {"security", "auth", "sig", NULL};

void
signature_append_bytes(StringInfo out, Jsonb *document, ProblemList *list)
{
	enlargeStringInfo(out, VARSIZE(document));
	appendStringInfoString(out, SIGNATURE_TAG);
	appendStringInfoString(out, clutch_audience);
	appendStringInfoCharMacro(out, '\n');
	canonical_append(out, document, CANONICAL_EXACT, signature_place, list);
}

/*
 * Whether the key is valid is revealed only to those who have signed with it.
 * A revoked key cannot sign anything any more, even if the clock has been set
 * back since.
 */
static void
signature_check_key(const Envelope *envelope, const AgentKey *key, SignatureTime at,
					ProblemList *list)
{
	char	   *kid = place_quote(envelope->auth_kid);

	if (at.time >= key->revoked_at || (at.is_now && key->revoked_at != DT_NOEND))
		problem_add(list, "/security/auth/kid", "KEY_REVOKED",
					"The key %s was revoked at %s; sign with another one.",
					kid, timestamptz_to_str(key->revoked_at));
	else if (at.time < key->valid_from || at.time >= key->valid_until)
		problem_add(list, "/security/auth/kid", "KEY_NOT_VALID",
					"The key %s is not valid at this time; sign with another one.", kid);
}

static void
signature_verify(const Envelope *envelope, const uint8 *signature, const AgentKey *key,
				 SignatureTime at, ProblemList *list)
{
	StringInfoData bytes;

	initStringInfo(&bytes);
	signature_append_bytes(&bytes, envelope->doc, list);
	if (list->n > 0)
		return;
	if (crypto_signature_fits(signature, bytes.data, bytes.len, key->public_key))
		signature_check_key(envelope, key, at, list);
	else
		problem_add(list, "/security/auth/sig", "BAD_SIGNATURE",
					"The signature was not made for this envelope with the key %s; "
					"clutch.signing_bytes returns what must be signed.",
					place_quote(envelope->auth_kid));
	pfree(bytes.data);
}

void
signature_check(const Envelope *envelope, SignatureTime at, ProblemList *list)
{
	uint8		signature[CRYPTO_SIGNATURE_BYTES];
	AgentKey	key;

	if (crypto_decode_base64(envelope->auth_sig, signature,
							 CRYPTO_SIGNATURE_BYTES) != CRYPTO_SIGNATURE_BYTES)
		problem_add(list, "/security/auth/sig", "WRONG_FORMAT",
					"\"sig\" must be the %d bytes of a signature in base64.",
					CRYPTO_SIGNATURE_BYTES);
	else if (!key_find(envelope->from_agent, envelope->auth_kid, &key))
		problem_add(list, "/security/auth/kid", "UNKNOWN_KEY",
					"%s has no public key %s; an operator adds it by clutch.add_key.",
					place_quote(envelope->from_agent), place_quote(envelope->auth_kid));
	else
		signature_verify(envelope, signature, &key, at, list);
}

bool
signature_is_fresh(const Envelope *envelope, TimestampTz at)
{
	int64		skew = clutch_signature_skew * USECS_PER_SEC;

	return envelope->ts >= at - skew && envelope->ts <= at + skew;
}

bool
signature_is_required(Slice agent_id, uint32 bit)
{
	if (clutch_require_signature == SIGNATURE_OFF || (clutch_signed_types & bit) == 0 ||
		principal_is_operator(principal_role()))
		return false;
	return clutch_require_signature == SIGNATURE_ALWAYS || key_agent_has_had_one(agent_id);
}
