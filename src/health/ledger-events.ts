import { changeSelectSql } from '../recording/histories/changes.ts';

const KEY = ['observer', 'node', 'probe', 'check_name'];
const same = (left: string, right: string) =>
  `(${KEY.map((name) => `${left}.${name}`).join(', ')}) = (${KEY.map((name) => `${right}.${name}`).join(', ')})`;
const keyOf = (row: string) =>
  `jsonb_build_object(${KEY.map((name) => `'${name}', ${row}.${name}`).join(', ')}, 'started_at', ${row}.at)`;
const content = (row: string) =>
  `jsonb_build_object('state', ${row}.state, 'error', ${row}.error, 'message', ${row}.message::jsonb)`;

/**
 * SQL of the changes of a batch to the ledger (`changeSelectSql`): new states, probes that are no longer
 * watched, and withdrawn states. Rewritten identical rows are no change. The SQL reads the CTEs of
 * `writeLedger`.
 */
export const ledgerEvents = `${changeSelectSql({
  changes: 'count(*)',
  turns: `jsonb_agg(jsonb_build_object('change', e.change, 'at', e.at, 'key', e.key, 'content', e.content) order by e.at, e.key ->> 'node', e.key ->> 'probe', e.key ->> 'check_name', e.change)`,
})} from (
      select 'turned' as change, t.at, ${keyOf('t')} as key, ${content('t')} as content from transition t
      where t.state is not null and not exists (
        select from cut c where ${same('c', 't')} and c.started_at = t.at and c.state = t.state
          and c.error is not distinct from t.error and c.message is not distinct from t.message::jsonb)
      union all
      select 'unwatched', t.at, ${keyOf('t')}, null from transition t
      where t.state is null and exists (select from closed c where ${same('c', 't')})
      union all
      select 'withdrawn', c.at, ${keyOf('c')}, null from (select c.*, c.started_at as at from cut c) c
      where not exists (select from transition t where ${same('c', 't')} and t.at = c.started_at and t.state is not null)
    ) e having count(*) > 0`;
