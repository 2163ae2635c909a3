import type { CoverageHeights } from '../../../../reporting/relations/coverage-days.ts';
import { State } from '../../parts/state.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { numberText } from '../../texts.ts';

/** The ranges of heights of a dataset that is recorded by height, and so has no days. */
export function Heights({ of }: { readonly of: readonly CoverageHeights[] }) {
  return (
    <section aria-labelledby="heights">
      <h2 id="heights">Heights</h2>
      <Table
        caption="Heights that are recorded and that are missing"
        columns={columns}
        rows={of}
        keyOf={(range) => of.indexOf(range)}
        empty="No height is recorded yet."
      />
    </section>
  );
}

const columns: readonly Column<CoverageHeights>[] = [
  { name: 'Target', cell: ({ target }) => target },
  { name: 'From height', kind: 'number', cell: ({ first_height }) => numberText(first_height) },
  {
    name: 'To',
    about: 'Itself not in it.',
    kind: 'number',
    cell: ({ end_height }) => (end_height === null ? 'newest' : numberText(end_height)),
  },
  {
    name: 'State',
    cell: ({ reason }) =>
      reason === 'recorded' ? (
        <State is="covered" />
      ) : (
        <State is="gap" tone="bad">
          {reason}
        </State>
      ),
  },
];
