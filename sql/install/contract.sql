-- --------------------------------------------------------------- contracts
-- The schemas of payloads, by type and version.
CREATE TABLE clutch.payload_type (
	payload_type	text COLLATE "C" NOT NULL,
	version			int NOT NULL CHECK (version > 0),
	schema			jsonb NOT NULL,
	schema_id		text COLLATE "C",		-- the URI of its $id
	compatibility	text NOT NULL CHECK (compatibility IN ('none', 'backward', 'forward', 'full')),
	enforce			text NOT NULL CHECK (enforce IN ('off', 'workflow', 'always')),
	builtin			boolean NOT NULL DEFAULT false,	-- comes with the extension, and is not dumped
	registered_at	timestamptz NOT NULL,
	registered_by	text NOT NULL,
	CONSTRAINT payload_type_pkey PRIMARY KEY (payload_type, version)
);
COMMENT ON TABLE clutch.payload_type IS
	'the schemas of payloads: each payload type has versions, which never change';
CREATE INDEX payload_type_schema_id ON clutch.payload_type (schema_id, version);

-- Backends cache compiled schemas.
CREATE FUNCTION clutch.payload_type_changed() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_payload_type_changed' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.payload_type_changed() IS
	'trigger: makes every backend read clutch.payload_type again';
CREATE TRIGGER payload_type_changed
	AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON clutch.payload_type
	FOR EACH STATEMENT EXECUTE FUNCTION clutch.payload_type_changed();
ALTER TABLE clutch.payload_type ENABLE ALWAYS TRIGGER payload_type_changed;

CREATE FUNCTION clutch.register_schema(payload_type text, schema jsonb, version int DEFAULT NULL,
		compatibility text DEFAULT 'backward', enforce text DEFAULT 'workflow') RETURNS int
	AS 'MODULE_PATHNAME', 'clutch_register_schema' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.register_schema(text, jsonb, int, text, text) IS
	'registers a JSON Schema for the payloads of a type; returns its version';

CREATE FUNCTION clutch.validate_payload(payload_type text, payload jsonb, version int DEFAULT NULL)
	RETURNS TABLE(path text, schema_path text, code text, message text)
	AS 'MODULE_PATHNAME', 'clutch_validate_payload' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 3;
COMMENT ON FUNCTION clutch.validate_payload(text, jsonb, int) IS
	'the faults of a payload against the schema of its type; no rows: it is valid';

