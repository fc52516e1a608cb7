-- The roles and agents of the programs in this folder, as an operator makes them:
-- the role clutch_client asks as agent:shop and works as agent:clerk.
CREATE EXTENSION clutch;
SELECT 'CREATE ROLE clutch_client LOGIN' WHERE to_regrole('clutch_client') IS NULL \gexec
SELECT clutch.grant_agent('clutch_client', 'agent:shop');
SELECT clutch.grant_agent('clutch_client', 'agent:clerk', capabilities => '{skill:orders}');
SELECT clutch.grant_agent('clutch_client', 'agent:graph', capabilities => '{skill:buy, tool:search}');
-- It is a gateway as well (gateway.py), which knows where these hosts are.
SELECT clutch.grant_gateway('clutch_client');
SELECT clutch.set_endpoint_secret('key', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'), clutch.set_endpoint_secret('token', 'Bearer s3cret');
INSERT INTO clutch.endpoint (name, url, agents, signing_secret, auth_secret, first_pause_s) VALUES
	('shop', 'http://shop.example/hook', '{agent:shop}', 'key', 'token', 0),
	('nobody', 'http://127.0.0.1:1/', '{agent:shop}', NULL, NULL, 60);
INSERT INTO clutch.endpoint (name, url, adapter, serves, first_pause_s) VALUES ('far', 'http://shop.example/mcp', 'mcp', 'agent:far', 0);
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:far", "capabilities": [{"id": "skill:sum"}]}');
