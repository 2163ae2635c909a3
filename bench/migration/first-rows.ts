/** How much of a record is made, and of which time. */
export interface Size {
  /** Rows in all, about. */
  readonly rows: number;
  readonly until: Date;
  /** The number of the last run that there is already. */
  readonly lastRun: number;
}

/** A statement that writes rows, and what of. */
export interface Written {
  readonly what: string;
  readonly text: string;
}

const DAYS = 30;
const VALIDATORS = 900;
const PEERS = 1_500;
const SUBNET = '11111111111111111111111111111111LpoYY';
const NODES = `(values (0, 'validator-1'), (1, 'validator-2')) node(at, name)`;

/** SQL: a number from 0 that looks like chance, the same in every run. */
const dice = (seed: string, below: number) => `(hashint8((${seed})::bigint) & 2147483647) % ${below}`;
const started = ({ until }: Size) => `(timestamptz '${until.toISOString()}' - interval '${DAYS} days')`;
const share = ({ rows }: Size, part: number, of = 1) => Math.max(1, Math.round((rows * part) / of));

/**
 * SQL that makes the temporary tables `members` (validators and peers), and `looks` at them and at heights, each a run of its own: evenly
 * spread over the days.
 */
export function looks(size: Size, members: readonly string[]): string {
  const feeds: [feed: string, looks: number][] = [
    ['validators', share(size, 0.46, 2 * VALIDATORS)],
    ['peers', share(size, 0.28, 2 * PEERS)],
    ['heights', share(size, 0.01, 2)],
    ['supply', share(size, 0.001, 2)],
  ];
  const every = feeds.map(
    ([feed, count]) => `
    select '${feed}' as feed, node.name as node, ${started(size)} + n * (interval '${DAYS} days' / ${count + 1})
      + (${dice('n * 2 + node.at', 900)}) * interval '1 millisecond' as at
    from generate_series(1, ${count}) n, ${NODES}`,
  );
  const known = members.map((one) => `'${one}'`).join(', ');
  return `
    create temp table members as
      select n, coalesce((array[${known}])[n], 'NodeID-' || md5(n::text)) as node_id from generate_series(1, ${PEERS}) n;
    create temp table looks as select ${size.lastRun} + row_number() over (order by at, feed, node) as run_id, l.*
      from (${every.join(' union all ')}) l;
    analyze members; analyze looks`;
}

/** Readings: members come and go, a few texts and numbers cannot be packed, and some have more or fewer digits than others. */
export function readings(size: Size): Written[] {
  const since = `extract(epoch from l.at - ${started(size)}) / 86400`;
  const uptime = `(60 + m.n % 40 + (${since}) * 0.0123)::numeric`;
  const there = (seed: number) => `${dice(`m.n * ${seed} + l.run_id / 200`, 60)} > 0`;
  const more = `case when ${dice('m.n * 1009 + l.run_id', 50_000)} = 0 then '{"more": 1}'::jsonb end`;
  return [
    {
      what: 'validator_uptime',
      text: `insert into recorder.validator_uptime (node, subnet_id, node_id, uptime, connected, extra, observed_at, run_id)
        select l.node, '${SUBNET}', m.node_id, case when ${dice('m.n * 31 + l.run_id', 500)} > 0 then
            case when m.n % 97 = 0 then trim_scale(round(${uptime}, 4)) else round(${uptime}, 4) end end,
          ${dice('m.n * 17 + l.run_id / 50', 40)} > 0, ${more}, l.at, l.run_id
        from looks l join members m on m.n <= ${VALIDATORS} where l.feed = 'validators' and ${there(13)} order by l.run_id`,
    },
    {
      what: 'peer_readings',
      text: `insert into recorder.peer_readings (node, node_id, last_sent, last_received, observed_uptime, extra, observed_at, run_id)
        select l.node, m.node_id, date_trunc('second', l.at - (${dice('m.n + l.run_id', 22)}) * interval '1 second'),
          case when ${dice('m.n * 7 + l.run_id', 300)} > 0 then date_trunc('second', l.at - (${dice('m.n * 3 + l.run_id', 22)}) * interval '1 second') end,
          60 + m.n % 40, ${more}, l.at, l.run_id
        from looks l cross join members m where l.feed = 'peers' and ${there(11)} order by l.run_id`,
    },
    {
      what: 'chain_heights',
      text: `insert into recorder.chain_heights (node, chain, height, observed_at, run_id)
        select node, 'X', 2000000 + run_id / 3, at, run_id from looks where feed = 'heights' order by run_id`,
    },
    {
      what: 'current_supply',
      text: `insert into recorder.current_supply (node, subnet_id, supply, height, observed_at, run_id)
        select node, '${SUBNET}', 447286453123456789 + run_id * 12345678901, 2000000 + run_id, at, run_id from looks where feed = 'supply' order by run_id`,
    },
  ];
}

