-- The roles and agents of the programs in this folder, as an operator makes them:
-- the role clutch_client asks as agent:shop and works as agent:clerk.
CREATE EXTENSION clutch;
SELECT 'CREATE ROLE clutch_client LOGIN' WHERE to_regrole('clutch_client') IS NULL \gexec
SELECT clutch.grant_agent('clutch_client', 'agent:shop');
SELECT clutch.grant_agent('clutch_client', 'agent:clerk', capabilities => '{skill:orders}');
