import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { Random } from '../../chaos/random.ts';
import { RecorderProcess } from '../../chaos/recorder-process.ts';
import { eventually, until } from '../../chaos/waiting.ts';
import { catalog } from '../../src/datasets/catalog.ts';
import { packingOf } from '../../src/history/readings/packing.ts';

/** The longest that anything may take, ms. */
const LONGEST = 3 * 3_600_000;

/** About how long packing takes a reading, ms. */
const PACKED_WITHIN = 0.04;

/** Where a recorder runs. */
export interface Place {
  readonly cli: string;
  readonly dir: string;
  readonly url: string;
}

/** A time in which a process recorded, ms since 1970: from the word that it had begun until it was killed or stopped. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** How a database was brought over. */
export interface Upgrade {
  /** Kills in the transaction of the migration, each of which left the database as it was. */
  readonly killedMigrating: number;
  /** Kills while days were packed, each at another part of them. */
  readonly killedPacking: number;
  readonly stretches: readonly Stretch[];
  /** Days of readings that were to be packed. */
  readonly days: number;
  /** Of the last process until its tables and views were there, and of all from then on until every day was packed; s. */
  readonly migrating: number;
  readonly packing: number;
  /** The most memory that a process held, MiB. */
  readonly peak: number;
  /** How the last process ended when it was asked to stop. */
  readonly code: number | null;
}

export function start({ cli, dir, url }: Place, args: readonly string[]): RecorderProcess {
  const env = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: url,
    RECORDER_PORT: '0',
    LOG_LEVEL: 'debug',
    LOG_FORMAT: 'json',
  };
  return new RecorderProcess([cli], args, dir, env);
}

/** Brings a database over by `up`, which is killed so many times, half of them in the migration's transaction, and started again each time. */
export class Upgrading {
  readonly #place: Place;
  readonly #sql: postgres.Sql;
  readonly #random = new Random(12);
  readonly #tell: (line: string) => void;
  readonly #stretches: Stretch[] = [];
  #running: RecorderProcess | null = null;
  #peak = 0;