CREATE FUNCTION clutch.schema_of(what text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_schema_of' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION clutch.schema_of(text) IS
	'the newest schema of a payload type, also envelope and agent_card, or the schema that a schema_ref or an $id names';

INSERT INTO clutch.payload_type (payload_type, version, schema, compatibility, enforce, builtin, registered_at, registered_by)
SELECT b.payload_type, 1, b.schema, 'backward', 'workflow', true, now(), 'clutch'
FROM (VALUES
	('research.query.v1', $json${
		"title": "What is to be researched",
		"type": "object",
		"properties": {
			"query": {"type": "string", "minLength": 1},
			"questions": {"type": "array", "items": {"type": "string", "minLength": 1}},
			"max_sources": {"type": "integer", "minimum": 1}
		}
	}$json$::jsonb),
	('research.summary.v1', $json${
		"title": "What research has found",
		"type": "object",
		"required": ["findings", "citations"],
		"properties": {
			"title": {"type": "string"},
			"findings": {"type": "array", "items": {"type": ["string", "object"]}},
			"citations": {"type": "array", "items": {"type": ["string", "object"]}}
		}
	}$json$),
	('research.sources.v1', $json${
		"title": "Sources, and how relevant each of them is",
		"type": "object",
		"required": ["sources", "relevance_scores"],
		"properties": {
			"sources": {"type": "array", "items": {"type": ["string", "object"]}},
			"relevance_scores": {
				"description": "in the order of the sources, or by their names",
				"type": ["array", "object"],
				"items": {"type": "number"},
				"additionalProperties": {"type": "number"}
			}
		}
	}$json$),
	('code.output.v1', $json${
		"title": "Code that was written",
		"type": "object",
		"required": ["files", "language", "tests_passed"],
		"properties": {
			"files": {"type": "array", "items": {"type": ["string", "object"]}},
			"language": {"type": "string", "minLength": 1},
			"tests_passed": {
				"description": "whether all tests passed, or how many did",
				"type": ["boolean", "integer"],
				"minimum": 0
			}
		}
	}$json$),
	('code.review.v1', $json${
		"title": "The review of code",
		"type": "object",
		"required": ["findings", "severity"],
		"properties": {
			"findings": {"type": "array", "items": {"type": ["string", "object"]}},
			"severity": {"type": "string", "minLength": 1},
			"patch_ref": {"type": ["string", "null"]}
		}
	}$json$),
	('review.feedback.v1', $json${
		"title": "The decision of a reviewer",
		"type": "object",
		"required": ["decision", "comments", "blocking_issues"],
		"properties": {
			"decision": {"type": "string", "minLength": 1},
			"comments": {"type": ["string", "array"], "items": {"type": ["string", "object"]}},
			"blocking_issues": {"type": "array", "items": {"type": ["string", "object"]}}
		}
	}$json$)) AS b(payload_type, schema);

-- The schema of schemas, so that a schema can refer to it.  Each vocabulary is
-- an embedded resource under the URI that the standard gives it.
INSERT INTO clutch.payload_type (payload_type, version, schema_id, schema, compatibility, enforce, builtin, registered_at, registered_by)
VALUES ('json_schema.draft_2020_12', 1, 'https://json-schema.org/draft/2020-12/schema', $json${
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"$id": "https://json-schema.org/draft/2020-12/schema",
	"$dynamicAnchor": "meta",
	"title": "A JSON Schema, draft 2020-12",
	"type": ["object", "boolean"],
	"allOf": [{"$ref": "meta/core"}, {"$ref": "meta/applicator"}, {"$ref": "meta/unevaluated"}, {"$ref": "meta/validation"},
		{"$ref": "meta/meta-data"}, {"$ref": "meta/format-annotation"}, {"$ref": "meta/content"}],
	"$defs": {
		"core": {
			"$id": "meta/core", "$dynamicAnchor": "meta", "type": ["object", "boolean"],
			"properties": {
				"$id": {"type": "string", "pattern": "^[^#]*#?$"},
				"$schema": {"type": "string"},
				"$ref": {"type": "string"},
				"$dynamicRef": {"type": "string"},
				"$anchor": {"$ref": "#/$defs/name"},
				"$dynamicAnchor": {"$ref": "#/$defs/name"},
				"$vocabulary": {"type": "object", "additionalProperties": {"type": "boolean"}},
				"$comment": {"type": "string"},
				"$defs": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}}
			},
			"$defs": {"name": {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"}}
		},
		"applicator": {
			"$id": "meta/applicator", "$dynamicAnchor": "meta", "type": ["object", "boolean"],
			"properties": {
				"prefixItems": {"$ref": "#/$defs/list"},
				"items": {"$dynamicRef": "#meta"},
				"contains": {"$dynamicRef": "#meta"},
				"additionalProperties": {"$dynamicRef": "#meta"},
				"properties": {"$ref": "#/$defs/map"},
				"patternProperties": {"$ref": "#/$defs/map", "propertyNames": {"format": "regex"}},
				"dependentSchemas": {"$ref": "#/$defs/map"},
				"propertyNames": {"$dynamicRef": "#meta"},
				"if": {"$dynamicRef": "#meta"},
				"then": {"$dynamicRef": "#meta"},
				"else": {"$dynamicRef": "#meta"},
				"allOf": {"$ref": "#/$defs/list"},
				"anyOf": {"$ref": "#/$defs/list"},
				"oneOf": {"$ref": "#/$defs/list"},
				"not": {"$dynamicRef": "#meta"}
			},
			"$defs": {
				"list": {"type": "array", "minItems": 1, "items": {"$dynamicRef": "#meta"}},
				"map": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}}
			}
		},
		"unevaluated": {
			"$id": "meta/unevaluated", "$dynamicAnchor": "meta", "type": ["object", "boolean"],
			"properties": {
				"unevaluatedItems": {"$dynamicRef": "#meta"},
				"unevaluatedProperties": {"$dynamicRef": "#meta"}
			}
		},
		"validation": {
			"$id": "meta/validation", "$dynamicAnchor": "meta", "type": ["object", "boolean"],
			"properties": {
				"type": {
					"anyOf": [
						{"$ref": "#/$defs/type"},
						{"type": "array", "items": {"$ref": "#/$defs/type"}, "minItems": 1, "uniqueItems": true}
					]
				},
				"const": true,
				"enum": {"type": "array"},
				"multipleOf": {"type": "number", "exclusiveMinimum": 0},
				"maximum": {"type": "number"},
				"exclusiveMaximum": {"type": "number"},
				"minimum": {"type": "number"},
				"exclusiveMinimum": {"type": "number"},
				"maxLength": {"$ref": "#/$defs/count"},
				"minLength": {"$ref": "#/$defs/count"},
				"pattern": {"type": "string", "format": "regex"},
				"maxItems": {"$ref": "#/$defs/count"},
				"minItems": {"$ref": "#/$defs/count"},
				"uniqueItems": {"type": "boolean"},
				"maxContains": {"$ref": "#/$defs/count"},
				"minContains": {"$ref": "#/$defs/count"},
				"maxProperties": {"$ref": "#/$defs/count"},
				"minProperties": {"$ref": "#/$defs/count"},
				"required": {"$ref": "#/$defs/names"},
				"dependentRequired": {"type": "object", "additionalProperties": {"$ref": "#/$defs/names"}}
			},
			"$defs": {
				"count": {"type": "integer", "minimum": 0},
				"type": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
				"names": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}
			}
		},
		"meta-data": {
			"$id": "meta/meta-data", "$dynamicAnchor": "meta", "type": ["object", "boolean"],
			"properties": {
				"title": {"type": "string"},
				"description": {"type": "string"},
				"default": true,
				"deprecated": {"type": "boolean"},
				"readOnly": {"type": "boolean"},
				"writeOnly": {"type": "boolean"},
				"examples": {"type": "array"}
			}
		},
		"format-annotation": {
			"$id": "meta/format-annotation", "$dynamicAnchor": "meta", "type": ["object", "boolean"],
			"properties": {"format": {"type": "string"}}
		},
		"format-assertion": {
			"$id": "meta/format-assertion", "$dynamicAnchor": "meta", "type": ["object", "boolean"],
			"properties": {"format": {"type": "string"}}
		},
		"content": {
			"$id": "meta/content", "$dynamicAnchor": "meta", "type": ["object", "boolean"],
			"properties": {
				"contentEncoding": {"type": "string"},
				"contentMediaType": {"type": "string"},
				"contentSchema": {"$dynamicRef": "#meta"}
			}
		}
	}
}$json$, 'none', 'off', true, now(), 'clutch');

