import { z } from 'zod';
import type { MyValidator } from '../../../reporting/reports/my-validators.ts';
import { definePage } from '../page.ts';
import { Table } from '../parts/table.tsx';
import { countText } from '../texts.ts';
import { columns } from './columns.tsx';

/** Refresh interval of the page, in s. */
const REFRESH_SECONDS = 30;

/** `/validators`: the validators of the user. */
export const validatorsPage = definePage({
  path: '/validators',
  params: z.strictObject({}),
  read: async ({ validators: read }) => read(),
  content: (all) => ({
    title: 'My validators',
    live: REFRESH_SECONDS,
    body: (
      <>
        <div class="stack">
          <h1>My validators</h1>
          <p class="soft">
            {countText(all.length, 'validator')}: those in <code>watch.nodeIds</code>, and those of configured
            nodes. The same data: <a href="/datasets/my_validators">reporting.my_validators</a>,{' '}
            <code>chain-recorder report my-validators</code>, <a href="/api/v1/views/my_validators">API</a>.
          </p>
        </div>
        <ValidatorsTable all={all} />
      </>
    ),
  }),
});

/** @param all the validators; null while they are being loaded */
export function ValidatorsTable({ all }: { readonly all: readonly MyValidator[] | null }) {
  return (
    <Table
      stacked
      compact
      caption="My validators"
      columns={columns}
      rows={all ?? []}
      empty={
        all === null
          ? 'The validators are being loaded.'
          : 'No validator is configured: add node ids to watch.nodeIds of recorder.yaml, or your nodes to upstreams.nodes. A configured node appears after its first poll, within seconds.'
      }
    />
  );
}
