create or replace view reporting.seal_heads as
select seal, until as sealed_until, made_at as sealed_at, head, statement, signature, public_key from recorder.seals
where made_at is not null;

comment on view reporting.seal_heads is 'The chain of seals: a statement over all datasets each, its hash and its signature. Keep one elsewhere.';
comment on column reporting.seal_heads.seal is 'The number of the seal.'; -- integer
comment on column reporting.seal_heads.sealed_until is 'What was recorded before this instant is sealed.'; -- timestamptz
comment on column reporting.seal_heads.sealed_at is 'When it was made.'; -- timestamptz
comment on column reporting.seal_heads.head is 'The sha-256 of the statement, in hex.'; -- text
comment on column reporting.seal_heads.statement is 'The newest head of every dataset, and the head of the seal before.'; -- text
comment on column reporting.seal_heads.signature is 'Ed25519, of the statement; null: no key was given.'; -- bytea
comment on column reporting.seal_heads.public_key is 'The key that the signature is of: SPKI in base64.'; -- text