-- The envelope and the AgentCard as schemas, which agree with clutch.validate as
-- far as a schema can express it.  Where "$comment" names a setting, the limit
-- here is the default, and clutch.schema_of replaces it by the value of the
-- setting.  Only this script needs these functions.
CREATE FUNCTION clutch.document_definitions() RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $sql$ SELECT $json${
	"id": {"type": "string", "minLength": 1, "maxLength": 256, "$comment": "clutch.max_id_bytes",
		"pattern": "^[^\\u0001-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$"},
	"string": {"type": "string", "minLength": 1, "maxLength": 4096, "$comment": "clutch.max_string_bytes"},
	"word": {"$ref": "#/$defs/id", "pattern": "^(?!(?:agent:|group:|task:|run:|thread:|artifact:|schema://|mcp:|skill:|tool:))"},
	"thread": {"$ref": "#/$defs/id", "pattern": "^(?:thread:.|(?!(?:agent:|group:|task:|run:|thread:|artifact:|schema://|mcp:|skill:|tool:)))"},
	"run": {"$ref": "#/$defs/id", "pattern": "^(?:run:.|(?!(?:agent:|group:|task:|run:|thread:|artifact:|schema://|mcp:|skill:|tool:)))"},
	"task": {"$ref": "#/$defs/id", "pattern": "^(?:task:.|(?!(?:agent:|group:|task:|run:|thread:|artifact:|schema://|mcp:|skill:|tool:)))"},
	"agent": {"$ref": "#/$defs/id", "pattern": "^agent:."},
	"group": {"$ref": "#/$defs/id", "pattern": "^group:."},
	"member": {"$ref": "#/$defs/id", "pattern": "^(?:agent|group|topic):."},
	"artifact": {"$ref": "#/$defs/id", "pattern": "^artifact:."},
	"server": {"$ref": "#/$defs/id", "pattern": "^mcp:."},
	"tool": {"$ref": "#/$defs/id", "pattern": "^(?:mcp:|tool:)."},
	"capability": {"$ref": "#/$defs/id", "pattern": "^(?:(?:skill:|tool:).|(?!(?:agent:|group:|task:|run:|thread:|artifact:|schema://|mcp:|skill:|tool:)))"},
	"host": {"$ref": "#/$defs/id", "pattern": "^(?:\\*\\.)?[A-Za-z0-9_-]{1,63}(?:\\.[A-Za-z0-9_-]{1,63})*\\.?$|^\\[[0-9A-Fa-f:.]+\\]$"},
	"time": {"$ref": "#/$defs/id", "format": "date-time",
		"pattern": "^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])[Tt](?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60)(?:\\.\\d{1,9})?(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)$"},
	"list": {"type": "array", "maxItems": 64, "$comment": "clutch.max_list"},
	"amount": {"type": "number", "minimum": 0},
	"network": {"enum": ["none", "egress-restricted", "open"]},
	"trust_level": {"enum": ["sandbox", "prod"]},
	"retry": {
		"type": "object", "additionalProperties": false,
		"properties": {
			"max": {"type": "integer", "minimum": 0, "maximum": 1000},
			"initial_ms": {"type": "integer", "minimum": 0, "maximum": 31622400000},
			"max_ms": {"type": "integer", "minimum": 0, "maximum": 31622400000},
			"factor": {"type": "number", "minimum": 1, "maximum": 100}
		}
	}
}$json$::jsonb $sql$;

