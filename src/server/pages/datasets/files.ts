import { getCatalogue } from '../../../reporting/relations/catalogue.ts';
import type { Page } from '../page.ts';
import { hrefOf, normalizeParameters, parametersOf } from './address.ts';

const { datasets } = getCatalogue();
/** Paths of the API by the names of a dataset's pages. */
const FILES: Readonly<Record<string, string>> = {
  row: 'rows/history',
  changes: 'changes',
  coverage: 'coverage',
};

/** `/datasets/D/changes.csv` and others: redirects to the data of a page in the API. */
export const files: Page = {
  path: '/datasets/:relation/:file',
  async answer(_context, { relation, file, ...given }) {
    const [, page = '', form = ''] = /^(\w+)\.(json|csv)$/.exec(String(file)) ?? [];
    const place = FILES[page];
    const parameters = parametersOf(normalizeParameters(given));
    if (place === undefined || parameters === null || !datasets.has(String(relation))) return null;
    return { location: hrefOf(`/api/v1/datasets/${relation}/${place}.${form}`, parameters) };
  },
};
