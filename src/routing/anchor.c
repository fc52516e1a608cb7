/*-------------------------------------------------------------------------
 *
 * anchor.c
 *	  The word by which a waiting requirement and an agent find each other.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/anchor.h"

#include "base/order.h"
#include "common/hashfn.h"
#include "lib/qunique.h"
#include "protocol/identifier.h"

/*
 * Words of different kinds have different hashes even if they are spelled
 * alike.
 */
typedef enum AnchorKind
{
	ANCHOR_ANY,
	ANCHOR_AGENT,
	ANCHOR_REQUIRED,			/* a capability, or tool:x */
	ANCHOR_GROUP
} AnchorKind;

static uint64
anchor_hash(AnchorKind kind, Slice word)
{
	return hash_bytes_extended((const unsigned char *) (word.len > 0 ? word.s : ""), word.len,
							   (uint64) kind + 1);
}

uint64
requirement_anchor(const Requirement *requirement)
{
	if (requirement_is_direct(requirement))
		return anchor_hash(ANCHOR_AGENT, requirement->named.items[0]);
	if (requirement->requires.n > 0)
	{
		Slice		id;
		Slice		range;

		identifier_split_version(requirement->requires.items[0], &id, &range);
		return anchor_hash(ANCHOR_REQUIRED, id);
	}
	if (requirement->named.n == 0 && requirement->groups.n == 1)
		return anchor_hash(ANCHOR_GROUP, requirement->groups.items[0]);
	return anchor_hash(ANCHOR_ANY, SLICE_NONE);
}

/*
 * Returns the anchor of a tool.  The tool mcp:x meets the entry tool:x
 * (routing/match.c).
 */
static uint64
anchor_of_tool(Slice tool)
{
	Slice		prefix = SLICE_OF("mcp:");
	char	   *word;
	uint64		anchor;

	word = psprintf("tool:%.*s", tool.len - prefix.len, tool.s + prefix.len);
	anchor = anchor_hash(ANCHOR_REQUIRED, slice_of_cstring(word));
	pfree(word);
	return anchor;
}

int
requirement_anchors_of_agent(const Roster *roster, int ordinal, uint64 **anchors)
{
	const RosterAgent *agent = roster_agent(roster, ordinal);
	const RosterCapability *capabilities = roster_capabilities(roster, ordinal);
	int			room = 2 + agent->card.groups.n;
	int			n = 0;
	int			i;
	int			t;

	for (i = 0; i < agent->card.ncapabilities; i++)
		room += 1 + capabilities[i].ntools;
	*anchors = palloc(room * sizeof(uint64));
	(*anchors)[n++] = anchor_hash(ANCHOR_ANY, SLICE_NONE);
	(*anchors)[n++] = anchor_hash(ANCHOR_AGENT, agent->agent_id);
	for (i = 0; i < agent->card.groups.n; i++)
		(*anchors)[n++] = anchor_hash(ANCHOR_GROUP, agent->card.groups.items[i]);
	for (i = 0; i < agent->card.ncapabilities; i++)
	{
		(*anchors)[n++] = anchor_hash(ANCHOR_REQUIRED, capabilities[i].id->text);
		for (t = 0; t < capabilities[i].ntools; t++)
			if (slice_starts(capabilities[i].tools[t]->text, SLICE_OF("mcp:")))
				(*anchors)[n++] = anchor_of_tool(capabilities[i].tools[t]->text);
	}
	qsort(*anchors, n, sizeof(uint64), order_uint64);
	return (int) qunique(*anchors, n, sizeof(uint64), order_uint64);
}
