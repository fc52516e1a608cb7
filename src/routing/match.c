/*-------------------------------------------------------------------------
 *
 * match.c
 *	  Who has what is required or preferred.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/match.h"

#include "protocol/identifier.h"
#include "semver/version_range.h"

/* a capability without a version meets only a range that excludes nothing */
static bool
version_meets(Slice offered, Slice asked)
{
	if (!slice_present(offered))
		return version_range_is_any(asked);
	return version_range_meets(offered, asked);
}

/* judged once for each version that is offered, not for each agent */
static bool *
judge_versions(const RosterWord *capability, Slice range)
{
	bool	   *met = palloc(Max(capability->nversions, 1) * sizeof(bool));
	const RosterWord *version;

	for (version = capability->versions; version != NULL; version = version->next_version)
		met[version->no] = version_meets(version->text, range);
	return met;
}

/* id, id@range; tool:x is also met by the tool or server mcp:x */
static void
look_up(const Roster *roster, Slice entry, Need *need)
{
	Slice		prefix = SLICE_OF("tool:");
	Slice		id;
	Slice		range;

	memset(need, 0, sizeof(*need));
	need->text = entry;
	identifier_split_version(entry, &id, &range);
	need->capability = roster_word(roster, BY_CAPABILITY, id);
	if (need->capability != NULL && slice_present(range))
		need->met = judge_versions(need->capability, range);

	/* a tool has no version */
	if (slice_starts(id, prefix) &&
		(!slice_present(range) || version_range_is_any(range)))
	{
		char	   *name = psprintf("mcp:%.*s", id.len - prefix.len, id.s + prefix.len);

		need->tool = roster_word(roster, BY_TOOL, slice_of_cstring(name));
	}
}

Need *
match_requires(const Roster *roster, const SliceList *list)
{
	Need	   *needs = palloc(Max(list->n, 1) * sizeof(Need));
	int			i;

	for (i = 0; i < list->n; i++)
		look_up(roster, list->items[i], &needs[i]);
	return needs;
}

/* tag:x and domain:x ask for a tag, anything else as requires does */
static void
look_up_preference(const Roster *roster, Slice entry, Need *need)
{
	const char *colon = memchr(entry.s, ':', entry.len);

	if (!slice_starts(entry, SLICE_OF("tag:")) && !slice_starts(entry, SLICE_OF("domain:")))
	{
		look_up(roster, entry, need);
		return;
	}
	memset(need, 0, sizeof(*need));
	need->text = entry;
	need->tag = roster_word(roster, BY_TAG,
							(Slice) {colon + 1, entry.s + entry.len - (colon + 1)});
}

Need *
match_prefers(const Roster *roster, const SliceList *list)
{
	Need	   *needs = palloc(Max(list->n, 1) * sizeof(Need));
	int			i;

	for (i = 0; i < list->n; i++)
		look_up_preference(roster, list->items[i], &needs[i]);
	return needs;
}

void
match_add_agents(const Need *need, AgentSet *set)
{
	const RosterWord *version;

	if (need->tag != NULL)
		roster_add_agents(need->tag, set);
	if (need->tool != NULL)
		roster_add_agents(need->tool, set);
	if (need->capability == NULL)
		return;
	if (need->met == NULL)
		roster_add_agents(need->capability, set);
	else
	{
		for (version = need->capability->versions; version != NULL;
			 version = version->next_version)
		{
			if (need->met[version->no])
				roster_add_agents(version, set);
		}
	}
}

AgentSet *
match_all(const Roster *roster, const Need *needs, int n)
{
	AgentSet   *all = agent_set_all(roster_size(roster));
	int			i;

	for (i = 0; i < n; i++)
	{
		AgentSet   *one = agent_set_none(roster_size(roster));

		match_add_agents(&needs[i], one);
		agent_set_and(all, one);
		pfree(one);
	}
	return all;
}

bool
match_capability(const Need *need, const RosterCapability *capability)
{
	int			i;

	if (capability->id == need->capability && need->capability != NULL &&
		(need->met == NULL || need->met[capability->version->no]))
		return true;
	for (i = 0; need->tool != NULL && i < capability->ntools; i++)
	{
		if (capability->tools[i] == need->tool)
			return true;
	}
	return false;
}
