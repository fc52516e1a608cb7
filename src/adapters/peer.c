/*-------------------------------------------------------------------------
 *
 * peer.c
 *	  Envelopes from other databases with this extension.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/peer.h"

#define PROTOCOL_PREFIX	"clutch/"

static const char *
peer_declines(const Adapter *self, const Json *raw)
{
	Slice		version = json_get_text(raw, "/v");

	if (!slice_present(version) || !slice_starts(version, SLICE_OF(PROTOCOL_PREFIX)))
		return "it has no member \"v\" that begins with \"" PROTOCOL_PREFIX "\"";
	return json_get(raw, "/type") != NULL ? NULL : "it has no member \"type\"";
}

static bool
peer_is_report(MessageType type)
{
	return type == MSG_TASK_ACCEPT || type == MSG_TASK_PROGRESS || type == MSG_TASK_RESULT || type == MSG_TASK_ERROR ||
		type == MSG_TASK_TIMEOUT;
}

/*
 * Removes what only the original sender could say.  Senders choose their keys
 * independently, so several senders may use the same key, but here, one agent
 * represents them all.  Each database counts attempts for itself.
 */
static void
peer_remove_own(Json *envelope)
{
	json_take(envelope, "/security/auth");
	json_take(envelope, "/idempotency_key");
	if (!peer_is_report(adapter_type(envelope)))
		return;
	json_take(envelope, "/attempt");
	json_take(envelope, "/to");
}

static List *
peer_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = json_copy(raw);
	Slice		speaker = json_get_text(context, "/agent_id");
	Slice		sender = json_get_text(raw, "/from/agent_id");

	/* if "ts" were filled in, a repeated document would not be a duplicate */
	(void) adapter_require_word(self, raw, "/ts");
	if (slice_present(speaker) && slice_present(sender) && !slice_equal(speaker, sender))
		peer_remove_own(envelope);
	if (adapter_member(context, "/to") != NULL)
		json_take(envelope, "/to");
	return list_make1(envelope);
}

/* Returns the envelope, because every envelope is a document. */
static Json *
peer_outbound(const Adapter *self, const Json *envelope)
{
	return json_copy(envelope);
}

const Adapter peer_adapter = {
	.name = "peer",
	.is_ours = true,
	.declines = peer_declines,
	.inbound = peer_inbound,
	.outbound = peer_outbound,
	.tells_ends = ENDS_ALWAYS,
};
