create or replace view reporting_internal.seal_heads as
select seal, until as sealed_until, made_at as sealed_at, head, statement, signature, public_key from recorder.seals
where made_at is not null;

comment on view reporting_internal.seal_heads is 'The chain of seals: for each seal, a statement over all datasets, its hash and its signature. Store a recent statement outside of this database.';
comment on column reporting_internal.seal_heads.seal is 'The number of the seal.'; -- integer
comment on column reporting_internal.seal_heads.sealed_until is 'Data that was recorded before this instant is sealed.'; -- timestamptz
comment on column reporting_internal.seal_heads.sealed_at is 'Time at which the seal was made.'; -- timestamptz
comment on column reporting_internal.seal_heads.head is 'The SHA-256 of the statement, in hexadecimal.'; -- text
comment on column reporting_internal.seal_heads.statement is 'The newest head of every dataset, and the head of the previous seal.'; -- text
comment on column reporting_internal.seal_heads.signature is 'Ed25519 signature of the statement. Null: no key was configured.'; -- bytea
comment on column reporting_internal.seal_heads.public_key is 'The public key of the signature: SPKI in base64.'; -- text
