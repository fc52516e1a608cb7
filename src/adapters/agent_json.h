/*-------------------------------------------------------------------------
 *
 * agent_json.h
 *	  The adapter for spec 002: agent.json, and registries of such agents.
 *
 * Each agent becomes an agent.register whose payload is the AgentCard that
 * adapters/card makes from it.  An envelope of any other type becomes the
 * agent.json of its sender, and the carrier holds the rest of the envelope.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENT_JSON_H
#define CLUTCH_AGENT_JSON_H

#include "adapters/adapter.h"

extern const Adapter agent_json_adapter;

#endif							/* CLUTCH_AGENT_JSON_H */
