import { getCatalogue } from '../../../reporting/relations/catalogue.ts';
import type { PageDefinition } from '../page.ts';
import { MAX_STATEMENT_CHARACTERS, queryLink } from '../query/query-parameters.ts';
import { type DataFormat, hrefOf, normalizeParameters, singleParameters } from './addresses.ts';

/**
 * Links to the data of a page as JSON and CSV.
 * @param address returns the URL of a format
 */
export function Formats({
  address,
  all = 'all rows',
}: {
  readonly address: (form: DataFormat) => string;
  /** Description of the content of the CSV file. */
  readonly all?: string;
}) {
  return (
    <>
      <a href={address('json')} title="The data of this page, from the API">
        JSON
      </a>
      <a href={address('csv')} title={`As CSV: ${all}`}>
        CSV
      </a>
    </>
  );
}

/** A text to copy. One click selects the whole text; with JavaScript, a button copies the text. */
export function CopyableText({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the section can be scrolled, so it must have keyboard focus
    <section class="copied" tabIndex={0} aria-label={label}>
      <pre data-copy>{text}</pre>
    </section>
  );
}

/** The SQL of a page, with a link to the query page. */
export function PageSql({ sql }: { readonly sql: string }) {
  return (
    <details id="sql">
      <summary>SQL of this page</summary>
      <CopyableText text={sql} label="SQL of this page" />
      <p class="soft">
        Run the statement with chain-recorder query &quot;…&quot;, or as <code>recorder_reader</code> with
        psql.{' '}
        {sql.length <= MAX_STATEMENT_CHARACTERS && <a href={queryLink({ sql })}>Open on the query page</a>}
      </p>
    </details>
  );
}

const { datasets } = getCatalogue();
/** Paths of the API, by name of the page of a dataset. */
const FILES: Readonly<Record<string, string>> = {
  row: 'rows/history',
  changes: 'changes',
  coverage: 'coverage',
};

/** `/datasets/D/changes.csv` and others: redirects to the data of a page in the API. */
export const dataFilesPage: PageDefinition = {
  path: '/datasets/:relation/:file',
  async answer(_context, { relation, file, ...params }) {
    const [, page = '', form = ''] = /^(\w+)\.(json|csv)$/.exec(String(file)) ?? [];
    const place = FILES[page];
    const parameters = singleParameters(normalizeParameters(params));
    if (place === undefined || parameters === null || !datasets.has(String(relation))) return null;
    return { location: hrefOf(`/api/v1/datasets/${relation}/${place}.${form}`, parameters) };
  },
};
