import type postgres from 'postgres';
import { makeSeriesOf } from '../../support/points.ts';
import { rowsOf } from '../../support/rows.ts';

/** A run of the tests. */
export interface Run {
  readonly id: number;
  readonly at: Date;
}

/** Numbers of runs are far apart: a run that is claimed right now may have one of the next hundred numbers. */
const APART = 1_000;

/** A record written as by the recorder, in few columns, and all of its rows. */
export class World {
  readonly #sql: postgres.Sql;
  #runs = 0;
  #ready: Promise<void> | undefined;

  constructor(sql: postgres.Sql) {
    this.#sql = sql;
  }

  /** Creates the database function with which points are written. */
  #makeReady(): Promise<void> {
    this.#ready ??= makeSeriesOf(this.#sql);
    return this.#ready;
  }

  async empty(): Promise<void> {
    await this.#makeReady();
    await this.#sql`
      truncate recorder.metric_points, recorder.x_balances, recorder.chain_heights, recorder.p_blocks, recorder.node_health,
        recorder.health_absences, recorder.health_observers, recorder.runs, recorder.targets, recorder.seals,
        recorder.reading_scopes, recorder.reading_members, recorder.reading_observations, recorder.reading_days, recorder.seal_datasets, recorder.seal_parts, recorder.seal_forms, recorder.seal_changes`;
  }

  /** Starts a run. It continues until it is ended. */
  async begin(at: Date): Promise<Run> {
    const id = ++this.#runs * APART;
    await this.#sql`
      insert into recorder.runs (run_id, source, target_key, datasets, reason, status, worker, started_at, items, rows_written)
      values (${id}, 's', ${`t=${id}`}, '{metric_points,x_balances,chain_heights,p_blocks}', 'poll', 'running', 'w', ${at}, '{1,1,1,1}', '{1,1,1,1}')`;
    await this.#sql`
      insert into recorder.targets (source, target_key, target, run_id, lease_until)
      values ('s', ${`t=${id}`}, '{}', ${id}, now() + interval '1 minute')`;
    return { id, at };
  }

  async end({ id }: Run, at: Date): Promise<void> {
    await this.#sql`update recorder.runs set status = 'done', finished_at = ${at} where run_id = ${id}`;
    await this.#sql`update recorder.targets set run_id = null, lease_until = null where run_id = ${id}`;
  }

  /** A point's value: a new version, if it differs. @param at its instant */
  async point({ id }: Run, metric: string, value: number, at: Date): Promise<void> {
    await this.#makeReady();
    const [row] = await this.#sql`select public.series_of('1', ${metric}, 'day') as series`;
    const series = Number(row?.series);
    await this.#sql`
      with closed as (
        update recorder.metric_points o
        set valid_to = greatest(${at}::timestamptz, o.valid_from + interval '1 microsecond'), vanished = false
        where series_id = ${series} and valid_to is null and value <> ${value} returning valid_to)
      insert into recorder.metric_points (series_id, bucket_start, value, valid_from, run_id)
      select ${series}, '2026-01-01', ${value}, coalesce((select valid_to from closed), ${at}), ${id}
      where (select count(*) from closed) > 0
        or not exists (select from recorder.metric_points where series_id = ${series} and valid_to is null)`;
  }

  /** A list's member; balance null: it is removed. */
  async member({ id }: Run, asset: string, balance: number | null, at: Date): Promise<void> {
    await this.#sql`
      with closed as (
        update recorder.x_balances o set valid_to = greatest(${at}::timestamptz, o.valid_from + interval '1 microsecond'),
          ended_by = ${balance === null ? 'gone' : 'changed'}
        where asset_id = ${asset} and valid_to is null and balance is distinct from ${balance} returning valid_to)
      insert into recorder.x_balances (node, address, asset_id, balance, utxo_ids, valid_from, run_id)
      select 'n', 'X-a', ${asset}, ${balance}, '["b", {"z": 1.0, "a": null}]', coalesce((select valid_to from closed),
        greatest(${at}, (select max(valid_to) from recorder.x_balances where asset_id = ${asset}))), ${id}
      where ${balance}::numeric is not null and ((select count(*) from closed) > 0
        or not exists (select from recorder.x_balances where asset_id = ${asset} and valid_to is null))`;
  }

  /** Readings of one poll. */
  async poll({ id }: Run, chains: readonly string[], height: number, at: Date): Promise<void> {
    await this.#sql`
      insert into recorder.chain_heights (node, chain, height, observed_at, run_id)
      select 'n', chain, ${height}, ${at}, ${id} from unnest(${[...chains]}::text[]) chain on conflict do nothing`;
  }

  async block({ id }: Run, height: number, at: Date): Promise<void> {
    await this.#sql`
      insert into recorder.p_blocks (node, height, id, time, valid_from, run_id)
      values ('n', ${height}, ${`block-${height}`}, ${at}, ${at}, ${id}) on conflict do nothing`;
  }

  /** An observer's ledger: an interval that ends when the next one starts, and its settled time. */
  async turn(state: string, at: Date, heartbeat: Date): Promise<void> {
    await this.#sql`
      with closed as (
        update recorder.node_health set ended_at = ${at}, probes = 5 where ended_at is null and started_at < ${at} returning 1)
      insert into recorder.node_health (observer, node, probe, check_name, state, started_at)
      select 'o', 'n', 'health', '*', ${state}, ${at} where (select count(*) from closed) >= 0`;
    await this.heartbeat(heartbeat);
  }

  async heartbeat(at: Date): Promise<void> {
    await this.#sql`
      insert into recorder.health_observers (observer, heartbeat_at) values ('o', ${at})
      on conflict (observer) do update set heartbeat_at = excluded.heartbeat_at`;
  }

  /** All leaves, by a plain computation: the identity, the instant and the content of each. */
  async leaves(until: Date): Promise<Leaf[]> {
    const all: Leaf[] = [];
    const add = (dataset: string, of: 'row' | 'end', key: object, at: string | null, content: object) => {
      if (at !== null && Date.parse(at) < until.getTime())
        all.push({ dataset, of, key: JSON.stringify(key), at, content: JSON.stringify(content) });
    };
    for (const { key, row, valid_from, valid_to } of await this.#sql<Plain[]>`
      select json_build_object('chain_id', chain_id, 'metric', metric, 'time_interval', time_interval, 'bucket_start', bucket_start) as key,
        to_jsonb(t) - '{series_id,valid_to,vanished}'::text[] as row, ${this.#iso('valid_from')}, ${this.#iso('valid_to')}
      from ${this.#sql.unsafe(rowsOf('metric_points'))} t`) {
      add('metric_points', 'row', key, valid_from ?? null, row);
      add('metric_points', 'end', key, valid_to ?? null, { valid_from });
    }
    for (const { key, row, valid_from, valid_to, ended_by } of await this.#sql<Plain[]>`
      select json_build_object('node', node, 'address', address, 'asset_id', asset_id) as key, ended_by,
        to_jsonb(t) - '{valid_to,ended_by,missed_walks,missed_since}'::text[] as row, ${this.#iso('valid_from')}, ${this.#iso('valid_to')}
      from recorder.x_balances t`) {
      add('x_balances', 'row', key, valid_from ?? null, row);
      add('x_balances', 'end', key, valid_to ?? null, { valid_from, ended_by });
    }
    for (const { key, row, valid_from } of await this.#sql<Plain[]>`
      select json_build_object('node', node, 'height', height) as key, to_jsonb(t) as row, ${this.#iso('valid_from')} from recorder.p_blocks t`)
      add('p_blocks', 'row', key, valid_from ?? null, row);
    for (const { key, row, observed_at } of await this.#sql<Plain[]>`
      select json_build_object('run_id', run_id, 'target', 't=' || run_id) as key,
        jsonb_agg(to_jsonb(t) order by chain, height) as row, ${this.#iso('observed_at')}
      from recorder.chain_heights t group by run_id, observed_at`)
      add('chain_heights', 'row', key, observed_at ?? null, row);
    for (const { key, row, started_at, ended_at, probes } of await this.#sql<Plain[]>`
      select json_build_object('observer', observer, 'node', node, 'probe', probe, 'check_name', check_name) as key, probes,
        to_jsonb(t) - '{ended_at,probes,failures,last_error,last_message}'::text[] as row, ${this.#iso('started_at')}, ${this.#iso('ended_at')}
      from recorder.node_health t`) {
      add('node_health', 'row', key, started_at ?? null, row);
      add('node_health', 'end', key, ended_at ?? null, { started_at, probes });
    }
    return all;
  }

  #iso(column: string) {
    return this
      .#sql`to_char(${this.#sql(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${this.#sql(column)}`;
  }
}

interface Plain {
  readonly key: object;
  readonly row: object;
  readonly valid_from?: string | null;
  readonly valid_to?: string | null;
  readonly observed_at?: string | null;
  readonly started_at?: string | null;
  readonly ended_at?: string | null;
  readonly ended_by?: string | null;
  readonly probes?: string | null;
}

/** The parts of a seal, as the expected result has them. */
export interface Leaf {
  readonly dataset: string;
  readonly of: 'row' | 'end';
  readonly key: string;
  /** ISO 8601, to the microsecond. */
  readonly at: string;
  readonly content: string;
}
