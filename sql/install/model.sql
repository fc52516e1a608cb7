-- ---------------------------------------------------------------- models
-- Prompts for language models, and their answers.
CREATE FUNCTION clutch.prompt(envelope jsonb, model_family text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_prompt' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.prompt(jsonb, text) IS
	'the body of a request to a language model about an envelope, whose payload is fenced';

CREATE FUNCTION clutch.model_message(raw jsonb, model_family text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_model_message' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.model_message(jsonb, text) IS
	'translates the answer of a language model into a message of multiagent-1.0';

CREATE FUNCTION clutch.from_model(raw jsonb, model_family text, context jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_from_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.from_model(jsonb, text, jsonb) IS
	'translates the answer of a language model into an envelope, with the task, run and thread of the context; nothing is sent';

CREATE FUNCTION clutch.from_model(raw jsonb, model_family text) RETURNS jsonb
	LANGUAGE sql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$SELECT clutch.from_model($1, $2, '{}')$$;
COMMENT ON FUNCTION clutch.from_model(jsonb, text) IS
	'translates the answer of a language model into an envelope; nothing is sent';
