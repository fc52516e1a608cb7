-- What the roles of users may do with the objects that are new.
SELECT clutch.grant_again();
