/*-------------------------------------------------------------------------
 *
 * match.c
 *	  Finding the agents that have what is required or preferred.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/match.h"

#include "protocol/identifier.h"
#include "semver/version_range.h"

/*
 * Does the version offered satisfy the range?  A capability without a version
 * satisfies only a range that excludes nothing.
 */
static bool
match_version_meets(Slice offered, Slice asked)
{
	if (!slice_present(offered))
		return version_range_is_any(asked);
	return version_range_meets(offered, asked);
}

/* Judges each offered version once, rather than for each agent. */
static bool *
match_judge_versions(const RosterWord *capability, Slice range)
{
	bool	   *met = palloc(capability->nversions * sizeof(bool));
	const RosterWord *version;

	for (version = capability->versions; version != NULL; version = version->next_version)
		met[version->no] = match_version_meets(version->text, range);
	return met;
}

/*
 * Looks up an entry "id" or "id@range".  An entry tool:x is also met by the
 * tool or server mcp:x.
 */
static void
match_look_up(const Roster *roster, Slice entry, Need *need)
{
	Slice		prefix = SLICE_OF("tool:");
	Slice		id;
	Slice		range;

	memset(need, 0, sizeof(*need));
	need->text = entry;
	identifier_split_version(entry, &id, &range);
	need->capability = roster_word(roster, BY_CAPABILITY, id);
	if (need->capability != NULL && slice_present(range))
		need->met = match_judge_versions(need->capability, range);

	/* tools have no versions */
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
	Need	   *needs = palloc(list->n * sizeof(Need));
	int			i;

	for (i = 0; i < list->n; i++)
		match_look_up(roster, list->items[i], &needs[i]);
	return needs;
}

/*
 * Looks up a preference.  tag:x and domain:x ask for a tag, and model:x for a
 * family of models; other entries mean the same as in requires.
 */
static void
match_look_up_preference(const Roster *roster, Slice entry, Need *need)
{
	bool		is_model = slice_starts(entry, SLICE_OF("model:"));
	const char *colon = memchr(entry.s, ':', entry.len);
	Slice		word;

	if (!is_model && !slice_starts(entry, SLICE_OF("tag:")) &&
		!slice_starts(entry, SLICE_OF("domain:")))
	{
		match_look_up(roster, entry, need);
		return;
	}
	memset(need, 0, sizeof(*need));
	need->text = entry;
	word = (Slice) {colon + 1, entry.s + entry.len - (colon + 1)};
	if (is_model)
	{
		need->family = word;
		need->roster = roster;
	}
	else
		need->tag = roster_word(roster, BY_TAG, word);
}

Need *
match_prefers(const Roster *roster, const SliceList *list)
{
	Need	   *needs = palloc(list->n * sizeof(Need));
	int			i;

	for (i = 0; i < list->n; i++)
		match_look_up_preference(roster, list->items[i], &needs[i]);
	return needs;
}

void
match_add_agents(const Need *need, AgentSet *set)
{
	const RosterWord *version;

	if (need->tag != NULL)
		roster_add_agents(need->tag, set);
	if (slice_present(need->family))
		roster_add_agents_of_family(need->roster, need->family, set);
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
	AgentSet   *all;
	int			i;

	if (n == 0)
		return agent_set_all(roster_size(roster));
	all = agent_set_none(roster_size(roster));
	match_add_agents(&needs[0], all);
	for (i = 1; i < n; i++)
	{
		AgentSet   *one = agent_set_none(roster_size(roster));

		match_add_agents(&needs[i], one);
		agent_set_and(all, one);
		pfree(one);
	}
	return all;
}

bool
match_tool(const Need *need, const RosterCapability *capability)
{
	int			i;

	for (i = 0; i < capability->ntools; i++)
	{
		if (capability->tools[i] == need->tool)
			return true;
	}
	return false;
}