CREATE FUNCTION clutch.agent_card_schema() RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $sql$ SELECT pg_catalog.jsonb_set(document, '{$defs}', (document -> '$defs') || clutch.document_definitions()) FROM (VALUES ($json${
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"$id": "urn:clutch:agent_card",
	"title": "An AgentCard of clutch/0.1",
	"$ref": "#/$defs/card",
	"required": ["v", "capabilities"],
	"$defs": {
		"card": {
			"description": "a whole card, or the changed fields that an agent.update carries",
			"type": "object", "required": ["agent_id"], "additionalProperties": false,
			"properties": {
				"v": {"const": "clutch/0.1"},
				"agent_id": {"$ref": "#/$defs/agent"},
				"display": {
					"type": "object", "additionalProperties": false,
					"properties": {"name": {"$ref": "#/$defs/string"}, "desc": {"$ref": "#/$defs/string"}}
				},
				"endpoints": {
					"type": "object", "maxProperties": 64, "$comment": "clutch.max_list",
					"additionalProperties": {
						"type": "object", "required": ["url"], "additionalProperties": false,
						"properties": {"url": {"$ref": "#/$defs/string", "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:[^\\u0001-\\u0020\\u007f]+$"}}
					}
				},
				"capabilities": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/offer"}},
				"limits": {
					"type": "object", "additionalProperties": false,
					"properties": {
						"max_concurrency": {"$ref": "#/$defs/count"},
						"max_runtime_sec": {"$ref": "#/$defs/count"},
						"heartbeat_sec": {"$ref": "#/$defs/count"},
						"max_cost": {"$ref": "#/$defs/amount"},
						"max_tokens": {"$ref": "#/$defs/amount"},
						"retry": {"$ref": "#/$defs/retry"}
					}
				},
				"security": {
					"type": "object", "additionalProperties": false,
					"properties": {
						"sandbox": {"type": "boolean"},
						"network": {"$ref": "#/$defs/network"},
						"egress_allowlist": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/host"}},
						"serves": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/member"}},
						"delegates_to": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/member"}}
					}
				},
				"groups": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/group"}},
				"scopes": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/group"}},
				"model": {"$ref": "#/$defs/id"},
				"meta": {"type": "object"}
			}
		},
		"count": {"type": "integer", "minimum": 0, "maximum": 1000000000},
		"offer": {
			"type": "object", "required": ["id"], "additionalProperties": false,
			"properties": {
				"id": {"$ref": "#/$defs/capability", "not": {"pattern": "@"}},
				"version": {"$ref": "#/$defs/id", "description": "a semantic version or a range"},
				"tags": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/word"}},
				"actions": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/word"}},
				"tools": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/server"}},
				"servers": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/server"}},
				"trust_level": {"$ref": "#/$defs/trust_level"},
				"cost_hint": {"enum": ["low", "medium", "high"]}
			}
		}
	}
}$json$::jsonb)) AS d(document) $sql$;

