import type { SealHead } from '../../../reporting/reports/nodes/node-record.ts';
import { Empty } from '../parts/empty.tsx';
import { KeyValues } from '../parts/key-values.tsx';
import { Time } from '../parts/time.tsx';

/** The newest seal of the record, with instructions to verify it. */
export function Seal({ seal }: { readonly seal: SealHead | null }) {
  if (!seal) return <Empty>The record is not sealed yet: that is done once a day.</Empty>;
  return (
    <>
      <p>
        What this page shows until <Time at={seal.sealed_until} exact /> is sealed: each seal is a hash over
        all that was recorded and over the seal before it. Keep the head. Later,{' '}
        <code>chain-recorder verify</code> tells on a copy of the record whether any of it was changed since.
      </p>
      <KeyValues
        of={[
          ['Seal', `${seal.seal}${seal.signed ? ', signed' : ''}`],
          ['Sealed until', <Time at={seal.sealed_until} exact key="until" />],
          ['Head (sha-256)', <code key="head">{seal.head}</code>],
          [
            'Head of node_health',
            seal.ledger_head === null ? null : <code key="ledger">{seal.ledger_head}</code>,
          ],
        ]}
      />
    </>
  );
}
