import type { DatasetRelations } from '../../src/reporting/relations/catalogue.ts';
import { getCatalogue } from '../../src/reporting/relations/catalogue.ts';
import type { Relation } from '../../src/reporting/relations/relation.ts';
import { savedQueries } from '../../src/reporting/reports/saved-queries.ts';
import { chains, nodes } from './configuration.ts';

/** URLs of the same kind of request. */
export interface Kind {
  readonly name: string;
  readonly paths: readonly string[];
}

/** Requests a URL of the API; returns its JSON. */
export type Get = (path: string) => Promise<unknown>;

const { datasets, views } = getCatalogue();
const DAY = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY).toISOString();
const withQuery = (path: string, parameters: Readonly<Record<string, string>>) =>
  `${path}?${new URLSearchParams(parameters)}`;

/** A list of rows, and its URL. */
interface List {
  readonly path: string;
  readonly relation: Relation;
}

const ofDatasets = [...datasets.values()];
const nowLists = ofDatasets.map(
  ({ name, now }): List => ({ path: `/api/v1/datasets/${name}/rows`, relation: now }),
);
const historyLists = ofDatasets.flatMap(({ name, history }): List[] =>
  history ? [{ path: `/api/v1/datasets/${name}/rows/history`, relation: history }] : [],
);
const viewLists = [...views.values()]
  .filter(({ name, parameters }) => parameters === null && !datasets.has(name))
  .map((relation): List => ({ path: `/api/v1/views/${relation.name}`, relation }));

/** Every list of the API, by kind of request. @param get requests the record of the URLs */
export async function apiKinds(get: Get): Promise<Kind[]> {
  return [
    ...(await kindsOf('rows', nowLists, get)),
    ...(await kindsOf('every version', historyLists, get)),
    ...(await kindsOf('views', viewLists, get)),
    { name: 'changes of a day', paths: ofDatasets.map((one) => changes(one, daysAgo(1))) },
    { name: 'changes of 30 days', paths: ofDatasets.map((one) => changes(one, daysAgo(30))) },
    { name: 'changes of a year', paths: ofDatasets.map((one) => changes(one, daysAgo(364))) },
    {
      name: 'changes of a day, of an object',
      paths: [withQuery(changes(datasetByName('metric_points'), daysAgo(1)), {}).replace(/\?$/, '')].map(
        (path) => `${path}&chain_id=${chains[0]}&metric=txCount&time_interval=hour`,
      ),
    },
    { name: 'coverage of 90 days', paths: ofDatasets.map(({ name }) => `/api/v1/datasets/${name}/coverage`) },
    { name: 'coverage of a year', paths: ofDatasets.map(({ name }) => coverage(name, 364)) },
    { name: 'coverage of three years', paths: [coverage('metric_points', 3 * 364)] },
    {
      name: 'catalogue and status',
      paths: ['/status', '/datasets', '/views', '/questions'].map((path) => `/api/v1${path}`),
    },
    {
      name: 'saved queries',
      paths: savedQueries().flatMap(({ queries }) => queries.flatMap(examplesOf)),
    },
  ];
}

/** The first page, one near the end, another order, a filter, and a past moment. */
async function kindsOf(name: string, lists: readonly List[], get: Get): Promise<Kind[]> {
  const deep = await Promise.all(lists.map((list) => deepPage(list, get)));
  return [
    { name: `${name}: first page`, paths: lists.map(({ path }) => path) },
    { name: `${name}: page near the end`, paths: deep.flatMap((path) => path ?? []) },
    {
      name: `${name}: from the end`,
      paths: lists.map(({ path, relation }) => withQuery(path, { sort: `-${firstOf(relation)}` })),
    },
    {
      name: `${name}: filtered by the key`,
      paths: (await Promise.all(lists.map((list) => filteredPath(list, get)))).flatMap((path) => path ?? []),
    },
    {
      name: `${name}: a past moment`,
      paths: lists.flatMap(({ path, relation: { asOf } }) =>
        asOf ? [withQuery(path, { as_of: daysAgo(100) })] : [],
      ),
    },
  ].filter(({ paths }) => paths.length > 0);
}

