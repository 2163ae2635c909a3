import { incoming, rowColumns, sameKey, type WriteHistory } from './writing.ts';

/**
 * `ledger`: a reading that says the same as the last one lengthens its interval; another state or error ends it at
 * this reading and begins a new one. Time in which nobody looked for longer than a state may be believed becomes an
 * interval of its own, `unknown`, with no probes in it.
 */
export const writeLedger: WriteHistory = (statement, dataset, at) => {
  const table = `recorder.${dataset.name}`;
  const names = rowColumns(dataset);
  const list = names.join(', ');
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  const late = statement.param('boolean', (write) => write.late);
  const believed = statement.param('double precision', (write) => write.believedFor / 1000);
  const unknown = names.map((name) => {
    if (dataset.key.includes(name)) return name;
    if (name === 'state') return `'unknown'`;
    return name === 'error' ? `'nobody looked'` : 'null';
  });
  return {
    ctes: [
      // Intervals never run backwards, even if the clock does: one turns into the next where it ended, or later.
      `latest_${at} as materialized (
        select n.*, o.id as o_id, o.ended_at as o_ended, f.run_id as by_run,
          o.state = n.state and o.error is not distinct from n.error as same,
          o.state = 'unknown' or ${observedAt} <= o.ended_at + make_interval(secs => ${believed}) as unbroken,
          greatest(${observedAt}, o.ended_at, o.started_at + interval '1 microsecond') as turn
        from fence f, (${incoming(statement, dataset, at)}) n
        left join lateral (
          select id, state, error, started_at, ended_at from ${table} o where ${sameKey(dataset, 'o', 'n')}
          order by started_at desc, id desc limit 1) o on true
        where not (${late} and o.id is not null and o.ended_at > ${observedAt}))`,
      `lengthened_${at} as (
        update ${table} o set probes = o.probes + l.same::int,
          ended_at = case when l.same then greatest(o.ended_at, ${observedAt}) else l.turn end
        from latest_${at} l where o.id = l.o_id and l.unbroken returning 1)`,
      `unseen_${at} as (
        insert into ${table} (${list}, started_at, ended_at, probes, run_id)
        select ${unknown.join(', ')}, o_ended, turn, 0, by_run
        from latest_${at} where o_id is not null and not unbroken returning 1)`,
      `written_${at} as (
        insert into ${table} (${list}, started_at, ended_at, probes, run_id)
        select ${list}, turn, turn, 1, by_run
        from latest_${at} where o_id is null or not (unbroken and same) returning 1)`,
    ],
    written: `((select count(*) from written_${at}) + (select count(*) from unseen_${at}))`,
  };
};