  constructor(place: Place, tell: (line: string) => void) {
    this.#place = place;
    this.#tell = tell;
    this.#sql = postgres(place.url, {
      max: 1,
      onnotice: () => {},
      connection: { application_name: 'bench' },
    });
  }

  /** @param usual how long the migration takes when it is left alone, ms */
  async run(kills: number, usual: number): Promise<Upgrade> {
    const { days, readings } = await this.#toPack();
    const inMigration = Math.ceil(kills / 2);
    const migrationsBefore = await this.#migrations();
    let killedMigrating = 0;
    for (let kill = 1; kill <= inMigration; kill++) {
      const after = (usual * kill) / (inMigration + 1);
      const began = performance.now();
      const recorder = this.#start();
      await Promise.race([delay(after), recorder.ended]);
      if (recorder.find('recording began')) this.#recorded(Date.now(), Date.now());
      await this.#kill(recorder);
      await eventually('the connections of the killed process to end', () => this.#alone(), LONGEST);
      const left = (await this.#migrations()) === migrationsBefore;
      if (left) killedMigrating += 1;
      this.#tell(
        `kill ${kill} after ${(after / 1000).toFixed(1)} s: ${left ? 'as before' : 'migrated'}; its connections ended after ${((performance.now() - began - after) / 1000).toFixed(1)} s`,
      );
    }
    const inPacking = kills - killedMigrating;
    const began = performance.now();
    let begun = Date.now();
    let recorder = this.#start();
    await recorder.says('recording began', LONGEST);
    const migrating = performance.now() - began;
    this.#tell(`migrated in ${(migrating / 1000).toFixed(1)} s`);
    begun = Date.now();
    const packingBegan = performance.now();
    let killedPacking = 0;
    for (let kill = 1; kill <= inPacking; kill++) {
      const enough = (readings * kill) / (inPacking + 1);
      const packed = await until(
        'so many readings to be packed',
        async () => {
          const now = await this.#packed();
          return now >= enough ? now : null;
        },
        LONGEST,
      );
      // Somewhere within the statement of the next day.
      await delay((this.#random.unit() * readings * PACKED_WITHIN) / days);
      if (!(await this.#allPacked())) killedPacking += 1;
      this.#recorded(begun, Date.now());
      await this.#kill(recorder);
      this.#tell(`kill ${killedMigrating + kill} when ${packed} of ${readings} readings were packed`);
      recorder = this.#start();
      await recorder.says('recording began', LONGEST);
      begun = Date.now();
    }
    await until('all days to be packed', () => delay(1_000).then(() => this.#allPacked()), LONGEST);
    const packing = performance.now() - packingBegan;
    this.#tell(`packed in ${(packing / 1000).toFixed(1)} s`);
    return {
      ...{ killedMigrating, killedPacking, days, migrating: migrating / 1000, packing: packing / 1000 },
      stretches: this.#stretches,
      ...(await this.#finish(recorder, begun)),
    };
  }

  /** Lets the last process record for a while, and stops it. */
  async #finish(recorder: RecorderProcess, begun: number) {
    await eventually('a look at the validators', async () => {
      const rows = await this.#sql`
        select from recorder.runs where source = 'current-validators' and status = 'done' and started_at > ${new Date(begun)}`;
      return rows.length > 0;
    });
    await delay(30_000);
    const { code } = await recorder.stop();
    this.#recorded(begun, Date.now());
    this.#peak = Math.max(this.#peak, recorder.peak);
    return { peak: this.#peak, code };
  }

  async close(): Promise<void> {
    await this.#running?.end();
    await this.#sql.end();
  }

  #start(): RecorderProcess {
    this.#running = start(this.#place, ['up']);
    return this.#running;
  }

  async #kill(recorder: RecorderProcess): Promise<void> {
    await recorder.kill();
    this.#peak = Math.max(this.#peak, recorder.peak);
  }

  #recorded(from: number, to: number): void {
    this.#stretches.push({ from, to });
  }

  async #migrations(): Promise<number> {
    const [row] = await this.#sql<
      { applied: number }[]
    >`select count(*)::int as applied from drizzle.__drizzle_migrations`;
    return row?.applied ?? 0;
  }

  async #alone(): Promise<boolean> {
    const others = await this.#sql`
      select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
    return others.length === 0;
  }

  /** Readings of days before today, and the days of scopes in which they lie. */
  async #toPack() {
    let [days, readings] = [0, 0];
    for (const dataset of catalog.filter(({ history }) => history === 'sample')) {
      const [table] = await this.#sql`select to_regclass(${`recorder.${dataset.name}`}) as is`;
      if (!table?.is) continue;
      const scope = packingOf(dataset).request.map(({ name }) => name);
      const [row] = await this.#sql<{ days: number; readings: number }[]>`
        select count(*)::int as days, coalesce(sum(rows), 0)::float8 as readings from (
          select count(*) as rows from recorder.${this.#sql(dataset.name)} where observed_at < date_trunc('day', now(), 'UTC')
          group by ${this.#sql(scope)}, (observed_at at time zone 'UTC')::date) d`;
      days += row?.days ?? 0;
      readings += row?.readings ?? 0;
    }
    return { days, readings };
  }

  /** Readings that are packed, but for those that told no number. */
  async #packed(): Promise<number> {
    const [row] = await this.#sql<{ readings: number }[]>`
      select coalesce(sum(t.times), 0)::float8 as readings from recorder.reading_days d cross join unnest(d.told) t(times)`;
    return row?.readings ?? 0;
  }

  /** Whether all readings of days before today are packed, but for those that cannot be. */
  async #allPacked(): Promise<boolean> {
    const [row] = await this.#sql<{ open: number; kept: number }[]>`
      select (select count(*) from recorder.reading_open where observed_at < date_trunc('day', now(), 'UTC'))::float8 as open,
        (select coalesce(sum(rows), 0) from recorder.reading_kept)::float8 as kept`;
    const { readings } = await this.#toPack();
    return row !== undefined && row.open === 0 && row.kept === readings;
  }
}