const firstOf = ({ key }: Relation) => key[0]?.name ?? '';

/** The content of a page of rows. */
const pageOf = (answer: unknown): { rows: Readonly<Record<string, unknown>>[]; next: string | null } => {
  const page = Object(answer);
  return {
    rows: Array.isArray(page.rows) ? page.rows : [],
    next: typeof page.next === 'string' ? page.next : null,
  };
};

/** The last page but one: from the end backwards, the place after the first page is the place before the last one. */
async function deepPage({ path, relation }: List, get: Get): Promise<string | null> {
  const { next } = pageOf(await get(withQuery(path, { sort: `-${firstOf(relation)}` })).catch(() => null));
  return next === null ? null : withQuery(path, { after: next.replace(/^-/, '') });
}

/** The rows of the object in the middle of the first page. */
async function filteredPath({ path, relation }: List, get: Get): Promise<string | null> {
  const { rows } = pageOf(await get(path).catch(() => null));
  const value = rows[Math.floor(rows.length / 2)]?.[firstOf(relation)];
  const type = relation.columns.find(({ name }) => name === firstOf(relation))?.type;
  if (value === undefined || value === null || type === 'jsonb') return null;
  return withQuery(path, { [firstOf(relation)]: String(value) });
}

function datasetByName(name: string): DatasetRelations {
  const found = datasets.get(name);
  if (!found) throw new Error(`there is no dataset ${name}`);
  return found;
}

const changes = ({ name }: DatasetRelations, from: string) =>
  withQuery(`/api/v1/datasets/${name}/changes`, { from });
const coverage = (name: string, days: number) =>
  withQuery(`/api/v1/datasets/${name}/coverage`, { from: daysAgo(days) });
const examplesOf = ({
  name,
  examples,
}: {
  name: string;
  examples: readonly { values: Readonly<Record<string, string>> }[];
}) => examples.map(({ values }) => withQuery(`/api/v1/questions/${name}`, { limit: '100', ...values }));

const series = { chain_id: '43114', metric: 'txCount' };

/** The most visited pages. */
export const mainPages: readonly string[] = [
  '/',
  '/datasets',
  '/datasets/metric_points',
  withQuery('/datasets/metric_points', { as_of: daysAgo(100) }),
  '/datasets/metric_points_history',
  '/datasets/node_validators',
  withQuery('/datasets/node_validators_changes', { sort: '-at', change: 'left' }),
  '/datasets/metric_points/changes',
  '/datasets/node_validators/changes',
  '/datasets/metric_points/coverage',
  withQuery('/datasets/metric_points/coverage', { from: daysAgo(364) }),
  '/datasets/node_health/coverage',
  withQuery('/charts', { of: 'metric_points', ...series, time_interval: 'hour' }),
  withQuery('/charts', { of: 'metric_points', ...series, time_interval: 'hour', from: daysAgo(365) }),
  '/status',
  `/status/${nodes[0]}`,
  withQuery(`/status/${nodes[0]}`, { from: daysAgo(364) }),
  '/query',
  '/runs',
  '/runs?status=failed',
  '/queues',
  '/quarantine',
  '/discrepancies',
];

/** Every page of rows, of changes and of coverage. */
export const pageKinds: readonly Kind[] = [
  { name: 'main pages', paths: mainPages },
  { name: 'pages of rows', paths: [...views.keys()].map((name) => `/datasets/${name}`) },
  { name: 'pages of changes', paths: ofDatasets.map(({ name }) => `/datasets/${name}/changes`) },
  { name: 'pages of coverage', paths: ofDatasets.map(({ name }) => `/datasets/${name}/coverage`) },
];