/**
 * SQL that writes rows like the first one of a table, with other values in some columns.
 * @param from SQL of what they are made of @param values SQL by column
 */
const like = (table: string, from: string, values: Readonly<Record<string, string>>) => `
  insert into recorder.${table} select made.* from (select b as base from recorder.${table} b order by ctid limit 1) one
    cross join ${from}
    cross join lateral jsonb_populate_record(base, jsonb_build_object(${Object.entries(values)
      .map(([column, value]) => `'${column}', ${value}`)
      .join(', ')})) made`;

/** Points with revisions, logs, and lists whose members change, go and come back. */
export function histories(size: Size): Written[] {
  const begin = started(size);
  /** Of n in so many, evenly over the days. */
  const spread = (n: string, count: number) => `(${begin} + ${n} * (interval '${DAYS} days' / ${count + 1}))`;
  const points = share(size, 0.1, 1.25);
  const heights = share(size, 0.03);
  const transactions = share(size, 0.02);
  const validatorVersions = share(size, 0.03, 2 * VALIDATORS);
  const peerVersions = share(size, 0.02, 2 * PEERS);
  const outputs = share(size, 0.01);
  /** Versions `v` of members `m` of each node, which begin at `t.begins` and end at `e.ends`; every seventh is gone for a while. */
  const ofMembers = (count: number, members: number) => `
    generate_series(1, ${count}) v cross join ${NODES} join members m on m.n <= ${members}
    cross join lateral (select ${spread(`(v + m.n / ${PEERS + 1}.0)`, count + 1)} as begins, ${spread(`(v + 1 + m.n / ${PEERS + 1}.0)`, count + 1)} as next) t
    cross join lateral (select case when v = ${count} and m.n % 20 > 0 then null
      when (v + m.n) % 7 = 3 then t.begins + (t.next - t.begins) * 0.9 else t.next end as ends) e`;
  return [
    {
      what: 'metric_points',
      text: `insert into recorder.metric_points (chain_id, metric, time_interval, bucket_start, value, extra, recorded_at, superseded_at, vanished, run_id)
        select 'chain-' || n % 4, 'metric-' || n / 4 % 17, 'hour', date_trunc('hour', ${begin}) + (n / 68) * interval '1 hour' - interval '300 days',
          (n % 1000) + v / 7.0, case when n % 5000 = 0 then '{"more": 1}'::jsonb end, t.said + v * interval '3 hours',
          case when v < l.last or l.gone then t.said + (v + 1) * interval '3 hours' end, v = l.last and l.gone, ${size.lastRun}
        from generate_series(1, ${points}) n cross join lateral (select case when n % 20 = 0 then 3 when n % 10 = 1 then 1 else 0 end as last, n % 211 = 0 as gone) l
          cross join lateral (select date_trunc('milliseconds', ${begin} + n * (interval '${DAYS - 1} days' / ${points})) as said) t
          cross join lateral generate_series(0, l.last) v order by t.said, v`,
    },
    {
      what: 'average_tps',
      text: `insert into recorder.average_tps (chain_id, bucket_start, value, recorded_at, superseded_at, vanished, run_id)
        select 'chain-' || n % 4, timestamptz '2000-01-01Z' + n / 4 * interval '1 hour', n / 7.0 + v, t.said + v * interval '1 hour',
          case when v = 0 and n % 9 = 0 then t.said + interval '1 hour' end, false, ${size.lastRun}
        from generate_series(1, ${share(size, 0.01)}) n cross join lateral (select ${spread('n', share(size, 0.01) * 1.01)} as said) t
          cross join lateral generate_series(0, (n % 9 = 0)::int) v order by t.said, v`,
    },
    {
      what: 'proposed_blocks',
      text: like('proposed_blocks', `generate_series(1, ${heights}) n`, {
        blockchain_id: `case when n % 2 = 0 then 'c-chain' else 'p-chain' end`,
        block_number: '1000000000 + n',
        block_hash: `case when n % 2 = 1 then md5(n::text) when n % 3 = 0 then '0x' || upper(md5(n::text)) else '0x' || md5(n::text) end`,
        parent_hash: `md5((n - 1)::text)`,
        block_timestamp: `date_trunc('second', ${spread('n', heights)})`,
        tx_count: 'n % 300',
        recorded_at: `${spread('n', heights)} + interval '7 minutes'`,
        proposer_node_id: `'NodeID-' || n % ${VALIDATORS}`,
        run_id: `${size.lastRun}`,
      }),
    },
    {
      what: 'native_transactions',
      text: like('native_transactions', `generate_series(1, ${transactions}) n`, {
        address: `'0xABCDEF' || lpad((n % 7)::text, 34, '0')`,
        tx_hash: `'0x' || case when n % 3 = 0 then upper(md5(n::text)) else md5(n::text) end`,
        from_address: `'0xABCDEF' || lpad((n % 7)::text, 34, '0')`,
        block_number: 'n',
        block_timestamp: `date_trunc('second', ${spread('n', transactions)})`,
        recorded_at: spread('n', transactions),
        run_id: `${size.lastRun}`,
      }),
    },
    {
      what: 'validators',
      text: like('validators', ofMembers(validatorVersions, VALIDATORS), {
        node: 'node.name',
        node_id: 'm.node_id',
        start_time: `${begin} - interval '100 days'`,
        tx_id: `'tx-' || m.n`,
        delegator_count: 'v',
        delegator_weight: 'v * 25000000000',
        potential_reward: '1000000000 + v * m.n',
        valid_from: 't.begins',
        valid_to: 'e.ends',
        run_id: `${size.lastRun}`,
      }),
    },
    {
      what: 'peers',
      text: like('peers', ofMembers(peerVersions, PEERS), {
        node: 'node.name',
        node_id: `'of-' || m.node_id`,
        version: `'avalanchego/1.14.' || v`,
        ip: `'10.0.' || v || '.1:9651'`,
        valid_from: 't.begins',
        valid_to: 'e.ends',
        run_id: `${size.lastRun}`,
      }),
    },
    {
      what: 'x_utxos',
      text: like('x_utxos', `generate_series(1, ${outputs}) n`, {
        utxo_id: `'utxo-' || n`,
        amount: 'n * 1000',
        // Of every fifth the lock time is beyond the calendar: it is in the bytes of the output alone.
        locktime: `case when n % 5 > 0 then to_timestamp(n) end`,
        utxo: `case when n % 5 > 0 then (base).utxo else overlay((base).utxo placing 'ffffffffffffffff' from 167) end`,
        valid_from: spread('n', outputs * 2),
        valid_to: `case when n % 3 > 0 then ${spread(`(n + ${outputs} / 3)`, outputs * 2)} end`,
        run_id: `${size.lastRun}`,
      }),
    },
  ];
}

