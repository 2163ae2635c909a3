import { hrefOf, normalizeParameters, type Parameters, singleParameters } from './datasets/addresses.ts';
import type { PageDefinition } from './page.ts';

/** A page of rows, and the parameters of the corresponding request to the API. */
interface List {
  readonly path: string;
  readonly view: string;
  readonly sort: string;
  /** The filter of the API for each parameter of the page. */
  readonly filters: Readonly<Record<string, string | ((value: string) => Parameters)>>;
}

const lists: readonly List[] = [
  {
    path: '/runs',
    view: 'runs',
    sort: '-run_id',
    filters: {
      dataset: 'dataset',
      status: 'status',
      reason: 'reason',
      until: 'started_at.lt',
      before: 'run_id.lt',
    },
  },
  {
    path: '/quarantine',
    view: 'quarantine',
    sort: '-id',
    filters: { dataset: 'dataset', before: 'id.lt' },
  },
  {
    path: '/alerts',
    view: 'alerts',
    sort: '-id',
    filters: { rule: 'rule', before: 'id.lt' },
  },
  {
    path: '/discrepancies',
    view: 'discrepancies',
    sort: '-id',
    filters: {
      check: 'check_name',
      before: 'id.lt',
      state: (state) => ({ 'ended_at.null': String(state === 'open') }),
    },
  },
];

/** `/runs.csv` and others: redirects to the rows of a page in the API. */
export const listFiles: readonly PageDefinition[] = lists.map(({ path, view, sort, filters }) => ({
  path: `${path}.:form`,
  async answer(_context, { form, ...fields }) {
    const parameters = singleParameters(normalizeParameters(fields));
    if ((form !== 'json' && form !== 'csv') || parameters === null) return null;
    const params = Object.entries(parameters).map(([name, value]): Parameters => {
      const filter = Object.hasOwn(filters, name) ? filters[name] : undefined;
      // Unknown parameters are passed on, so that the API refuses them with a message.
      return typeof filter === 'function' ? filter(value) : { [filter ?? name]: value };
    });
    return { location: hrefOf(`/api/v1/views/${view}.${form}`, Object.assign({ sort }, ...params)) };
  },
}));
