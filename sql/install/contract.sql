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

-- Backends remember compiled schemas.
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
	'the newest schema of a payload type, or the schema that a schema_ref or an $id names';

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
-- an embedded resource, under the URI that the standard gives it.
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