/** Runs, the ledger, coverage, gaps and what was quarantined. */
export function bookkeeping(size: Size): Written[] {
  const begin = started(size);
  const polls = share(size, 0.02);
  const states = share(size, 0.002, 6);
  const columns =
    'run_id, source, target_key, datasets, reason, status, worker, started_at, finished_at, pages, items, rows_written, requests, error';
  const ofLooks = [
    [
      'validators',
      'current-validators',
      ` subnetId=${SUBNET}`,
      '{validators,validator_uptime}',
      'validator_uptime',
    ],
    ['peers', 'connected-peers', '', '{peers,peer_readings}', 'peer_readings'],
    ['heights', 'chain-heights', '', '{chain_heights}', 'chain_heights'],
    ['supply', 'current-supply', ` subnetId=${SUBNET}`, '{current_supply}', 'current_supply'],
  ].map(([feed, source, more, datasets, table]) => {
    const counts =
      feed === 'validators' || feed === 'peers'
        ? 'array[c.rows, 0], array[0, c.rows]'
        : 'array[c.rows], array[c.rows]';
    const key = feed === 'heights' ? `'chain=X node=' || l.node` : `'node=' || l.node || '${more}'`;
    return `select l.run_id, '${source}', ${key}, '${datasets}'::text[], 'poll', 'done', 'first/1', l.at - interval '30 milliseconds',
      l.at + interval '40 milliseconds', 1, ${counts}, 1, null
      from looks l join (select run_id, count(*) as rows from recorder.${table} group by 1) c using (run_id) where l.feed = '${feed}'`;
  });
  return [
    {
      what: 'runs that looked',
      text: `insert into recorder.runs (${columns}) ${ofLooks.join(' union all ')}`,
    },
    {
      what: 'the first run of each target',
      text: `insert into recorder.runs (${columns})
        select (select max(run_id) from recorder.runs) + row_number() over (order by source, target_key), source, target_key, datasets, 'poll', 'done',
          'first/1', ${begin} - interval '1 hour', ${begin} - interval '59 minutes', 1, array_fill(1, array[cardinality(datasets)]),
          array_fill(1, array[cardinality(datasets)]), 1, null from recorder.targets where source <> 'node-health'`,
    },
    {
      what: 'runs of polls, of which two of three wrote nothing',
      text: `insert into recorder.runs (${columns})
        select (select max(run_id) from recorder.runs) + n, 'metric-points', 'chainId=888002 metric=txCount timeInterval=day', '{metric_points}', 'poll',
          case when n % 50 = 0 then 'failed' else 'done' end, 'first/1', t.at, t.at + interval '200 milliseconds', 1, array[30],
          array[case when n % 3 = 0 and n % 50 > 0 then n % 30 else 0 end], 1, case when n % 50 = 0 then 'the upstream did not answer' end
        from generate_series(1, ${polls}) n cross join lateral (select ${begin} + n * (interval '${DAYS} days' / ${polls + 1}) as at) t`,
    },
    {
      what: 'quarantine, in which each item stands four times',
      text: `insert into recorder.quarantine (dataset, target_key, run_id, quarantined_at, observed_at, reason, item)
        select 'validators', 'node=validator-1 subnetId=${SUBNET}', n, ${begin} + n * interval '1 second', ${begin} + n * interval '1 second',
          'weight: an unsigned integer expected', '{"nodeID":"NodeID-' || n / 4 || '","weight":"much"}' from generate_series(0, ${share(size, 0.003)}) n`,
    },
    {
      what: 'the ledger before the probes that stand open',
      text: `insert into recorder.node_health (observer, node, probe, check_name, state, error, started_at, ended_at, probes)
        select h.observer, h.node, h.probe, h.check_name, case when n % 5 = 2 then 'down' else 'up' end, case when n % 5 = 2 then 'refused' end,
          h.started_at - (${states} - n + 1) * s.step, h.started_at - (${states} - n) * s.step, 60
        from recorder.node_health h cross join (select interval '20 days' / ${states} as step) s cross join generate_series(1, ${states}) n
        where h.check_name = '*' and h.ended_at is null`,
    },
    {
      what: 'times in which nobody looked',
      text: `insert into recorder.health_absences select observer, heartbeat_at - n * interval '13 hours', heartbeat_at - n * interval '13 hours' + interval '20 minutes',
          'the recorder did not run' from recorder.health_observers cross join generate_series(1, 30) n`,
    },
    {
      what: 'coverage in pieces',
      text: `update recorder.coverage set covered = covered + (select range_agg(int8range(s.at, s.at + 1200000)) from (
          select (extract(epoch from ${begin}) * 1000)::bigint + n * 3600000::bigint as at from generate_series(1, ${DAYS * 20}) n) s) where dataset = 'proposed_blocks'`,
    },
    {
      what: 'gaps',
      text: `insert into recorder.gaps select dataset, target_key, axis, int8range(s.at, s.at + 60000), 'the upstream did not answer', to_timestamp(s.at / 1000)
        from recorder.coverage cross join (select (extract(epoch from ${begin}) * 1000)::bigint + n * 7200000::bigint as at from generate_series(1, 50) n) s where dataset = 'validators'`,
    },
  ];
}