CREATE FUNCTION clutch.envelope_schema() RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $sql$ SELECT pg_catalog.jsonb_set(document, '{$defs}', (document -> '$defs') || clutch.document_definitions()
		|| pg_catalog.jsonb_build_object('agent_card', clutch.agent_card_schema())) FROM (VALUES ($json${
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"$id": "urn:clutch:envelope",
	"title": "An envelope of clutch/0.1, as an agent may send it",
	"type": "object",
	"required": ["v", "id", "ts", "thread_id", "run_id", "task_id", "from", "to", "type", "payload"],
	"additionalProperties": false,
	"properties": {
		"v": {"const": "clutch/0.1"},
		"id": {"$ref": "#/$defs/word"},
		"ts": {"$ref": "#/$defs/time"},
		"thread_id": {"$ref": "#/$defs/thread"},
		"run_id": {"$ref": "#/$defs/run"},
		"task_id": {"$ref": "#/$defs/task"},
		"parent_task_id": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/task"}]},
		"from": {
			"type": "object", "required": ["agent_id"], "additionalProperties": false,
			"properties": {"agent_id": {"$ref": "#/$defs/agent"}, "role": {"$ref": "#/$defs/word"}}
		},
		"to": {
			"type": "array", "minItems": 1, "maxItems": 64, "$comment": "clutch.max_recipients",
			"items": {
				"type": "object", "required": ["agent_id"], "additionalProperties": false,
				"properties": {
					"agent_id": {"$ref": "#/$defs/id", "pattern": "^(?:agent:|group:|topic:)."},
					"role": {"$ref": "#/$defs/word"}
				}
			}
		},
		"type": {"enum": ["task.request", "task.accept", "task.progress", "task.result", "task.error", "task.cancel",
			"chat.message", "chat.system", "tool.call", "tool.result", "tool.error", "agent.register", "agent.heartbeat", "agent.update"]},
		"domain": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/word"}]},
		"payload_type": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/word"}]},
		"schema_ref": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/id", "pattern": "^schema://[^ ]*[^ @]$"}]},
		"payload": {"type": "object"},
		"requires": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/capabilities"}]},
		"prefers": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/capabilities"}]},
		"idempotency_key": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/id"}]},
		"attempt": {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 1, "maximum": 2147483647}]},
		"trace": {
			"type": ["object", "null"], "maxProperties": 64, "$comment": "clutch.max_list",
			"additionalProperties": {"$ref": "#/$defs/string"}
		},
		"attachments": {
			"type": ["array", "null"], "maxItems": 64, "$comment": "clutch.max_list",
			"items": {
				"type": "object", "required": ["kind", "ref"],
				"properties": {"kind": {"$ref": "#/$defs/word"}},
				"if": {"properties": {"kind": {"const": "uri"}}},
				"then": {"properties": {"ref": {"$ref": "#/$defs/string", "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:[^\\u0000-\\u0020\\u007f]+$"}}},
				"else": {"properties": {"ref": {"$ref": "#/$defs/artifact"}}}
			}
		},
		"security": {
			"type": ["object", "null"], "additionalProperties": false,
			"properties": {
				"auth": {
					"type": "object", "required": ["scheme", "kid", "sig"], "additionalProperties": false,
					"properties": {"scheme": {"const": "ed25519"}, "kid": {"$ref": "#/$defs/id"}, "sig": {"$ref": "#/$defs/string"}}
				},
				"policy": {
					"type": "object", "additionalProperties": false,
					"properties": {
						"sandbox": {"type": "boolean"},
						"network": {"$ref": "#/$defs/network"},
						"trust_level": {"$ref": "#/$defs/trust_level"},
						"tool_allowlist": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/tool"}},
						"egress_allowlist": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/host"}}
					}
				}
			}
		},
		"meta": {"type": ["object", "null"], "properties": {"clutch": {"$ref": "#/$defs/orders"}}}
	},
	"allOf": [
		{"if": {"$ref": "#/$defs/is_request"}, "then": {"properties": {"to": {"items": {"properties": {"agent_id": {"pattern": "^(?!topic:|group:\\*$)"}}}}}}},
		{"if": {"$ref": "#/$defs/is_progress"}, "then": {"$ref": "#/$defs/progress"},
			"else": {"properties": {"meta": {"properties": {"clutch": {"properties": {"wait": false, "step": false}}}}}}},
		{"if": {"properties": {"type": {"enum": ["tool.result", "tool.error"]}}, "required": ["type"]},
			"then": {"required": ["meta"], "properties": {"meta": {"type": "object", "required": ["clutch"],
				"properties": {"clutch": {"required": ["reply_to"]}}}}}},
		{"if": {"properties": {"type": {"enum": ["task.error", "tool.error"]}}, "required": ["type"]},
			"then": {"properties": {"payload": {"required": ["code", "message"], "properties": {
				"code": {"$ref": "#/$defs/id"}, "message": {"type": "string", "minLength": 1},
				"retryable": {"type": "boolean"}, "details": {"type": "object"}}}}}},
		{"if": {"properties": {"type": {"const": "tool.call"}}, "required": ["type"]},
			"then": {"properties": {"payload": {"required": ["tool", "args"], "properties": {
				"tool": {"$ref": "#/$defs/tool"}, "args": {"type": "object"}}}}}},
		{"if": {"properties": {"type": {"const": "agent.register"}}, "required": ["type"]},
			"then": {"properties": {"payload": {"$ref": "urn:clutch:agent_card"}}}},
		{"if": {"properties": {"type": {"const": "agent.update"}}, "required": ["type"]},
			"then": {"properties": {"payload": {"$ref": "urn:clutch:agent_card#/$defs/card"}}}},
		{"if": {"properties": {"type": {"const": "agent.heartbeat"}}, "required": ["type"]},
			"then": {"properties": {"payload": {"properties": {
				"status": {"enum": ["INITIALIZING", "READY", "BUSY", "UNAVAILABLE", "STOPPING", "STOPPED"]}}}}}}
	],
	"$defs": {
		"is_request": {"properties": {"type": {"const": "task.request"}}, "required": ["type"]},
		"is_progress": {"properties": {"type": {"const": "task.progress"}}, "required": ["type"]},
		"asks": {"required": ["payload"], "properties": {"payload": {"required": ["state"], "properties": {"state": {"enum": ["input_required", "auth_required"]}}}}},
		"progress": {
			"not": {"required": ["meta"], "properties": {"meta": {"type": "object", "required": ["clutch"], "properties": {"clutch": {"type": "object", "required": ["wait", "step"]}}}}},
			"if": {"$ref": "#/$defs/asks"},
			"then": {"properties": {
				"payload": {"properties": {"deadline": {"$ref": "#/$defs/time"}}},
				"meta": {"properties": {"clutch": {"properties": {"wait": false, "step": false}}}}
			}},
			"else": {
				"if": {"required": ["payload"], "properties": {"payload": {"required": ["state"], "properties": {"state": {"const": "suspended"}}}}},
				"then": {"required": ["meta"], "properties": {"meta": {"type": "object", "required": ["clutch"], "properties": {"clutch": {"required": ["wait"]}}}}}
			}
		},
		"capabilities": {
			"$ref": "#/$defs/list",
			"items": {"$ref": "#/$defs/capability", "not": {"pattern": "^(?!tag:|domain:).+@$"}}
		},
		"children": {
			"anyOf": [{"enum": ["all", "any"]}, {"type": "integer", "minimum": 1, "maximum": 64, "$comment": "clutch.max_list"}]
		},
		"orders": {
			"description": "the only part of meta that the database obeys",
			"type": "object", "additionalProperties": false,
			"properties": {
				"after": {"$ref": "#/$defs/list", "items": {"$ref": "#/$defs/task"}, "uniqueItems": true},
				"answer_to": {"$ref": "#/$defs/word"},
				"budget": {
					"type": "object", "additionalProperties": false,
					"properties": {"cost": {"$ref": "#/$defs/amount"}, "depth": {"$ref": "#/$defs/amount"}, "tasks": {"$ref": "#/$defs/amount"}, "tokens": {"$ref": "#/$defs/amount"}}
				},
				"deadline": {"$ref": "#/$defs/time"},
				"join": {"$ref": "#/$defs/children"},
				"not_before": {"$ref": "#/$defs/time"},
				"priority": {"type": "integer", "minimum": 0, "maximum": 4},
				"reply_to": {"$ref": "#/$defs/word"},
				"retry": {"$ref": "#/$defs/retry"},
				"scope": {"$ref": "#/$defs/group"},
				"step": {
					"type": "object", "required": ["name"], "additionalProperties": false,
					"properties": {"name": {"$ref": "#/$defs/id"}, "output": true}
				},
				"step_of": {"$ref": "#/$defs/word"},
				"ttl_ms": {"type": "integer", "minimum": 1, "maximum": 3153600000000},
				"usage": {
					"type": "object", "additionalProperties": false,
					"properties": {"cost": {"$ref": "#/$defs/amount"}, "input_tokens": {"$ref": "#/$defs/amount"}, "output_tokens": {"$ref": "#/$defs/amount"}}
				},
				"visibility": {"enum": ["public", "scope", "parent-only", "private"]},
				"wait": {
					"type": "object", "minProperties": 1, "additionalProperties": false,
					"properties": {
						"children": {"$ref": "#/$defs/children"},
						"message": {"type": "object"},
						"until": {"$ref": "#/$defs/time"},
						"for_ms": {"type": "integer", "minimum": 1, "maximum": 3153600000000}
					},
					"allOf": [{"not": {"required": ["children", "message"]}}, {"not": {"required": ["until", "for_ms"]}}]
				},
				"workflow": {"$ref": "#/$defs/word"}
			}
		}
	}
}$json$::jsonb)) AS d(document) $sql$;

INSERT INTO clutch.payload_type (payload_type, version, schema_id, schema, compatibility, enforce, builtin, registered_at, registered_by)
VALUES ('agent_card', 1, 'urn:clutch:agent_card', clutch.agent_card_schema(), 'none', 'off', true, now(), 'clutch'),
	('envelope', 1, 'urn:clutch:envelope', clutch.envelope_schema(), 'none', 'off', true, now(), 'clutch');
DROP FUNCTION clutch.envelope_schema(), clutch.agent_card_schema(), clutch.document_definitions();
