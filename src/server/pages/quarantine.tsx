import { z } from 'zod';
import { escapeUnsafeLines } from '../../lib/safe-text.ts';
import { type QuarantineRow, quarantinedItem, quarantinedPage } from '../../reporting/reports/quarantine.ts';
import { hrefOf } from './datasets/addresses.ts';
import { Formats } from './datasets/page-data.tsx';
import { definePage } from './page.ts';
import { dataset, datasetNames, id, optionalParam } from './page-parameters.ts';
import { ANY, Filters, FormField } from './parts/fields.tsx';
import { KeyValues } from './parts/key-values.tsx';
import { Pager } from './parts/pager.tsx';
import { Table, type TableColumn } from './parts/table.tsx';
import { Time } from './parts/time.tsx';
import { numberText } from './texts.ts';

const PATH = '/quarantine';

/** `/quarantine`: items that could not be decoded or stored, and the reasons. */
export const quarantinePage = definePage({
  path: PATH,
  params: z.strictObject({ dataset: optionalParam(dataset), before: optionalParam(id) }),
  read: ({ read }, params) => read((sql) => quarantinedPage(sql, params)),
  content: ({ items, next }, params) => ({
    title: 'Quarantine',
    body: (
      <section class="stack">
        <h1>Quarantine</h1>
        <p class="soft">
          Items of responses that could not be decoded or stored. The other items of these responses were
          stored. After an update that can decode them, run <code>chain-recorder quarantine redrive</code>.
        </p>
        <Filters path={PATH}>
          <FormField name="dataset" label="Dataset" value={params.dataset} options={[ANY, ...datasetNames]} />
        </Filters>
        <Table
          stacked
          caption="Items, newest first"
          columns={columns}
          rows={items}
          empty={params.dataset || params.before ? 'No matching items.' : 'The quarantine is empty.'}
        />
        <Pager next={next === null ? null : hrefOf(PATH, { ...params, before: next })} />
        <p class="actions">
          <Formats address={(form) => hrefOf(`${PATH}.${form}`, params)} />
        </p>
      </section>
    ),
  }),
});

/** `/quarantine/ID`: one item in its original form. */
export const quarantineItemPage = definePage({
  path: '/quarantine/:id',
  params: z.strictObject({ id }),
  read: ({ read }, params) => read((sql) => quarantinedItem(sql, params.id)),
  content: (item) => ({
    title: `Item ${item.id}`,
    crumbs: [{ href: PATH, label: 'Quarantine' }],
    body: (
      <>
        <h1>
          Item {item.id} of {item.dataset}
        </h1>
        <KeyValues
          of={[
            ['Reason', item.reason],
            ['Target', <code>{item.target}</code>],
            ['First seen', <Time at={item.first_seen} exact />],
            ['Last seen', <Time at={item.last_seen} exact />],
            ['Count', numberText(item.times)],
            ['Last run', <a href={`/runs/${item.run_id}`}>{item.run_id}</a>],
          ]}
        />
        <section>
          <h2>Decode again</h2>
          <p>
            After an update that can read this item, this command decodes and stores it, together with all
            other readable items:
          </p>
          <pre>chain-recorder quarantine redrive</pre>
        </section>
        <section>
          <h2>Original item</h2>
          {item.item.length < item.length && (
            <p class="soft">
              The first {numberText(item.item.length)} of {numberText(item.length)} characters. The whole
              item: <code>chain-recorder quarantine show {item.id}</code>
            </p>
          )}
          <pre>{escapeUnsafeLines(indented(item.item))}</pre>
        </section>
      </>
    ),
  }),
});

/**
 * Formats JSON with line breaks and indentation. Values are unchanged, so that numbers keep all digits. If
 * the text is not JSON, only whitespace outside of quotation marks is changed.
 * @param json the text, which may be truncated
 */
export function indented(json: string): string {
  let depth = 0;
  const line = () => `\n${'  '.repeat(Math.min(depth, 40))}`;
  return json.replaceAll(/"(?:[^"\\]|\\.)*"?|\s+|[[\]{},:]|[^\s"[\]{},:]+/gs, (part) => {
    if (/^\s/.test(part)) return '';
    if (part === '{' || part === '[') {
      depth += 1;
      return part + line();
    }
    if (part === '}' || part === ']') {
      depth = Math.max(0, depth - 1);
      return line() + part;
    }
    if (part === ',') return part + line();
    return part === ':' ? ': ' : part;
  });
}

const columns: readonly TableColumn<QuarantineRow>[] = [
  { name: 'Item', kind: 'number', cell: (item) => <a href={`${PATH}/${item.id}`}>{item.id}</a> },
  { name: 'Dataset', cell: (item) => <code>{item.dataset}</code> },
  { name: 'Reason', kind: 'wide', cell: ({ reason }) => reason },
  { name: 'Target', kind: 'wide', cell: ({ target }) => <code>{target}</code> },
  { name: 'Last seen', cell: ({ last_seen }) => <Time at={last_seen} /> },
  { name: 'Count', kind: 'number', cell: ({ times }) => numberText(times) },
];
