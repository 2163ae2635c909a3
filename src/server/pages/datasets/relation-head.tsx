import { parseExactInstant, parseInstant } from '../../../lib/instant.ts';
import { drawables } from '../charts/drawables.ts';
import { chartLink } from '../charts/link.ts';
import { hrefOf, keepAsOf, type Parameters } from './address.ts';
import { type Relation, viewsOf } from './relations.ts';

/** The pages of a dataset. */
export type Tab = 'rows' | 'row' | 'changes' | 'coverage';

const HISTORIES: Readonly<Record<string, string>> = {
  series: 'Revisions',
  state: 'Versions',
  ledger: 'Intervals',
};

/** Returns the path of a page of a relation. */
export const pathOf = (name: string, page?: Exclude<Tab, 'rows'>) =>
  `/datasets/${name}${page === undefined ? '' : `/${page}`}`;

/** The head of a relation: its name, its description, and the links to all pages of its dataset. */
export function RelationHead({
  relation: { readable, dataset },
  tab,
  parameters,
}: {
  readonly relation: Relation;
  readonly tab: Tab;
  readonly parameters: Parameters;
}) {
  const { name, about } = readable;
  return (
    <div class="stack">
      <h1>
        <code>{name}</code> {dataset && <small>{dataset.name === name ? dataset.kind : ''}</small>}
      </h1>
      <p>{about}</p>
      {dataset && <Tabs relation={{ readable, dataset }} tab={tab} parameters={keepAsOf(parameters)} />}
      {!dataset && drawables.has(name) && (
        <p>
          <a href={chartOf(name, parameters)}>Chart</a>
        </p>
      )}
    </div>
  );
}

/** Returns the URL of the chart of a function or of a dataset, with the given parameters. */
function chartOf(name: string, parameters: Parameters): string {
  const { keys = [], takes = [], past = false } = drawables.get(name) ?? {};
  const [from, to] = ['from', 'to'].map((one) => {
    const at = parseInstant(parameters[one] ?? '');
    return at === null ? null : new Date(at);
  });
  const things = [...keys, ...takes].flatMap((one) => {
    const value = parameters[one.name];
    return value ? [[one.name, value] as const] : [];
  });
  return chartLink({
    ...{ of: name, things: Object.fromEntries(things), from: from ?? null, to: to ?? null },
    asOf: past ? parseExactInstant(parameters.as_of ?? '') : null,
  });
}

interface TabLink {
  readonly label: string;
  readonly href: string;
  readonly here: boolean;
  readonly about?: string;
}

function Tabs({
  relation: { readable, dataset },
  tab,
  parameters,
}: {
  readonly relation: Relation;
  readonly tab: Tab;
  readonly parameters: Parameters;
}) {
  if (!dataset) return null;
  const { history, changes, conflicts, others } = viewsOf(dataset);
  const rowsOf = (label: string, name: string, about?: string): TabLink => ({
    label,
    href: hrefOf(pathOf(name), parameters),
    here: tab === 'rows' && readable.name === name,
    ...(about === undefined ? {} : { about }),
  });
  const { as_of: to = null } = parameters;
  const main = [
    rowsOf('Rows', dataset.name),
    {
      label: 'Changes between two moments',
      href: hrefOf(pathOf(dataset.name, 'changes'), { to }),
      here: tab === 'changes',
      about: 'Differences between two moments, side by side.',
    },
    {
      label: 'Coverage',
      href: pathOf(dataset.name, 'coverage'),
      here: tab === 'coverage',
      about: 'Recorded and missing data by day, and the commands that fetch it.',
    },
    ...(drawables.has(dataset.name)
      ? [
          {
            label: 'Chart',
            href: chartOf(dataset.name, parameters),
            here: false,
            about: 'The numbers of this dataset over time.',
          },
        ]
      : []),
    ...(history ? [rowsOf(HISTORIES[dataset.kind] ?? 'Versions', history.name, history.about)] : []),
    ...(changes ? [rowsOf('Who came and went', changes.name, changes.about)] : []),
    ...(conflicts ? [rowsOf('Conflicts', conflicts.name, conflicts.about)] : []),
  ];
  return (
    <nav class="tabs" aria-label={`Views of ${dataset.name}`}>
      <Places of={main} />
      {others.length > 0 && (
        <details open={others.some(({ name }) => name === readable.name)}>
          <summary>{others.length} more views</summary>
          <Places of={others.map(({ name, about }) => rowsOf(name, name, about))} />
        </details>
      )}
    </nav>
  );
}

function Places({ of }: { readonly of: readonly TabLink[] }) {
  return (
    <ul>
      {of.map(({ label, href, here, about }) => (
        <li key={href}>
          <a href={href} title={about} aria-current={here ? 'page' : undefined}>
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}
