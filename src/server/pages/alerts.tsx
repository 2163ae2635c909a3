import { z } from 'zod';
import { type AlertRow, listOpenAlertRows, listResolvedAlerts } from '../../alerts/alert-row.ts';
import { Formats } from './datasets/formats.tsx';
import { definePage } from './page.ts';
import { id, linkTo, optional } from './page-queries.ts';
import { Older } from './parts/older.tsx';
import { State, type Tone } from './parts/state.tsx';
import { type Column, Table } from './parts/table.tsx';
import { Time } from './parts/time.tsx';

const PATH = '/alerts';
/** Maximum number of open alerts on the page; a link leads to the others. */
const MAX_OPEN_ALERTS = 200;

/** `/alerts`: open and resolved alerts. */
export const alerts = definePage({
  path: PATH,
  asked: z.strictObject({
    rule: optional(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be the name of a rule')),
    before: optional(id),
  }),
  read: ({ read }, asked) =>
    read(async (sql) => ({
      open:
        asked.before === undefined
          ? await listOpenAlertRows(sql, asked.rule ?? null, MAX_OPEN_ALERTS + 1)
          : null,
      past: await listResolvedAlerts(sql, asked),
    })),
  content: ({ open, past: { found, next } }, asked) => ({
    title: 'Alerts',
    live: 30,
    body: (
      <>
        <h1>Alerts</h1>
        {open && (
          <section class="stack" aria-label="Open alerts">
            <p class="soft">
              Alerts are the results of rules over the record.{' '}
              <code>chain-recorder alerts ack NUMBER --by WHO</code> stops the reminders of an alert and shows
              who works on it.
            </p>
            {asked.rule && (
              <p>
                Of the rule <code>{asked.rule}</code> only: <a href={PATH}>all</a>
              </p>
            )}
            <Table
              stacked
              caption="Open alerts, firing ones first"
              columns={openColumns}
              rows={open.slice(0, MAX_OPEN_ALERTS)}
              keyOf={(one) => one.id}
              empty={asked.rule ? 'This rule reports nothing now.' : 'No alert is firing.'}
            />
            {open.length > MAX_OPEN_ALERTS && (
              <p>
                These are {MAX_OPEN_ALERTS}:{' '}
                <a href={linkTo('/datasets/alerts', { 'resolved_at.null': 'true', sort: '-id' })}>
                  all of them
                </a>
              </p>
            )}
          </section>
        )}
        <section class="stack" aria-labelledby="over">
          <h2 id="over">Resolved</h2>
          <Table
            stacked
            caption="Resolved alerts, newest first"
            columns={pastColumns}
            rows={found}
            keyOf={(one) => one.id}
            empty={
              asked.before
                ? 'No older alerts.'
                : asked.rule
                  ? 'This rule has no resolved alerts yet.'
                  : 'None yet.'
            }
          />
          <Older href={next === null ? null : linkTo(PATH, { ...asked, before: next })} />
          <p class="actions">
            <Formats address={(form) => linkTo(`${PATH}.${form}`, asked)} />
          </p>
        </section>
      </>
    ),
  }),
});

const TONES: Readonly<Record<string, Tone>> = { critical: 'bad', warning: 'warn', info: 'idle' };

/** The state comes first, so that it is visible in a narrow window, too. */
const common: readonly Column<AlertRow>[] = [
  {
    name: 'State',
    cell: ({ state, severity, flapping }) => (
      <>
        <State is={state} tone={state === 'firing' ? (TONES[severity] ?? 'warn') : 'idle'} />
        <div class="soft small">
          {severity}
          {flapping && ', comes and goes'}
        </div>
      </>
    ),
  },
  {
    name: 'What it says',
    kind: 'wide',
    cell: ({ summary, subject }) => (
      <>
        {summary}
        {!summary.includes(subject) && (
          <div>
            <code class="soft small">{subject}</code>
          </div>
        )}
      </>
    ),
  },
  { name: 'Since', cell: ({ since, began_at }) => <Time at={since ?? began_at} /> },
];

const more: readonly Column<AlertRow>[] = [
  {
    name: 'Sent',
    about: 'An alert is sent once it has lasted for the duration of its rule.',
    cell: ({ fired_at }) => <Time at={fired_at} />,
  },
  {
    name: 'Rule',
    cell: ({ rule }) => <a href={linkTo(PATH, { rule })}>{rule}</a>,
  },
  {
    name: 'Who knows',
    kind: 'name',
    cell: ({ acknowledged_by, note }) =>
      acknowledged_by === null ? '–' : note === null ? acknowledged_by : `${acknowledged_by}: ${note}`,
  },
  { name: 'Number', kind: 'number', cell: (one) => one.id },
];

const openColumns = [...common, ...more];
const pastColumns = [
  ...common,
  { name: 'Over', cell: ({ resolved_at }: AlertRow) => <Time at={resolved_at} /> },
  ...more,
];
