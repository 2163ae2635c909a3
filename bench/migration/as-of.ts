import postgres from 'postgres';

/** What something says as of each instant: how many rows, and the sum of their hashes. */
export interface Said {
  readonly what: string;
  readonly rows: readonly number[];
  readonly hashes: readonly string[];
}

/** What tells which rows held when, by kind of history: the suffix of the view with all of them, and its columns of begin and end. */
const KINDS = [
  { suffix: '_revisions', begins: 'recorded_at', ends: 'superseded_at' },
  { suffix: '_history', begins: 'valid_from', ends: 'valid_to' },
  { suffix: '', begins: 'recorded_at', ends: null },
  { suffix: '', begins: 'observed_at', ends: null },
] as const;

/** Columns that tell how a row ended, which may lie behind all of the instants. */
const ENDS = new Set<string>(['superseded_at', 'vanished', 'vanished_at', 'valid_to', 'ended_by']);

/** A question about all instants ($1), which gives `at` (from 1), `rows` and `hash`. */
export interface Question {
  readonly what: string;
  readonly text: string;
}

/** As of how many instants is asked. */
export const INSTANTS = 200;

/** Points of one series and of one chain are asked for by function: all of them, two hundred times, would be a billion. */
const SOME: Readonly<Record<string, string>> = {
  metric_points: `where r.chain_id = 'chain-1' and r.metric = 'metric-3' and r.time_interval = 'hour'`,
  average_tps: `where r.chain_id = 'chain-1'`,
};

/** `0x…` has one spelling since, so that all is compared in lower case. */
const hashOf = (columns: readonly string[]) =>
  `hashtextextended(lower(row(${columns.map((column) => `r."${column}"`).join(', ')})::text), 0)::numeric`;

/** Instants from the first day to the last one, of no row: rows have milliseconds. */
export function instantsUntil(until: number): string[] {
  const first = until - 30 * 86_400_000;
  return Array.from({ length: INSTANTS }, (_, n) => {
    const at = new Date(Math.round(first + ((until - first) * n) / (INSTANTS - 1)));
    return at.toISOString().replace('Z', '000077Z');
  });
}

/**
 * What is asked of a database of the first version now, and of the same one later: of every dataset that has rows all of them, as of each
 * instant, by the views that show everything, with the columns that they have now; the functions `…_as_of`; the ledger.
 */
export async function questionsOf(url: string): Promise<Question[]> {
  const sql = connect(url);
  try {
    const views = await sql<{ name: string; columns: string[] }[]>`
      select table_name as name, array_agg(column_name::text order by ordinal_position) as columns from information_schema.columns
      where table_schema = 'reporting' and to_regclass('recorder.' || quote_ident(regexp_replace(table_name, '_(revisions|history)$', ''))) is not null
      group by 1 order by 1`;
    const functions = await sql<{ name: string }[]>`
      select proname as name from pg_proc where pronamespace = 'reporting'::regnamespace and proname like '%\_as\_of'`;
    const questions: Question[] = [];
    for (const { name, columns } of views) {
      const kind = KINDS.find(
        ({ suffix, begins, ends }) =>
          name.endsWith(suffix) && columns.includes(begins) && (ends === null || columns.includes(ends)),
      );
      const dataset = kind && name.slice(0, name.length - kind.suffix.length);
      if (!dataset || name === 'node_health') continue;
      // What is current is part of what there was.
      const whole =
        kind.suffix === '' &&
        views.some(({ name: other }) => [`${name}_history`, `${name}_revisions`].includes(other));
      const [row] = await sql`select from recorder.${sql(dataset)} limit 1`;
      if (whole || !row) continue;
      const told = columns.filter((column) => !ENDS.has(column));
      questions.push({ what: name, text: ofView(name, told, kind) });
      if (functions.some((one) => one.name === `${dataset}_as_of`))
        questions.push({ what: `${dataset}_as_of`, text: ofFunction(dataset, told) });
    }
    return [...questions, ledger];
  } finally {
    await sql.end();
  }
}

/** One scan for all instants: what had begun before each, without what had ended. */
function ofView(view: string, columns: readonly string[], { begins, ends }: (typeof KINDS)[number]): string {
  const moves = ends === null ? '(begins, 1)' : '(begins, 1), (ends, -1)';
  const place = (column: string) => `width_bucket(r.${column}, $1::timestamptz[])`;
  return `
    with moves as (
      select m.at, sum(m.sign) as rows, sum(m.sign * s.hash) as hash
      from (select ${place(begins)} as begins, ${ends === null ? 'null::int' : place(ends)} as ends, ${hashOf(columns)} as hash from reporting.${view} r offset 0) s
        cross join lateral (values ${moves}) m(at, sign)
      where m.at < ${INSTANTS} group by 1
    )
    select i.at, coalesce(sum(m.rows), 0)::float8 as rows, coalesce(sum(m.hash), 0)::text as hash
    from generate_series(1, ${INSTANTS}) i(at) left join moves m on m.at < i.at group by 1 order by 1`;
}

function ofFunction(dataset: string, columns: readonly string[]): string {
  const asked = `select * from reporting.${dataset}_as_of(i.instant) r ${SOME[dataset] ?? ''}`;
  return `
    select i.at, count(r.*)::float8 as rows, coalesce(sum(${hashOf(columns)}) filter (where r is distinct from null), 0)::text as hash
    from unnest($1::timestamptz[]) with ordinality i(instant, at) left join lateral (${asked}) r on true group by 1 order by 1`;
}

/** How long each node was up, down and unknown up to each instant. */
const ledger: Question = {
  what: 'node_uptime',
  text: `
    select i.at, count(*)::float8 as rows, sum(${hashOf(['observer', 'node', 'probe', 'up_seconds', 'down_seconds', 'unknown_seconds', 'maintenance_seconds'])})::text as hash
    from unnest($1::timestamptz[]) with ordinality i(instant, at)
      cross join lateral reporting.node_uptime(($1::timestamptz[])[1] - interval '1 day', i.instant) r group by 1 order by 1`,
};

/** Asks, one question after the other. */
export async function ask(
  url: string,
  questions: readonly Question[],
  instants: readonly string[],
): Promise<Said[]> {
  const sql = connect(url);
  try {
    const said: Said[] = [];
    for (const { what, text } of questions) {
      const rows = await sql.unsafe<{ rows: number; hash: string }[]>(text, [`{${instants.join(',')}}`]);
      said.push({ what, rows: rows.map((row) => row.rows), hashes: rows.map(({ hash }) => hash) });
    }
    return said;
  } finally {
    await sql.end();
  }
}

/** In how many instants two answers differ. */
export const differing = (before: Said, after: Said): number =>
  before.hashes.filter((hash, at) => hash !== after.hashes[at] || before.rows[at] !== after.rows[at]).length;

const connect = (url: string) =>
  postgres(url, {
    max: 1,
    onnotice: () => {},
    connection: { TimeZone: 'UTC', jit: 'off', work_mem: '64MB' },
  });
