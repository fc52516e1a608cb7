/*-------------------------------------------------------------------------
 *
 * settings_trust.c
 *	  Settings for signatures.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "compat.h"
#include "protocol/message_type.h"
#include "settings.h"
#include "utils/guc.h"

/*
 * The audience that signatures for this database name, in addition to the
 * protocol.  If several databases use the same keys, each should have a
 * different audience, so that an envelope signed for one of them is refused by
 * the others.
 */
char	   *clutch_audience = NULL;

/*
 * How far, in seconds, the time of an envelope may differ from the time when
 * it is received, in either direction, if only the signature authenticates its
 * sender.
 */
int			clutch_signature_skew = 300;

/*
 * Whether a role that speaks for an agent may send the types in
 * clutch.signed_types without a signature.  "off": it may.  "keyed": only for
 * agents that have never had a key.  "always": it may not.  Operators always may.
 */
int			clutch_require_signature = SIGNATURE_OFF;

static char *settings_trust_signed_types = NULL;
uint32		clutch_signed_types = 0;

/*
 * Whether a role that speaks for an agent may add keys for it.  Revoking a key
 * needs no permission.
 */
bool		clutch_agents_add_keys = false;

static const struct config_enum_entry settings_trust_required[] = {
	{"off", SIGNATURE_OFF, false},
	{"keyed", SIGNATURE_KEYED, false},
	{"always", SIGNATURE_ALWAYS, false},
	{NULL, 0, false}
};

/* The audience is one line of the text that is signed. */
static bool
settings_trust_check_audience(char **newval, void **extra, GucSource source)
{
	const char *c;

	for (c = *newval; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
		{
			GUC_check_errdetail("The value may contain printable characters of ASCII only.");
			return false;
		}
	return true;
}

/*
 * Returns the bit for a type listed in clutch.signed_types, or 0 if there is
 * no such type.
 */
static uint32
settings_trust_type_bit(Slice word)
{
	MessageType type = message_type_parse(word);

	if (slice_equal(word, SLICE_OF("answer")))
		return SIGNED_ANSWERS;
	return type == MSG_UNKNOWN || message_type_is_internal(type) ? 0 : SIGNED_TYPE(type);
}

static bool
settings_trust_check_types(char **newval, void **extra, GucSource source)
{
	const char *at = *newval;
	uint32		types = 0;

	while (*(at += strspn(at, " ,")) != '\0')
	{
		Slice		word = {at, strcspn(at, " ,")};
		uint32		bit = settings_trust_type_bit(word);

		if (bit == 0)
		{
			GUC_check_errdetail("\"%.*s\" is neither \"answer\" nor a message type that agents send.", word.len, word.s);
			return false;
		}
		types |= bit;
		at += word.len;
	}
	*extra = setting_extra_alloc_compat(sizeof(uint32));
	if (*extra == NULL)
		return false;
	*(uint32 *) *extra = types;
	return true;
}

static void
settings_trust_assign_types(const char *newval, void *extra)
{
	clutch_signed_types = *(uint32 *) extra;
}

void
settings_define_trust(void)
{
	DefineCustomStringVariable("clutch.audience",
							   "Sets the name of this database, which is a part of what agents sign.",
							   "Give each database a name of its own if agents use the same keys in several.",
							   &clutch_audience, "",
							   PGC_SUSET, 0, settings_trust_check_audience, NULL, NULL);
	DefineCustomIntVariable("clutch.signature_skew",
							"Sets how far the time of a signed envelope may be from the time of its receipt.",
							"Applies only to senders that are identified by nothing but the signature.",
							&clutch_signature_skew, 300, 1, 86400,
							PGC_SUSET, GUC_UNIT_S, NULL, NULL, NULL);
	DefineCustomEnumVariable("clutch.require_signature",
							 "Selects which agents must sign the types of clutch.signed_types.",
							 NULL, &clutch_require_signature, SIGNATURE_OFF,
							 settings_trust_required, PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("clutch.signed_types",
							   "Lists the message types for which clutch.require_signature holds.",
							   "Separated by commas; \"answer\" is the answer to a question.",
							   &settings_trust_signed_types,
							   "agent.register, agent.update, task.cancel, answer",
							   PGC_SUSET, 0, settings_trust_check_types,
							   settings_trust_assign_types, NULL);
	DefineCustomBoolVariable("clutch.agents_add_keys",
							 "Lets the roles of agents add keys of their agents.", NULL,
							 &clutch_agents_add_keys, false,
							 PGC_SUSET, 0, NULL, NULL, NULL);
}
