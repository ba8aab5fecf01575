-- Roles of the compose file's database, created once, when its volume is empty: an owner of the schema, and a role that the gateway runs as,
-- which can change no table and is bound by row-level security. Neither is a superuser, and neither may create roles.
\getenv owner_password PATCHBAY_OWNER_PASSWORD
\getenv runtime_password PATCHBAY_RUNTIME_PASSWORD
create role patchbay_owner login password :'owner_password';
create role patchbay_runtime login password :'runtime_password';
-- What the gateway binds its transactions to: one workspace's rows, or all of them. A start creates these where its owner may create roles.
create role patchbay_tenant_of_patchbay_owner nologin;
create role patchbay_system_of_patchbay_owner nologin;
grant patchbay_tenant_of_patchbay_owner, patchbay_system_of_patchbay_owner to patchbay_owner, patchbay_runtime;
alter database :"DBNAME" owner to patchbay_owner;
revoke all on database :"DBNAME" from public;
grant connect on database :"DBNAME" to patchbay_runtime;
